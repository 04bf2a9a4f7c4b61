"""Word expansion (bash(1) EXPANSION): an IR word and the state in, the fields it becomes out.

What cannot be known is one mark per expansion (``knowledge/words.py``). Braces, tilde, parameters with their operators,
``$IFS`` splitting and arrays are done here; commands in ``$(…)`` are run by the caller's ``substitute``.
"""

from __future__ import annotations

from collections.abc import Callable

from classifiers.knowledge.words import Unknowns, Word
from classifiers.shell import ir
from classifiers.shell.expand.braces import MAX_BRACES, braces
from classifiers.shell.expand.fields import GLOB, Chunk, quoted_start, split, tilde
from classifiers.shell.expand.operators import arithmetic
from classifiers.shell.expand.parameters import listed, lookup, variable
from classifiers.shell.state import State, Stream

MAX_FIELDS = 200
Substitute = Callable[[ir.Sub | ir.Proc], str | None]  # text, or None when unknown


class Expander:
    def __init__(
        self,
        state: State,
        unknowns: Unknowns,
        substitute: Substitute,
        streams: dict[str, Stream] | None = None,
        arithmetic: Callable[[str], None] | None = None,
    ) -> None:
        """``streams``: told where a mark's value comes from, when the variable it stands for has an origin.

        ``arithmetic``: told every expression that is evaluated, for the commands in its names' subscripts.
        """
        self.state, self.unknowns, self.substitute = state, unknowns, substitute
        self.streams = {} if streams is None else streams
        self.evaluate = arithmetic or (lambda _raw: None)
        self.constant = False
        self.globbed = False

    def fields(self, word: ir.WordIR) -> list[Word]:
        """All fields of one word: usually one, none for an empty unquoted expansion."""
        parts = word.parts
        if len(parts) == 1 and isinstance(parts[0], ir.Lit):
            lit = parts[0]
            if lit.quoted:
                return [Word(lit.text, word.span, quoted=True)]
            if "{" not in lit.text and not lit.text.startswith("~"):
                return [Word(lit.text, word.span, glob=GLOB.search(lit.text) is not None)]
        variants = [parts]
        if any(isinstance(p, ir.Lit) and not p.quoted and "{" in p.text for p in parts):
            variants = braces(parts)
            if len(variants) > MAX_BRACES:
                return [Word(self.unknowns.mark(word.raw), word.span)]
        out: list[Word] = []
        for variant in variants:
            out += self.variant(variant, word)
        return out if len(out) <= MAX_FIELDS else [*out[:MAX_FIELDS], Word(self.unknowns.mark(word.raw), word.span)]

    def text(self, word: ir.WordIR | None) -> str:
        """One string, as in an assignment or a redirection: no splitting, no patterns."""
        if word is None:
            return ""
        plain = word.plain()
        if plain is not None:
            return tilde(plain, self.state) if plain.startswith("~") and not quoted_start(word) else plain
        chunks = self.chunks(word.parts)
        text = "".join(c[0] for c in chunks)
        return tilde(text, self.state) if text.startswith("~") and not quoted_start(word) else text

    def variant(self, parts: tuple[ir.Part, ...], word: ir.WordIR) -> list[Word]:
        self.constant = self.globbed = False
        if len(parts) == 1 and isinstance(parts[0], ir.Var):
            found = listed(self, parts[0])
            if found is not None:
                quoted = parts[0].quoted
                glob = parts[0].name in self.state.globby and not quoted
                separators = lookup(self.state, "IFS") or ""
                pieces = found if quoted else [t for v in found for t, _, _ in split([(v, False, True)], separators)]
                return [Word(v, word.span, glob=glob, propagated=True) for v in pieces]
        chunks = self.chunks(parts)
        fields = split(chunks, lookup(self.state, "IFS") or "")
        if fields and not chunks[0][1] and fields[0][0].startswith("~"):
            fields[0] = (tilde(fields[0][0], self.state), *fields[0][1:])
        constant, globbed = self.constant, self.globbed
        return [Word(t, word.span, g or globbed, constant, q) for t, q, g in fields]

    def prompted(self, text: str) -> None:
        """A value that is expanded once more: commands substituted in it run."""
        if "$(" in text or "`" in text:
            from classifiers.shell.treesitter import parse  # noqa: PLC0415 - loads the grammar

            self.substitute(ir.Sub(parse(f": {text}"), text))

    def chunks(self, parts: tuple[ir.Part, ...]) -> list[Chunk]:
        out: list[Chunk] = []
        for part in parts:
            if isinstance(part, ir.Lit):
                out.append((part.text, part.quoted, False))
            elif isinstance(part, ir.Var):
                value = variable(self, part)
                if value is None:
                    mark = self.unknowns.mark(part.raw)
                    if part.name in self.state.origins:
                        self.streams[mark] = self.state.origins[part.name]
                    out.append((mark, part.quoted, False))
                else:
                    self.constant = True
                    self.globbed = self.globbed or (part.name in self.state.globby and not part.quoted)
                    out.append((value, part.quoted, not part.quoted))
            elif isinstance(part, ir.Sub):
                text = self.substitute(part)
                if text is None:
                    out.append((self.unknowns.mark(part.raw), part.quoted, False))
                else:
                    self.constant = True
                    out.append((text, part.quoted, not part.quoted))
            elif isinstance(part, ir.Proc):
                self.substitute(part)
                out.append((self.unknowns.mark(part.raw), True, False))
            else:
                for sub in part.subs:
                    self.substitute(sub)
                if self.state.vars:
                    self.evaluate(part.raw)
                out.append((arithmetic(part.raw, self.state) or self.unknowns.mark(part.raw), True, False))
        return out
