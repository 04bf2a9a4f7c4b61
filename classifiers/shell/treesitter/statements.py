"""Lists, pipelines, branches, loops, functions and tests: a node in, a statement out. One table row per node type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from classifiers.shell import ir
from classifiers.shell.treesitter.commands import assign
from classifiers.shell.treesitter.reader import Node, Reader
from classifiers.shell.treesitter.words import PARTS, add_word

_WORDS = frozenset(PARTS) - {"subshell"}
_BODIES = frozenset({"do_group", "compound_statement"})


def _pipeline(reader: Reader, node: Node) -> ir.Stmt:
    return ir.Pipeline(_items(reader, node))


def _items(reader: Reader, node: Node) -> list[ir.Stmt]:
    """The statements operators stand between."""
    out: list[ir.Stmt] = []
    for child in node.children:
        if child.type in reader.statements:
            out.append(reader.one(child))
        elif child.type == "ERROR":
            out.append(reader.broken(child))
    return out


def _and_or(reader: Reader, node: Node) -> ir.Stmt:
    parts = _items(reader, node)
    ops = [c.type for c in node.children if c.type in {"&&", "||"}]
    out = parts[0] if parts else reader.broken(node)
    for i, right in enumerate(parts[1:]):
        out = ir.AndOr(out, "||" if i < len(ops) and ops[i] == "||" else "&&", right)
    return out


def _negated(reader: Reader, node: Node) -> ir.Stmt:
    return ir.Pipeline(reader.body(node.children), negated=True)


def _subshell(reader: Reader, node: Node) -> ir.Stmt:
    return ir.Group(reader.body(node.children), subshell=True)


def _compound(reader: Reader, node: Node) -> ir.Stmt:
    if node.child_count and node.children[0].type == "((":
        return _test(reader, node)
    return ir.Group(reader.body(node.children))


def _if(reader: Reader, node: Node) -> ir.If:
    branches: list[tuple[ir.Body, ir.Body]] = []
    otherwise: ir.Body | None = None
    condition: list[Node] = []
    body: list[Node] = []
    seen_then = False
    for child in node.children:
        if child.type == "then":
            seen_then = True
        elif child.type == "elif_clause":
            branches += _if(reader, child).branches
        elif child.type == "else_clause":
            otherwise = reader.body(child.children)
        else:
            (body if seen_then else condition).append(child)
    return ir.If([(reader.body(condition), reader.body(body)), *branches], otherwise)


def _for(reader: Reader, node: Node) -> ir.Stmt:
    words: list[ir.WordIR] | None = None
    variable = ""
    body: ir.Body = []
    for child in node.children:
        if child.type == "variable_name" and not variable:
            variable = reader.raw(child)
        elif child.type == "in":
            words = []
        elif child.type in _BODIES:
            body = reader.body(child.children)
        elif words is not None and child.is_named:
            add_word(words, reader.word(child))
    return ir.Loop(body, variable=variable, words=words)


def _c_for(reader: Reader, node: Node) -> ir.Stmt:
    body: ir.Body = []
    assigns: list[ir.Assign] = []
    for child in node.children:
        if child.type in _BODIES:
            body = reader.body(child.children)
        elif child.type == "variable_assignment":
            assigns.append(assign(reader, child))
    loop = ir.Loop(body, variable="", assigns=assigns)
    header = [c for c in node.children if c.type not in _BODIES]
    words = [w for c in header if c.is_named for w in _loose_words(reader, c)]
    return ir.Group([ir.Test(words, reader.span(node)), loop]) if words else loop


def _while(reader: Reader, node: Node) -> ir.Stmt:
    condition: list[Node] = []
    body: ir.Body = []
    for child in node.children:
        if child.type == "do_group":
            body = reader.body(child.children)
        else:
            condition.append(child)
    return ir.Loop(body, condition=reader.body(condition), until=node.children[0].type == "until")


def _case(reader: Reader, node: Node) -> ir.Stmt:
    word: ir.WordIR | None = None
    arms: list[tuple[list[ir.WordIR], ir.Body]] = []
    ends: list[str] = []
    for child in node.children:
        if child.type == "case_item":
            patterns = [reader.word(c) for c in child.children_by_field_name("value")]
            skip = {c.id for c in child.children_by_field_name("value")}
            arms.append((patterns, reader.body([c for c in child.children if c.id not in skip])))
            ends.append(next((c.type for c in child.children if c.type in {";&", ";;&"}), ";;"))
        elif child.is_named and word is None:
            word = reader.word(child)
    return ir.Case(word or ir.WordIR((), reader.span(node), ""), arms, ends)


def _function(reader: Reader, node: Node) -> ir.Stmt:
    name = node.child_by_field_name("name")
    body = node.child_by_field_name("body")
    inner = [] if body is None else [reader.one(body)]
    return ir.Function(reader.raw(name) if name else "", inner, reader.span(node))


def _test(reader: Reader, node: Node) -> ir.Stmt:
    return ir.Test(_loose_words(reader, node), reader.span(node), reader.raw(node))


def _loose_words(reader: Reader, node: Node) -> list[ir.WordIR]:
    """Every word below a test or arithmetic node that could hold a substitution."""
    out: list[ir.WordIR] = []
    queue = list(node.children)
    while queue:
        child = queue.pop(0)
        if child.type in _WORDS:
            out.append(reader.word(child))
        elif child.is_named:
            queue[:0] = child.children
    return out


STATEMENTS: dict[str, Callable[[Reader, Any], ir.Stmt]] = {
    "pipeline": _pipeline,
    "list": _and_or,
    "subshell": _subshell,
    "compound_statement": _compound,
    "if_statement": _if,
    "for_statement": _for,
    "select_statement": _for,
    "c_style_for_statement": _c_for,
    "while_statement": _while,
    "case_statement": _case,
    "function_definition": _function,
    "negated_command": _negated,
    "test_command": _test,
}
