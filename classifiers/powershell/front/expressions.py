"""Members, calls of methods, operators, collections and script blocks: a node in, the program node out."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from classifiers.code import ir
from classifiers.powershell.front.statements import defaults
from classifiers.powershell.front.tree import Front, descendants

# Types whose cast makes an object with methods of its own.
_MADE = frozenset(
    {"char", "char[]", "scriptblock", "io.fileinfo", "io.directoryinfo", "adsi", "adsisearcher", "wmiclass", "wmi"}
)
_OPERATORS = {"-f": "%f", "+": "+", "-join": "join", "-replace": "replace", "-split": "split"}


def _member(front: Front, node: Any) -> ir.Node:
    obj, name = node.named_children[0], node.named_children[1] if len(node.named_children) > 1 else None
    member = front.source.text(name).lower().strip("\"'") if name is not None else ""
    return ir.Attr(front.source.span(node), front.node(obj), member)


def _element(front: Front, node: Any) -> ir.Node:
    """``$list[0]`` by its place, ``$table['k']`` by its name."""
    place = front.source.text(node.named_children[1]) if len(node.named_children) > 1 else ""
    if re.fullmatch(r"-?\d+", place) is None:
        return _member(front, node)
    span = front.source.span(node)
    return ir.Index(span, front.node(node.named_children[0]), ir.Const(span, int(place)))


def _unary(front: Front, node: Any) -> ir.Node:
    """``-join $list``, a cast, a negative number; what other operators give is not known."""
    span, text = front.source.span(node), front.source.text(node)
    inner = [c for c in node.named_children if c.type != "comment"]
    if len(inner) == 1 and inner[0].type == "cast_expression":
        return front.node(inner[0])
    if len(inner) == 1 and text.lower().startswith("-join"):
        return ir.Binary(span, "join", front.node(inner[0]), ir.Const(span, ""))
    if re.fullmatch(r"-\d+", text) is not None:
        return ir.Const(span, int(text))
    return ir.Other(span, tuple(front.node(c) for c in inner))


def _invocation(front: Front, node: Any) -> ir.Node:
    """``$obj.Method(a)`` and ``[Type]::Method(a)``."""
    children = [c for c in node.named_children if c.type != "comment"]
    arguments = next((c for c in children if c.type == "argument_list"), None)
    if len(children) < 2:  # the grammar lost its way in it
        front.broken.append(front.source.span(node))
        return ir.Other(front.source.span(node), tuple(front.node(c) for c in children))
    func = ir.Attr(
        front.source.span(node), front.node(children[0]), front.source.text(children[1]).lower().strip("\"'")
    )
    args = (
        [front.node(a) for a in descendants(arguments, "argument_expression", deep=False)]
        if arguments is not None
        else []
    )
    return ir.Call(front.source.span(node), func, tuple(args))


def _binary(front: Front, node: Any) -> ir.Node:
    """``a + b``, ``"{0}" -f x``, ``$a -join ","``: the operator stands between, as a node or as plain text."""
    parts = [c for c in node.named_children if c.type != "comment"]
    left = front.node(parts[0])
    for before, right in pairwise(parts):
        if right.type.endswith("operator"):
            continue
        word = front.source.text(before) if before.type.endswith("operator") else _between(front, before, right)
        op = _OPERATORS.get(word.strip().lower(), "?")
        left = ir.Binary(front.source.span(node), op, left, front.node(right))
    return left


def _between(front: Front, left: Any, right: Any) -> str:
    return front.source.data[left.end_byte : right.start_byte].decode("utf-8", "replace")


def _array(front: Front, node: Any) -> ir.Node:
    items = [front.node(c) for c in node.named_children if c.type != "comment"]
    return items[0] if len(items) == 1 else ir.Sequence(front.source.span(node), tuple(items))


def _argument_list(front: Front, node: Any) -> ir.Node:
    """``New-Object Type(a, b)``: the list, or the one value."""
    items = [front.node(a) for a in descendants(node, "argument_expression", deep=False)]
    return items[0] if len(items) == 1 else ir.Sequence(front.source.span(node), tuple(items))


def _hash_table(front: Front, node: Any) -> ir.Node:
    pairs = []
    for entry in descendants(node, "hash_entry"):
        parts = [c for c in entry.named_children if c.type != "comment"]
        if len(parts) > 1:
            pairs.append((front.source.text(parts[0]).strip("\"'").lower(), front.node(parts[-1])))
    return ir.Table(front.source.span(node), tuple(pairs))


def _cast(front: Front, node: Any) -> ir.Node:
    parts = [c for c in node.named_children if c.type != "comment"]
    written = front.source.text(parts[0]).lower() if parts else ""
    kind = written.strip("[]").removeprefix("system.") + ("[]" if written.endswith("[]]") else "")
    value = front.node(parts[-1])
    if kind in _MADE:
        return ir.Call(front.source.span(node), ir.Name(front.source.span(node), f"[{kind}]"), (value,))
    return value


def _script_block(front: Front, node: Any) -> ir.Node:
    body = [n for c in descendants(node, "script_block_body", deep=False) or [node] for n in front.block(c)]
    blocks = [b for c in (node, *node.named_children) for b in c.named_children if b.type == "param_block"]
    given = defaults(front, (p for b in blocks[:1] for p in descendants(b, "script_parameter")))
    return ir.Function(front.source.span(node), "", tuple(n for n, _ in given), tuple(body), given)


def called(front: Front, value: ir.Node, arguments: Any) -> ir.Node:
    """``(expression).Member`` with the argument list that follows it in a command."""
    args = tuple(front.node(a) for a in descendants(arguments, "argument_expression", deep=False))
    return ir.Call((value.span[0], front.source.span(arguments)[1]), value, args)


READERS: dict[str, Callable[[Front, Any], ir.Node]] = {
    "member_access": _member,
    "element_access": _element,
    "expression_with_unary_operator": _unary,
    "invokation_expression": _invocation,
    "additive_expression": _binary,
    "additive_argument_expression": _binary,
    "format_expression": _binary,
    "format_argument_expression": _binary,
    "comparison_expression": _binary,
    "comparison_argument_expression": _binary,
    "array_literal_expression": _array,
    "argument_list": _argument_list,
    "hash_literal_expression": _hash_table,
    "cast_expression": _cast,
    "script_block_expression": _script_block,
}
