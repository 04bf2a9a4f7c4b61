"""Assignments, functions, branches and loops: a node in, the program node out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from classifiers.code import ir
from classifiers.powershell.front.tree import Front, descendants

_SCOPE = re.compile(r"^(global|script|local|private):")


def _assignment(front: Front, node: Any) -> ir.Node:
    parts = [c for c in node.named_children if c.type != "comment"]
    left, value = front.node(parts[0]), front.node(parts[-1])
    operator = next((front.source.text(c).strip() for c in parts if "operator" in c.type), "=")
    if operator != "=":
        value = ir.Binary(front.source.span(node), "+" if operator == "+=" else "?", left, value)
    return ir.Assign(front.source.span(node), (left,), value)


def _bumped(front: Front, node: Any) -> ir.Node:
    """``$i++``."""
    span = front.source.span(node)
    return ir.Assign(span, (front.node(node.named_children[0]),), ir.Other(span))


def _again(front: Front, node: Any) -> ir.Node:
    """``for``, ``while`` and ``do``: the body may run any number of times, of ``do`` once at least."""
    span, parts = front.source.span(node), [c for c in node.named_children if c.type != "comment"]
    by_type = {c.type: front.node(c) for c in parts if c.type != "statement_block"}
    body = [n for c in parts if c.type == "statement_block" for n in front.block(c)]
    test = next((by_type[t] for t in ("for_condition", "while_condition") if t in by_type), ir.Other(span))
    step = [by_type["for_iterator"]] if "for_iterator" in by_type else []
    before = [by_type["for_initializer"]] if "for_initializer" in by_type else []
    before += body if node.type == "do_statement" else []
    turns = ir.If(span, ir.Other(span, (test,)), (*body, *step), again=True)
    return ir.Other(span, (*before, turns))


def _function(front: Front, node: Any) -> ir.Node:
    name = next((front.source.text(c).lower() for c in node.named_children if c.type == "function_name"), "")
    name = _SCOPE.sub("", name)
    given = defaults(front, descendants(node, "script_parameter"))
    body = [n for c in descendants(node, "script_block_body") for n in front.block(c)]
    return ir.Function(front.source.span(node), name, tuple(n for n, _ in given), tuple(body), given)


def _param_block(front: Front, node: Any) -> ir.Node:
    """Of the script itself: its parameters are what they are when they are not given."""
    given = defaults(front, descendants(node, "script_parameter"))
    span = front.source.span(node)
    return ir.Other(span, tuple(ir.Assign(span, (ir.Name(span, n),), value) for n, value in given if value is not None))


def defaults(front: Front, parameters: Iterable[Any]) -> tuple[tuple[str, ir.Node | None], ...]:
    """The name of each parameter, and what it is when it is not given."""
    found: list[tuple[str, ir.Node | None]] = []
    for parameter in parameters:
        value = next((c for c in parameter.named_children if c.type == "script_parameter_default"), None)
        for variable in descendants(parameter, "variable")[:1]:
            text = front.source.text(variable).lower()
            found.append((text, front.node(value.named_children[-1]) if value is not None else None))
    return tuple(found)


def _if_statement(front: Front, node: Any) -> ir.Node:
    condition = node.child_by_field_name("condition")
    blocks = [n for c in node.named_children if c.type != "comment" and c != condition for n in [front.node(c)]]
    known = _CERTAIN.get(front.source.text(condition).strip("( )").lower()) if condition else None
    if known is not None and blocks:  # the one that is never read is left out
        blocks = blocks[:1] if known else blocks[1:]
    test = (
        ir.Other(front.source.span(node), (front.node(condition),)) if condition else ir.Other(front.source.span(node))
    )
    return ir.If(front.source.span(node), test, tuple(blocks))


_CERTAIN = {"$true": True, "1": True, "$false": False, "0": False, "$null": False}


def _foreach(front: Front, node: Any) -> ir.Node:
    parts = [c for c in node.named_children if c.type not in {"comment", "foreach_parameter"}]
    if len(parts) < 3:
        return ir.Other(front.source.span(node), tuple(front.node(c) for c in parts))
    return ir.Loop(front.source.span(node), front.node(parts[0]), front.node(parts[1]), (front.node(parts[2]),))


READERS: dict[str, Callable[[Front, Any], ir.Node]] = {
    "assignment_expression": _assignment,
    "function_statement": _function,
    "param_block": _param_block,
    "if_statement": _if_statement,
    "foreach_statement": _foreach,
    **dict.fromkeys(("for_statement", "while_statement", "do_statement"), _again),
    **dict.fromkeys(
        (f"{when}_{what}_expression" for when in ("pre", "post") for what in ("increment", "decrement")), _bumped
    ),
}
