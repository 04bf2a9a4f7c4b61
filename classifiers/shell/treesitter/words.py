"""Parts of words: quotes, expansions, substitutions. A node and the parts before it in, its own parts added.

One table row per node type; what has no row is unquoted text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Any

from classifiers.shell import ir
from classifiers.shell.escapes import ansi_c, double_quoted, unquoted
from classifiers.shell.treesitter.reader import REDIRECTS, Node, Reader, TooLongError

Parts = list[ir.Part]
# Operators whose argument the grammar reads as a pattern's plain text, with what is expanded in it.
_PATTERNS = frozenset({"#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^", ",", ",,"})


MAX_PARTS = 1_000  # of a word the grammar cut
_NAME = re.compile(r"[A-Za-z_]\w*|\d")


def add_word(words: list[ir.WordIR], word: ir.WordIR) -> None:
    """The grammar cuts some words in two (at a backslash after a brace): what no blank parts is one word.

    Raises TooLongError.
    """
    if words and words[-1].span[1] == word.span[0]:
        last = words.pop()
        if len(last.parts) > MAX_PARTS:
            raise TooLongError
        parts = _with_variable(last, word) or (*last.parts, *word.parts)
        word = ir.WordIR(parts, (last.span[0], word.span[1]), last.raw + word.raw)
    words.append(word)


def _with_variable(before: ir.WordIR, after: ir.WordIR) -> tuple[ir.Part, ...] | None:
    """``$A-b$C/d`` is cut between the second dollar sign and its name, ``-b$"a"`` behind the dollar sign."""
    last, first = before.parts[-1], after.parts[0]
    if not isinstance(last, ir.Lit) or last.quoted or not before.raw.endswith("$"):
        return None
    escapes = len(before.raw) - 1 - len(before.raw[:-1].rstrip("\\"))
    if escapes % 2:
        return None
    kept = (*before.parts[:-1], *((ir.Lit(last.text[:-1]),) if len(last.text) > 1 else ()))
    if after.raw.startswith('"'):
        return (*kept, *after.parts)
    name = _NAME.match(after.raw)
    if name is None or not isinstance(first, ir.Lit):
        return None
    rest = (ir.Lit(first.text[name.end() :]),) if len(first.text) > name.end() else ()
    return (*kept, ir.Var(name[0], f"${name[0]}", quoted=False), *rest, *after.parts[1:])


def words_of(reader: Reader, nodes: list[Node]) -> tuple[ir.WordIR, ...]:
    """The words of a list, an array's or a loop's."""
    out: list[ir.WordIR] = []
    for node in nodes:
        if node.is_named:
            add_word(out, reader.word(node))
    return tuple(out)


def _concatenation(reader: Reader, node: Node, into: Parts, quoted: bool) -> None:
    at = node.start_byte
    for child, after in zip_longest(node.children, node.children[1:]):
        if child.start_byte > at:
            into += unquoted(reader.between(at, child.start_byte))
        if child.type == "$" and after is not None and after.type == "string":  # ``a$"b"`` is ab, to be translated
            into += unquoted(reader.raw(child)[:-1])
        else:
            reader.parts(child, into, quoted=quoted)
        at = child.end_byte


def _raw_string(reader: Reader, node: Node, into: Parts, _quoted: bool) -> None:
    into.append(ir.Lit(reader.raw(node)[1:-1], quoted=True))


def _ansi_string(reader: Reader, node: Node, into: Parts, _quoted: bool) -> None:
    into.append(ir.Lit(ansi_c(reader.raw(node)[2:-1]), quoted=True))


def _string(reader: Reader, node: Node, into: Parts, _quoted: bool) -> None:
    """A double-quoted string. Blank text between children has no node, so gaps are read from the text."""
    at, before = node.start_byte + (2 if reader.raw(node).startswith("$") else 1), len(into)
    for child in node.children:
        if child.type == "string_content" or not child.is_named:
            continue
        if child.start_byte > at:
            into.append(ir.Lit(double_quoted(reader.between(at, child.start_byte)), quoted=True))
        raw = reader.raw(child)
        if raw[:1].isspace():  # blanks between two expansions: the grammar puts them into the second
            into.append(ir.Lit(raw[: len(raw) - len(raw.lstrip())], quoted=True))
        reader.parts(child, into, quoted=True)
        at = child.end_byte
    end = max(node.end_byte - 1, at)
    if end > at:
        into.append(ir.Lit(double_quoted(reader.between(at, end)), quoted=True))
    if len(into) == before:
        into.append(ir.Lit("", quoted=True))


def _translated(reader: Reader, node: Node, into: Parts, quoted: bool) -> None:
    for child in node.children:
        if child.type == "string":
            _string(reader, child, into, quoted)


def _simple_expansion(reader: Reader, node: Node, into: Parts, quoted: bool) -> None:
    raw = reader.raw(node).lstrip()
    if raw[1:2].isdigit() and len(raw) > 2:  # ``$10`` is ``${1}0``
        into += (ir.Var(raw[1], raw[:2], quoted), ir.Lit(raw[2:], quoted))
        return
    into.append(ir.Var(raw[1:], raw, quoted))


def _expansion(reader: Reader, node: Node, into: Parts, quoted: bool) -> None:
    """``${name}`` with its operator and the operator's argument."""
    var = ir.Var("", reader.raw(node).lstrip(), quoted)
    rest: list[Node] = []
    for child in node.children[1:-1]:
        if not var.name and child.type in {"variable_name", "special_variable_name"}:
            var.name = reader.raw(child)
        elif not var.name and child.type == "subscript":
            var.name, _, index = reader.raw(child).partition("[")
            inner = child.child_by_field_name("index")
            plain = ir.WordIR((ir.Lit(index.rstrip("]")),), reader.span(child), index)
            var.index = reader.word(inner) if inner else plain
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
            var.arg = _argument(reader, var.op, operands)
    into.append(var)


def _argument(reader: Reader, op: str, operands: list[Node]) -> ir.WordIR:
    """What stands behind the operator of ``${name<op>…}``."""
    parts: Parts = []
    start = at = operands[0].start_byte
    for child in operands:
        if child.start_byte > at:
            parts.append(ir.Lit(reader.between(at, child.start_byte)))
        reader.parts(child, parts, quoted=False)
        at = child.end_byte
    span = reader.span(operands[0])
    if op in _PATTERNS:
        parts = [p for part in parts for p in _within_pattern(reader, part, span[0])]
    parts = [p for part in parts for p in _ticked(reader, part, span)]
    return ir.WordIR(tuple(parts), span, reader.between(start, at))


def _within_pattern(reader: Reader, part: ir.Part, base: int) -> Parts:
    """``${x#$(cmd)}``: the pattern is expanded, so its commands run."""
    if not isinstance(part, ir.Lit) or part.quoted or not any(mark in part.text for mark in ("$(", "${", "`")):
        return [part]
    out: Parts = []
    for i, text in enumerate(re.split(r"('[^']*')", part.text)):  # single quotes keep what they hold
        if text:
            out += [ir.Lit(text)] if i % 2 else here_parts(reader, text, base)
    return out


def _ticked(reader: Reader, part: ir.Part, span: tuple[int, int]) -> Parts:
    """The grammar takes back-ticks in ``${x:=`cmd`}`` for plain text."""
    if not isinstance(part, ir.Lit) or "`" not in part.text:
        return [part]
    pieces = re.split(r"`([^`]*)`", part.text)
    return [
        ir.Sub(reader.another(text), f"`{text}`", True, span) if i % 2 else ir.Lit(text, part.quoted)
        for i, text in enumerate(pieces)
        if i % 2 or text
    ]


def _substitution(reader: Reader, node: Node, into: Parts, quoted: bool) -> None:
    into.append(_sub(reader, node, quoted=quoted))


def _sub(reader: Reader, node: Node, *, quoted: bool) -> ir.Sub:
    raw = reader.raw(node).lstrip()
    body = reader.body(node.children)
    if not body and any(c.type in REDIRECTS for c in node.children):  # $(< file)
        body = [reader.statements["redirected_statement"](reader, node)]
    if raw.startswith("`") and "\\" in raw:
        body = reader.another(re.sub(r"\\([$`\\])", r"\1", raw[1:-1]))
    return ir.Sub(body, raw, quoted, reader.span(node))


def _process(reader: Reader, node: Node, into: Parts, _quoted: bool) -> None:
    direction = node.children[0].type[0]
    into.append(ir.Proc(direction, reader.body(node.children), reader.raw(node), reader.span(node)))


def _arithmetic(reader: Reader, node: Node, into: Parts, _quoted: bool) -> None:
    subs: list[ir.Sub] = []
    queue = list(node.children)
    while queue:
        child = queue.pop(0)
        if child.type == "command_substitution":
            subs.append(_sub(reader, child, quoted=True))
        else:
            queue[:0] = child.children
    into.append(ir.Arith(reader.raw(node), tuple(subs)))


def _subshell(reader: Reader, node: Node, into: Parts, _quoted: bool) -> None:
    into.append(ir.Lit(reader.raw(node)))


def here_parts(reader: Reader, body: str, base: int) -> tuple[ir.Part, ...]:
    """An unquoted here-document's body: its expansions run, quotes in it are only text."""
    escaped = body.replace('"', "\u201d")  # same length; a double quote is literal in a here-document
    inner = Reader(f'"{escaped}"', {}, reader.tables, base - 1)
    queue = [inner.root()]
    while queue:
        node = queue.pop(0)
        if node.type == "string" and node.start_byte == 0:
            parts: Parts = []
            _string(inner, node, parts, False)
            return tuple(
                ir.Lit(p.text.replace("\u201d", '"'), quoted=True) if isinstance(p, ir.Lit) else p for p in parts
            )
        queue += node.children
    return (ir.Var("here-document", body[:40], quoted=True),)


PARTS: dict[str, Callable[[Reader, Any, Parts, bool], None]] = {
    "concatenation": _concatenation,
    "raw_string": _raw_string,
    "ansi_c_string": _ansi_string,
    "string": _string,
    "translated_string": _translated,
    "simple_expansion": _simple_expansion,
    "expansion": _expansion,
    "command_substitution": _substitution,
    "process_substitution": _process,
    "arithmetic_expansion": _arithmetic,
    "subshell": _subshell,
}
