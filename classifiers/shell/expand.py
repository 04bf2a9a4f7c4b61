"""Word expansion (bash(1) EXPANSION): an IR word and the state in, the fields it becomes out.

What cannot be known is one mark per expansion (``knowledge/words.py``). Braces, tilde, parameters with their operators,
``$IFS`` splitting and arrays are done here; commands in ``$(…)`` are run by the caller's ``substitute``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from fnmatch import fnmatchcase

from classifiers.knowledge.words import Unknowns, Word
from classifiers.shell import ir
from classifiers.shell.state import State, Stream

MAX_FIELDS = 200
MAX_BRACES = 64
Substitute = Callable[[ir.Sub | ir.Proc], str | None]  # text, or None when unknown
_Chunk = tuple[str, bool, bool]  # text, quoted, split on blanks
_GLOB = re.compile(r"[*?\[]|[@!+]\(")
_SLICE = re.compile(r":\s*\(?\s*(-?\d{1,6})\s*\)?\s*(?::\s*(\d{1,6})\s*)?\}$")
_ARGUMENT_USED = frozenset({":-", "-", ":=", "=", ":+", "+"})
_DEFAULT_OPS = frozenset({":-", "-", ":=", "="})


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
                return [Word(lit.text, word.span, glob=_GLOB.search(lit.text) is not None)]
        variants = [parts]
        if any(isinstance(p, ir.Lit) and not p.quoted and "{" in p.text for p in parts):
            variants = _braces(parts)
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
            return _tilde(plain, self.state) if plain.startswith("~") and not _quoted_start(word) else plain
        chunks = self.chunks(word.parts)
        text = "".join(c[0] for c in chunks)
        return _tilde(text, self.state) if text.startswith("~") and not _quoted_start(word) else text

    def variant(self, parts: tuple[ir.Part, ...], word: ir.WordIR) -> list[Word]:
        self.constant = self.globbed = False
        if len(parts) == 1 and isinstance(parts[0], ir.Var):
            listed = self.listed(parts[0])
            if listed is not None:
                quoted = parts[0].quoted
                glob = parts[0].name in self.state.globby and not quoted
                separators = self.lookup("IFS") or ""
                pieces = listed if quoted else [t for v in listed for t, _, _ in _split([(v, False, True)], separators)]
                return [Word(v, word.span, glob=glob, propagated=True) for v in pieces]
        chunks = self.chunks(parts)
        fields = _split(chunks, self.lookup("IFS") or "")
        if fields and not chunks[0][1] and fields[0][0].startswith("~"):
            fields[0] = (_tilde(fields[0][0], self.state), *fields[0][1:])
        constant, globbed = self.constant, self.globbed
        return [Word(t, word.span, g or globbed, constant, q) for t, q, g in fields]

    def chunks(self, parts: tuple[ir.Part, ...]) -> list[_Chunk]:
        out: list[_Chunk] = []
        for part in parts:
            if isinstance(part, ir.Lit):
                out.append((part.text, part.quoted, False))
            elif isinstance(part, ir.Var):
                value = self.variable(part)
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
                out.append((_arithmetic(part.raw, self.state) or self.unknowns.mark(part.raw), True, False))
        return out

    def listed(self, var: ir.Var) -> list[str] | None:
        """``$@`` and array elements, each a field of its own."""
        if var.bang or var.op not in {"", ":"}:
            return None
        name = var.name
        if name in {"@", "*"}:
            value = self.state.vars.get("@")
            return _part_of(["", *value], var) if isinstance(value, list) else None
        value = self.state.vars.get(name)
        index = self.text(var.index) if var.index is not None else None
        if isinstance(value, dict) and index is not None:
            value = list(value.values()) if index in {"@", "*"} or index not in value else [value[index]]
            return _part_of(value, var)
        if not isinstance(value, list) or index is None:
            return None
        if index in {"@", "*"}:
            return _part_of(value, var)
        if var.op:
            return None
        if index.lstrip("-").isdigit() and len(index) < 8:
            return [value[int(index)]] if -len(value) <= int(index) < len(value) else []
        return value  # an index nobody knows: any of them

    def variable(self, var: ir.Var) -> str | None:
        if var.index is not None:
            self.text(var.index)
        if self.state.vars and (var.index is not None or var.op == ":"):
            self.evaluate(var.raw)
        if var.op and var.op not in _ARGUMENT_USED:
            self.text(var.arg)  # its commands run, whatever becomes of the value
        value = self.lookup(var.name) if not var.bang else None
        if var.bang:
            inner = self.lookup(var.name)
            value = self.lookup(inner) if inner else None
        if var.index is not None:
            listed = self.listed(ir.Var(var.name, var.raw, index=var.index))
            value = " ".join(listed) if listed is not None else None
        op = var.op
        if not op:
            return value
        if op in _DEFAULT_OPS:
            known_empty = value == "" and op.startswith(":")
            if (value is None and var.name not in self.state.vars) or known_empty:
                value = self.text(var.arg)
                if op in {":=", "="}:
                    self.state.vars[var.name] = value
            return value
        if op in {":+", "+"}:
            return self.text(var.arg) if value else None
        if op in {":?", "?"}:
            return value
        return None if value is None else self.changed(value, op, var)

    def lookup(self, name: str) -> str | None:
        """A scalar's value. HOME, PWD, IFS and the positional parameters are known when the state knows them."""
        if name in self.state.vars:
            value = self.state.vars[name]
            if isinstance(value, list):
                return " ".join(value) if name in {"@", "*"} else (value[0] if value else "")
            return value.get("0") if isinstance(value, dict) else value
        if name == "HOME":
            return self.state.context.home or "~"
        if name == "PWD":
            return self.state.context.cwd
        if name == "IFS":
            return " \t\n"
        if name == "#" and isinstance(self.state.vars.get("@"), list):
            return str(len(self.state.vars["@"] or []))
        if name == "*":
            return self.lookup("@") if "@" in self.state.vars else None
        if name in {"USER", "LOGNAME"}:
            return self.state.context.user
        if name.isdigit() and name != "0" and isinstance(self.state.vars.get("@"), list):
            return ""
        return None

    def changed(self, value: str, op: str, var: ir.Var) -> str | None:
        if op == "#len":
            return str(len(value))
        arg = self.text(var.arg)
        if op in {"#", "##", "%", "%%"}:
            return _trim(value, op, arg)
        if op in {"/", "//", "/#", "/%"}:
            return _replaced(value, op, var.raw)
        if op == ":":
            return _sliced(value, var.raw)
        return {
            "^^": value.upper(),
            ",,": value.lower(),
            "^": value[:1].upper() + value[1:],
            ",": value[:1].lower() + value[1:],
        }.get(op)


def _part_of(values: list[str], var: ir.Var) -> list[str]:
    """``${a[@]:1:2}``, and ``${@:2}`` where the first place is the shell's own name."""
    if not var.op:
        return values[1:] if var.name in {"@", "*"} else values
    match = _SLICE.search(var.raw)
    if match is None:
        return values
    start = int(match[1])
    end = None if match[2] is None else start + int(match[2])
    return values[start:end] if start >= 0 else values[start:]


def _quoted_start(word: ir.WordIR) -> bool:
    first = word.parts[0] if word.parts else None
    return isinstance(first, ir.Lit) and first.quoted


def _tilde(text: str, state: State) -> str:
    if text == "~" or text.startswith("~/"):
        return (state.context.home or "~") + text[1:]
    if text == "~+" or text.startswith("~+/"):
        return (state.context.cwd or "~+") + text[2:]
    name = text[1:].partition("/")[0]
    if name == "root":
        return "/root" + text[5:]
    return f"/home/{text[1:]}" if name.isidentifier() else text


def _split(chunks: list[_Chunk], separators: str = " \t\n") -> list[tuple[str, bool, bool]]:
    """Fields as (text, quoted, has a pattern). Only unquoted expansions split."""
    fields: list[tuple[str, bool, bool]] = []
    text, quoted, glob, started = "", False, False, False
    for piece, is_quoted, splits in chunks:
        if not splits:
            text += piece
            quoted = quoted or is_quoted
            glob = glob or (not is_quoted and _GLOB.search(piece) is not None)
            started = started or bool(piece) or is_quoted
            continue
        tokens = re.split(f"[{re.escape(separators)}]+", piece) if separators else [piece]
        for i, token in enumerate(tokens):
            if i and started:
                fields.append((text, quoted, glob))
                text, quoted, glob, started = "", False, False, False
            if token:
                text += token
                started = True
                glob = glob or _GLOB.search(token) is not None
    if started:
        fields.append((text, quoted, glob))
    return fields


def _braces(parts: tuple[ir.Part, ...]) -> list[tuple[ir.Part, ...]]:
    """Brace expansion over the word's parts; unquoted braces with a comma or a range only."""
    items: list[ir.Part | str] = []
    for part in parts:
        if isinstance(part, ir.Lit) and not part.quoted:
            items += list(part.text)
        else:
            items.append(part)
    variants = _expand_items(items, 0)
    return [_joined(v) for v in itertools.islice(variants, MAX_BRACES + 1)]


def _expand_items(items: list[ir.Part | str], depth: int) -> list[list[ir.Part | str]]:
    for start, item in enumerate(items):
        if item != "{" or depth > 8:
            continue
        found = _matching(items, start)
        if found is None:
            continue
        end, commas = found
        inside = items[start + 1 : end]
        if commas:
            bounds = [start, *commas, end]
            choices = [items[a + 1 : b] for a, b in itertools.pairwise(bounds)]
        else:
            sequence = (
                _sequence("".join(c for c in inside if isinstance(c, str)))
                if all(isinstance(c, str) for c in inside)
                else None
            )
            if sequence is None:
                continue
            choices = [list(s) for s in sequence]
        tails = _expand_items(items[end + 1 :], depth)
        out: list[list[ir.Part | str]] = []
        for choice in choices:
            for middle in _expand_items(choice, depth + 1):
                for tail in tails:
                    out.append(items[:start] + middle + tail)
                    if len(out) > MAX_BRACES:
                        return out
        return out
    return [items]


def _matching(items: list[ir.Part | str], start: int) -> tuple[int, list[int]] | None:
    level = 0
    commas: list[int] = []
    for i in range(start, len(items)):
        if items[i] == "{":
            level += 1
        elif items[i] == "}":
            level -= 1
            if level == 0:
                return i, commas
        elif items[i] == "," and level == 1:
            commas.append(i)
    return None


def _sequence(text: str) -> list[str] | None:
    match = re.fullmatch(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?", text)
    if match:
        a, b, step = int(match[1]), int(match[2]), abs(int(match[3] or 1)) or 1
        count = abs(b - a) // step + 1
        sign = 1 if b >= a else -1
        width = max(len(match[1]), len(match[2])) if match[1].startswith("0") and len(match[1]) > 1 else 0
        return [str(a + sign * step * i).zfill(width) for i in range(min(count, MAX_BRACES + 1))]
    match = re.fullmatch(r"([A-Za-z])\.\.([A-Za-z])", text)
    if match:
        a, b = ord(match[1]), ord(match[2])
        return [chr(c) for c in (range(a, b + 1) if b >= a else range(a, b - 1, -1))]
    return None


def _joined(items: list[ir.Part | str]) -> tuple[ir.Part, ...]:
    out: list[ir.Part] = []
    for is_text, group in itertools.groupby(items, key=lambda i: isinstance(i, str)):
        if is_text:
            out.append(ir.Lit("".join(str(c) for c in group)))
        else:
            out += [p for p in group if not isinstance(p, str)]
    return tuple(out) or (ir.Lit(""),)


def _trim(value: str, op: str, pattern: str) -> str:
    if len(value) > 500:
        return value
    lengths = range(len(value) + 1) if len(op) == 1 else range(len(value), -1, -1)
    for n in lengths:
        if op[0] == "#" and fnmatchcase(value[:n], pattern):
            return value[n:]
        if op[0] == "%" and fnmatchcase(value[len(value) - n :], pattern):
            return value[: len(value) - n]
    return value


def _replaced(value: str, op: str, raw: str) -> str | None:
    inside = raw[2:-1].partition("/")[2].removeprefix("/")
    if "$" in inside or "`" in inside:
        return None
    pattern, _, new = inside.partition("/")
    new = new.replace("'", "").replace('"', "")
    if _GLOB.search(pattern):
        return None
    return value.replace(pattern, new, -1 if op == "//" else 1)


def _sliced(value: str, raw: str) -> str | None:
    match = re.search(r":\s*\(?\s*(-?\d+)\s*\)?\s*(?::\s*(-?\d+)\s*)?\}$", raw)
    if match is None:
        return None
    start = int(match[1])
    length = None if match[2] is None else int(match[2])
    tail = value[start:] if start >= 0 or -start <= len(value) else value
    return tail if length is None else tail[:length]


def _arithmetic(raw: str, state: State) -> str | None:
    """``$((1+2))`` of plain numbers and known variables; everything else is unknown."""
    inside = raw[3:-2].strip()
    match = re.fullmatch(r"\$?\{?(\w+)\}?\s*(?:([-+*])\s*(\d{1,9}))?", inside)
    if match is None:
        return None
    left = match[1] if match[1].isdigit() else state.vars.get(match[1])
    if not isinstance(left, str) or not left.lstrip("-").isdigit() or len(left) > 12:
        return None
    if match[2] is None:
        return left
    right = int(match[3])
    return str({"+": int(left) + right, "-": int(left) - right, "*": int(left) * right}[match[2]])
