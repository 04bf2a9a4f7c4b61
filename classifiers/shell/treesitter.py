"""tree-sitter-bash's tree to our IR: a skeleton (here-documents lifted) in, statements and parse errors out.

One table row per node type. Text the grammar marks as ERROR or MISSING becomes ``Broken``, never nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import tree_sitter
import tree_sitter_bash

from classifiers.shell import ir
from classifiers.shell.escapes import ansi_c, double_quoted, unquoted
from classifiers.shell.heredocs import Lifted, lift

Node = tree_sitter.Node
_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)
MAX_DEPTH = 120
MAX_CODE = 32_000  # characters
# The grammar's scanner hands code points to isdigit(3), which reads outside its table above 255: a crash of the whole
# process. Every character that is not plain ASCII is a full stop there (a word character, never part of a name); words
# are read from the real text.
_ODD = re.compile(r"[^\t\n\r -~]")
# bash's extended globs within a word (Bash manual, "Pattern Matching"), which the grammar knows in `case` only.
_EXTGLOB = re.compile(r"(?<![\w$])(?:[\w./*~-]*)[!@?*+](\([^()\s;&<>$`'\"]*\))")
# ``{name}<`` and ``3<<<``: the grammar knows neither form, so the descriptor is blanked there and kept beside.
_NAMED = re.compile(r"(?<![^\s;|&(){}])(?:\{([A-Za-z_]\w*)\}(?=[<>])|(\d{1,9})(?=<<<))")
# The grammar goes on with a word when the next line begins with a backslash (``ls⏎\\rm x``), and takes a ``$`` before
# ``;`` or ``)`` for an error. Both are written as plain characters there.
_BEGUN = re.compile(r"(?<!\\)((?:\\\\)*\n)\\(?=[\w./~-])")
_BARE_DOLLAR = re.compile(r"(?<=[\w./~:+=%@-])\$(?=[;)])")
_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})


class TooLongError(Exception):
    """More code than the budget reads (here-document bodies do not count)."""


class TooDeepError(Exception):
    """The tree nests deeper than we walk."""


def parse(text: str, tick: Callable[[], None] | None = None) -> ir.Body:
    """Statements of a script. Raises TooDeepError, TooLongError and what ``tick`` (called per statement) raises."""
    skeleton, lifted = lift(text)
    if len(skeleton) - sum(len(here.body) for here in lifted.values()) > MAX_CODE:
        raise TooLongError
    return _Reader(text, skeleton, lifted, tick=tick).script()


class _Reader:
    def __init__(
        self, text: str, skeleton: str, lifted: dict[int, Lifted], base: int = 0, tick: Callable[[], None] | None = None
    ) -> None:
        self.tick = tick
        self.text, self.skeleton, self.lifted, self.base = text, skeleton, lifted, base
        self.named: dict[int, str] = {}  # operator's position → its descriptor as written
        plain = _NAMED.sub(self.name_descriptor, skeleton) if "{" in skeleton or "<<<" in skeleton else skeleton
        if "\n\\" in plain:
            plain = _BEGUN.sub(r"\1 ", plain)
        if "$;" in plain or "$)" in plain:
            plain = _BARE_DOLLAR.sub("_", plain)
        self.data = _ODD.sub(".", plain).replace("<>", ">>").encode("ascii")  # the grammar does not know <>
        self.depth = 0

    def name_descriptor(self, match: re.Match[str]) -> str:
        self.named[match.end()] = match[1] or match[2]
        return " " * len(match[0])

    # positions: one byte a code point, see _ODD
    def span(self, node: Node) -> tuple[int, int]:
        return node.start_byte + self.base, node.end_byte + self.base

    def raw(self, node: Node) -> str:
        return self.skeleton[node.start_byte : node.end_byte]

    def between(self, start: int, end: int) -> str:
        return self.skeleton[start:end]

    def script(self) -> ir.Body:
        root = _PARSER.parse(self.data).root_node
        if root.has_error and _EXTGLOB.search(self.data.decode()):
            self.data = _EXTGLOB.sub(
                lambda m: m[0][: m.start(1) - m.start()] + "_" * len(m[1]), self.data.decode()
            ).encode()
            root = _PARSER.parse(self.data).root_node
        return self.body(root.children) if root.type == "program" else [self.broken(root)]

    def broken(self, node: Node) -> ir.Broken:
        return ir.Broken(self.span(node), self.raw(node))

    # statements
    def body(self, nodes: list[Node]) -> ir.Body:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError
        out: ir.Body = []
        for node in nodes:
            if self.tick is not None:
                self.tick()
            kind = node.type
            if kind == "&":
                if out:
                    out[-1] = ir.Background(out[-1])
            elif kind in _STATEMENTS:
                out.append(_STATEMENTS[kind](self, node))
            elif kind == "ERROR" or node.is_missing:
                out.append(self.broken(node))
                out += self.inside_error(node)
        self.depth -= 1
        return out

    def inside_error(self, node: Node) -> ir.Body:
        return self.body([c for c in node.children if c.type in _STATEMENTS])

    def one(self, node: Node) -> ir.Stmt:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError
        handler = _STATEMENTS.get(node.type)
        out = handler(self, node) if handler else self.broken(node)
        self.depth -= 1
        return out

    def command(self, node: Node) -> ir.Stmt:
        out = ir.Simple([], [], [], self.span(node))
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment":
                out.assigns.append(self.assign(child))
            elif kind == "command_name":
                if out.words or not self.cut(out, child):
                    out.words.append(self.word(child.children[0]) if child.child_count else self.word(child))
            elif kind in _REDIRECTS:
                self.redirect(child, out.redirects, out.words)
            elif kind == "subshell":
                out.words.append(self.word(child))
            elif kind == "ERROR":
                out.redirects.append(ir.Redirect("broken", None, None, self.span(child)))
            elif (child.is_named or kind not in {"(", ")"}) and not (kind == "number" and self.is_descriptor(child)):
                self.add(out.words, self.word(child))
        return out

    def cut(self, out: ir.Simple, node: Node) -> bool:
        """The grammar cuts a value at its last variable (``A=$B:$C/d``): the rest is put back, and said to be."""
        last = out.assigns[-1] if out.assigns else None
        if last is None or last.value is None or last.span[1] != node.start_byte + self.base:
            return False
        raw = last.value.raw + self.raw(node)
        whole = parse(f": {raw}")
        if len(whole) != 1 or not isinstance(whole[0], ir.Simple) or len(whole[0].words) != 2:
            return False
        end = node.end_byte + self.base
        last.value = ir.WordIR(whole[0].words[1].parts, (last.value.span[0], end), raw)
        last.span = (last.span[0], end)
        return True

    def add(self, words: list[ir.WordIR], word: ir.WordIR) -> None:
        """The grammar cuts some words in two (at a backslash after a brace): what no blank parts is one word."""
        if words and words[-1].span[1] == word.span[0]:
            last = words.pop()
            word = ir.WordIR((*last.parts, *word.parts), (last.span[0], word.span[1]), last.raw + word.raw)
        words.append(word)

    def redirected(self, node: Node) -> ir.Stmt:
        redirects: list[ir.Redirect] = []
        extra: list[ir.WordIR] = []
        body: ir.Stmt | None = None
        broken: ir.Body = []
        for child in node.children:
            if child.type in _REDIRECTS:
                self.redirect(child, redirects, extra)
            elif child.type in _STATEMENTS:
                body = self.one(child)
            elif child.type == "ERROR":
                broken.append(self.broken(child))
        if body is None:
            body = ir.Simple([], [], [], self.span(node))
        begin, end = self.span(node)

        def redirect(last: ir.Stmt) -> ir.Stmt:
            if not isinstance(last, ir.Simple):
                return ir.Group([last], redirects=redirects)
            last.redirects += redirects
            last.words += extra
            last.span = (begin if last is body else last.span[0], end)
            return last

        inner = _at_last(body, redirect)
        return ir.Group([inner, *broken]) if broken else inner

    def redirect(self, node: Node, into: list[ir.Redirect], words: list[ir.WordIR]) -> None:
        fd: int | None = None
        op = ""
        target: ir.WordIR | None = None
        start = self.span(node)
        name = self.named.get(node.start_byte, "")
        if name.isdigit():
            fd, name = int(name), ""
        for child in node.children:
            if child.type == "file_descriptor":
                fd = int(self.raw(child)) if self.raw(child).isdigit() else None
            elif not child.is_named and not op:
                op = "<>" if self.raw(child) == "<>" else child.type
                position = self.span(child)[0] - self.base
                lifted = self.lifted.get(position)
                if lifted is not None:
                    into.append(
                        ir.Redirect(
                            "<<", fd, None, (position + self.base, position + self.base + 2), self.here(lifted), name
                        )
                    )
                    target = None
                    op = "lifted"
            elif op == "lifted":
                op = "lifted-word"
            elif op == "<" and target is None and self.raw(child) == ">":
                op = "<>"  # the grammar does not know this operator
            elif target is None and op != "lifted-word":
                target = self.word(child)
            elif not self.is_descriptor(child):
                words.append(self.word(child))
        if op not in {"lifted", "lifted-word"}:
            into.append(ir.Redirect(op, fd, target, start, name=name))

    def is_descriptor(self, node: Node) -> bool:
        """A number the grammar took for a word: ``>& file 0>&1`` (its ``>&1`` is the next redirection)."""
        return self.raw(node).isdigit() and self.between(node.end_byte, node.end_byte + 1) in {"<", ">"}

    def here(self, lifted: Lifted) -> ir.HereDoc:
        parts: tuple[ir.Part, ...] = (ir.Lit(lifted.body, quoted=True),)
        if not lifted.quoted and ("$" in lifted.body or "`" in lifted.body):
            parts = here_parts(lifted.body, lifted.span[0] + self.base)
        return ir.HereDoc(lifted.body, lifted.quoted, (lifted.span[0] + self.base, lifted.span[1] + self.base), parts)

    def pipeline(self, node: Node) -> ir.Stmt:
        items: list[ir.Stmt] = []
        for child in node.children:
            if child.type in _STATEMENTS:
                items.append(self.one(child))
            elif child.type == "ERROR":
                items.append(self.broken(child))
        return ir.Pipeline(items)

    def and_or(self, node: Node) -> ir.Stmt:
        parts: list[ir.Stmt] = []
        ops: list[str] = []
        for child in node.children:
            if child.type in {"&&", "||"}:
                ops.append(child.type)
            elif child.type in _STATEMENTS:
                parts.append(self.one(child))
            elif child.type == "ERROR":
                parts.append(self.broken(child))
        out = parts[0] if parts else self.broken(node)
        for i, right in enumerate(parts[1:]):
            out = ir.AndOr(out, "||" if i < len(ops) and ops[i] == "||" else "&&", right)
        return out

    def negated(self, node: Node) -> ir.Stmt:
        return ir.Pipeline(self.body(node.children), negated=True)

    def subshell(self, node: Node) -> ir.Stmt:
        return ir.Group(self.body(node.children), subshell=True)

    def compound(self, node: Node) -> ir.Stmt:
        if node.child_count and node.children[0].type == "((":
            return ir.Test(self.loose_words(node), self.span(node), self.raw(node))
        return ir.Group(self.body(node.children))

    def if_(self, node: Node) -> ir.Stmt:
        branches: list[tuple[ir.Body, ir.Body]] = []
        otherwise: ir.Body | None = None
        condition: list[Node] = []
        body: list[Node] = []
        seen_then = False
        for child in node.children:
            if child.type == "then":
                seen_then = True
            elif child.type == "elif_clause":
                inner = self.if_(child)
                assert isinstance(inner, ir.If)
                branches += inner.branches
            elif child.type == "else_clause":
                otherwise = self.body(child.children)
            else:
                (body if seen_then else condition).append(child)
        return ir.If([(self.body(condition), self.body(body)), *branches], otherwise)

    def for_(self, node: Node) -> ir.Stmt:
        words: list[ir.WordIR] | None = None
        variable = ""
        body: ir.Body = []
        for child in node.children:
            if child.type == "variable_name" and not variable:
                variable = self.raw(child)
            elif child.type == "in":
                words = []
            elif child.type in {"do_group", "compound_statement"}:
                body = self.body(child.children)
            elif words is not None and child.is_named:
                words.append(self.word(child))
        return ir.Loop(body, variable=variable, words=words)

    def c_for(self, node: Node) -> ir.Stmt:
        body: ir.Body = []
        assigns: list[ir.Assign] = []
        for child in node.children:
            if child.type in {"do_group", "compound_statement"}:
                body = self.body(child.children)
            elif child.type == "variable_assignment":
                assigns.append(self.assign(child))
        loop = ir.Loop(body, variable="", assigns=assigns)
        header = [c for c in node.children if c.type not in {"do_group", "compound_statement"}]
        words = [w for c in header if c.is_named for w in self.loose_words(c)]
        return ir.Group([ir.Test(words, self.span(node)), loop]) if words else loop

    def while_(self, node: Node) -> ir.Stmt:
        condition: list[Node] = []
        body: ir.Body = []
        for child in node.children:
            if child.type == "do_group":
                body = self.body(child.children)
            else:
                condition.append(child)
        return ir.Loop(body, condition=self.body(condition), until=node.children[0].type == "until")

    def case(self, node: Node) -> ir.Stmt:
        word: ir.WordIR | None = None
        arms: list[tuple[list[ir.WordIR], ir.Body]] = []
        ends: list[str] = []
        for child in node.children:
            if child.type == "case_item":
                patterns = [self.word(c) for c in child.children_by_field_name("value")]
                skip = {c.id for c in child.children_by_field_name("value")}
                arms.append((patterns, self.body([c for c in child.children if c.id not in skip])))
                ends.append(next((c.type for c in child.children if c.type in {";&", ";;&"}), ";;"))
            elif child.is_named and word is None:
                word = self.word(child)
        return ir.Case(word or ir.WordIR((), self.span(node), ""), arms, ends)

    def function(self, node: Node) -> ir.Stmt:
        name = node.child_by_field_name("name")
        body = node.child_by_field_name("body")
        inner = [] if body is None else [self.one(body)]
        return ir.Function(self.raw(name) if name else "", inner, self.span(node))

    def test(self, node: Node) -> ir.Stmt:
        return ir.Test(self.loose_words(node), self.span(node), self.raw(node))

    def loose_words(self, node: Node) -> list[ir.WordIR]:
        """Every word below a test or arithmetic node that could hold a substitution."""
        out: list[ir.WordIR] = []
        queue = list(node.children)
        while queue:
            child = queue.pop(0)
            if child.type in _WORDS:
                out.append(self.word(child))
            elif child.is_named:
                queue[:0] = child.children
        return out

    def assignment(self, node: Node) -> ir.Stmt:
        return ir.Simple([], [self.assign(node)], [], self.span(node))

    def assignments(self, node: Node) -> ir.Stmt:
        assigns = [self.assign(c) for c in node.children if c.type == "variable_assignment"]
        return ir.Simple([], assigns, [], self.span(node))

    def declaration(self, node: Node) -> ir.Stmt:
        out = ir.Simple([], [], [], self.span(node), declare=node.children[0].type)
        out.words.append(self.literal(node.children[0]))
        for child in node.children[1:]:
            if child.type == "variable_assignment":
                out.assigns.append(self.assign(child))
            elif child.type in _REDIRECTS:
                self.redirect(child, out.redirects, out.words)
            elif child.is_named and not self.cut(out, child):
                out.words.append(self.word(child))
        return out

    def assign(self, node: Node) -> ir.Assign:
        name, index, append = "", None, False
        value: ir.WordIR | None = None
        array: tuple[ir.WordIR, ...] | None = None
        for child in node.children:
            if child.type == "variable_name":
                name = self.raw(child)
            elif child.type == "subscript":
                name, _, rest = self.raw(child).partition("[")
                index = rest.rstrip("]")
            elif child.type in {"=", "+="}:
                append = child.type == "+="
            elif child.type == "array":
                array = tuple(self.word(c) for c in child.children if c.is_named)
            elif child.is_named:
                value = self.word(child)
        return ir.Assign(name, value, append, array, index, self.span(node))

    # words
    def literal(self, node: Node) -> ir.WordIR:
        return ir.WordIR((ir.Lit(self.raw(node)),), self.span(node), self.raw(node))

    def word(self, node: Node) -> ir.WordIR:
        raw = self.raw(node)
        if node.type in {"word", "number"} and "\\" not in raw:
            return ir.WordIR((ir.Lit(raw),), self.span(node), raw)
        parts: list[ir.Part] = []
        self.parts(node, parts, quoted=False)
        return ir.WordIR(tuple(parts), self.span(node), raw)

    def parts(self, node: Node, into: list[ir.Part], *, quoted: bool) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError
        handler = _PARTS.get(node.type)
        if handler is not None:
            handler(self, node, into, quoted)
        else:
            into += unquoted(self.raw(node))
        self.depth -= 1

    def concatenation(self, node: Node, into: list[ir.Part], quoted: bool) -> None:
        at = node.start_byte
        for child in node.children:
            if child.start_byte > at:
                into += unquoted(self.between(at, child.start_byte))
            self.parts(child, into, quoted=quoted)
            at = child.end_byte

    def raw_string(self, node: Node, into: list[ir.Part], _quoted: bool) -> None:
        into.append(ir.Lit(self.raw(node)[1:-1], quoted=True))

    def ansi_string(self, node: Node, into: list[ir.Part], _quoted: bool) -> None:
        into.append(ir.Lit(ansi_c(self.raw(node)[2:-1]), quoted=True))

    def string(self, node: Node, into: list[ir.Part], _quoted: bool) -> None:
        """A double-quoted string. Blank text between children has no node, so gaps are read from the text."""
        inner = [c for c in node.children if c.type not in {'"', "string_content"} or (c.type == "string_content")]
        start = node.start_byte + (2 if self.raw(node).startswith("$") else 1)
        at, before = start, len(into)
        for child in inner:
            if (
                child.type in {'"', "$"}
                and not child.is_named
                and child.start_byte in {node.start_byte, node.end_byte - 1}
            ):
                continue
            if child.type == "string_content" or not child.is_named:
                continue
            if child.start_byte > at:
                into.append(ir.Lit(double_quoted(self.between(at, child.start_byte)), quoted=True))
            self.parts(child, into, quoted=True)
            at = child.end_byte
        end = max(node.end_byte - 1, at)
        if end > at:
            into.append(ir.Lit(double_quoted(self.between(at, end)), quoted=True))
        if len(into) == before:
            into.append(ir.Lit("", quoted=True))

    def translated(self, node: Node, into: list[ir.Part], quoted: bool) -> None:
        for child in node.children:
            if child.type == "string":
                self.string(child, into, quoted)

    def simple_expansion(self, node: Node, into: list[ir.Part], quoted: bool) -> None:
        raw = self.raw(node)
        into.append(ir.Var(raw[1:], raw, quoted))

    def expansion(self, node: Node, into: list[ir.Part], quoted: bool) -> None:
        into.append(self.braced(node, quoted))

    def braced(self, node: Node, quoted: bool) -> ir.Var:
        raw = self.raw(node)
        var = ir.Var("", raw, quoted)
        rest: list[Node] = []
        for child in node.children[1:-1]:
            if not var.name and child.type in {"variable_name", "special_variable_name"}:
                var.name = self.raw(child)
            elif not var.name and child.type == "subscript":
                name, _, index = self.raw(child).partition("[")
                var.name = name
                inner = child.child_by_field_name("index")
                var.index = (
                    self.word(inner) if inner else ir.WordIR((ir.Lit(index.rstrip("]")),), self.span(child), index)
                )
            elif not var.name and child.type == "!":
                var.bang = True
            elif not var.name and child.type == "#":
                var.op = "#len"
            else:
                rest.append(child)
        if rest:
            var.op += rest[0].type if not rest[0].is_named else ""
            operands = rest[1:] if not rest[0].is_named else rest
            if operands:
                parts: list[ir.Part] = []
                at = operands[0].start_byte
                for child in operands:
                    if child.start_byte > at:
                        parts.append(ir.Lit(self.between(at, child.start_byte)))
                    self.parts(child, parts, quoted=False)
                    at = child.end_byte
                if var.op in _PATTERNS:
                    parts = [p for part in parts for p in _within_pattern(part, self.span(operands[0])[0])]
                parts = [p for part in parts for p in self.ticked(part, operands[0])]
                var.arg = ir.WordIR(tuple(parts), self.span(operands[0]), self.between(operands[0].start_byte, at))
        return var

    def ticked(self, part: ir.Part, node: Node) -> list[ir.Part]:
        """The grammar takes back-ticks in ``${x:=`cmd`}`` for plain text."""
        if not isinstance(part, ir.Lit) or "`" not in part.text:
            return [part]
        pieces = re.split(r"`([^`]*)`", part.text)
        return [
            ir.Sub(parse(text), f"`{text}`", True, self.span(node)) if i % 2 else ir.Lit(text, part.quoted)
            for i, text in enumerate(pieces)
            if i % 2 or text
        ]

    def substitution(self, node: Node, into: list[ir.Part], quoted: bool) -> None:
        into.append(self.sub(node, quoted))

    def sub(self, node: Node, quoted: bool) -> ir.Sub:
        raw = self.raw(node)
        redirects = [c for c in node.children if c.type in _REDIRECTS]
        body = self.body(node.children)
        if redirects and not body:
            simple = ir.Simple([], [], [], self.span(node))
            for child in redirects:
                self.redirect(child, simple.redirects, simple.words)
            body = [simple]
        if raw.startswith("`") and "\\" in raw:
            inner = re.sub(r"\\([$`\\])", r"\1", raw[1:-1])
            body = parse(inner)
        return ir.Sub(body, raw, quoted, self.span(node))

    def process(self, node: Node, into: list[ir.Part], _quoted: bool) -> None:
        into.append(ir.Proc(node.children[0].type[0], self.body(node.children), self.raw(node), self.span(node)))

    def arithmetic(self, node: Node, into: list[ir.Part], _quoted: bool) -> None:
        subs: list[ir.Sub] = []
        queue = list(node.children)
        while queue:
            child = queue.pop(0)
            if child.type == "command_substitution":
                subs.append(self.sub(child, quoted=True))
            else:
                queue[:0] = child.children
        into.append(ir.Arith(self.raw(node), tuple(subs)))

    def as_subshell_word(self, node: Node, into: list[ir.Part], _quoted: bool) -> None:
        into.append(ir.Lit(self.raw(node)))


_StatementHandler = Callable[[_Reader, Any], ir.Stmt]
_STATEMENTS: dict[str, _StatementHandler] = {
    "command": _Reader.command,
    "redirected_statement": _Reader.redirected,
    "pipeline": _Reader.pipeline,
    "list": _Reader.and_or,
    "subshell": _Reader.subshell,
    "compound_statement": _Reader.compound,
    "if_statement": _Reader.if_,
    "for_statement": _Reader.for_,
    "select_statement": _Reader.for_,
    "c_style_for_statement": _Reader.c_for,
    "while_statement": _Reader.while_,
    "case_statement": _Reader.case,
    "function_definition": _Reader.function,
    "variable_assignment": _Reader.assignment,
    "variable_assignments": _Reader.assignments,
    "declaration_command": _Reader.declaration,
    "unset_command": _Reader.declaration,
    "negated_command": _Reader.negated,
    "test_command": _Reader.test,
}
_PARTS: dict[str, Callable[[_Reader, Any, list[ir.Part], bool], None]] = {
    "concatenation": _Reader.concatenation,
    "raw_string": _Reader.raw_string,
    "ansi_c_string": _Reader.ansi_string,
    "string": _Reader.string,
    "translated_string": _Reader.translated,
    "simple_expansion": _Reader.simple_expansion,
    "expansion": _Reader.expansion,
    "command_substitution": _Reader.substitution,
    "process_substitution": _Reader.process,
    "arithmetic_expansion": _Reader.arithmetic,
    "subshell": _Reader.as_subshell_word,
}
_WORDS = frozenset(_PARTS) - {"subshell"}


# Operators whose argument the grammar reads as a pattern's plain text, with what is expanded in it.
_PATTERNS = frozenset({"#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,"})


def _at_last(body: ir.Stmt, change: Callable[[ir.Stmt], ir.Stmt]) -> ir.Stmt:
    """``body`` with its last command changed: the grammar hangs a redirection on the whole list (``a && b > f``)."""
    if isinstance(body, ir.AndOr):
        body.right = _at_last(body.right, change)
    elif isinstance(body, ir.Pipeline) and body.items:
        body.items[-1] = _at_last(body.items[-1], change)
    else:
        return change(body)
    return body


def _within_pattern(part: ir.Part, base: int) -> list[ir.Part]:
    """``${x#$(cmd)}``: the pattern is expanded, so its commands run."""
    if not isinstance(part, ir.Lit) or part.quoted or not any(mark in part.text for mark in ("$(", "${", "`")):
        return [part]
    pieces = re.split(r"('[^']*')", part.text)  # single quotes keep what they hold
    return [p for i, text in enumerate(pieces) if text for p in ([ir.Lit(text)] if i % 2 else here_parts(text, base))]


def here_parts(body: str, base: int) -> tuple[ir.Part, ...]:
    """An unquoted here-document's body: its expansions run, quotes in it are only text."""
    escaped = body.replace('"', "\u201d")  # same length; a double quote is literal in a here-document
    text = f'"{escaped}"'
    reader = _Reader(text, text, {}, base - 1)
    root = _PARSER.parse(reader.data).root_node
    queue = [root]
    while queue:
        node = queue.pop(0)
        if node.type == "string" and node.start_byte == 0:
            parts: list[ir.Part] = []
            reader.string(node, parts, False)
            return tuple(
                ir.Lit(p.text.replace("\u201d", '"'), quoted=True) if isinstance(p, ir.Lit) else p for p in parts
            )
        queue += node.children
    return (ir.Var("here-document", body[:40], quoted=True),)
