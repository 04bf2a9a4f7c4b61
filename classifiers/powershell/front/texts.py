"""Strings and what is expanded in them, variables, numbers, types: a node in, a constant, name or joined parts out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from classifiers.code import ir
from classifiers.datafile import table
from classifiers.powershell.front.tree import Front, descendants

_BACKTICKS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}
_VARIABLE = re.compile(r"\$(?:\{([^}]+)\}|((?:\w+:)?\w+))")
_CONSTANTS = {"true": True, "false": False, "null": None}


def _string(front: Front, node: Any) -> ir.Node:
    raw = front.source.text(node)
    if raw.startswith("@"):
        body = re.sub(r"^@[\"'][ \t]*\r?\n|\r?\n[\"']@$", "", raw)
        return ir.Const(front.source.span(node), body) if raw[1:2] == "'" else expandable(front, node, body)
    if raw[:1] in {"'", "\u2018", "\u2019"}:
        return ir.Const(front.source.span(node), raw[1:-1].replace("''", "'"))
    return expandable(front, node, raw[1:-1].replace('""', '"'))


def expandable(front: Front, node: Any, text: str) -> ir.Node:
    """Text with ``$name``, ``${name}``, ``$(…)`` parts; back-tick escapes resolved."""
    span = front.source.span(node)
    inner = iter(descendants(node, "sub_expression", deep=False))
    parts: list[ir.Node] = []
    for literal, name in _pieces(text):
        if name == "?":
            found = next(inner, None)
            inner_nodes = tuple(front.node(c) for c in found.named_children) if found is not None else ()
            parts.append(inner_nodes[0] if len(inner_nodes) == 1 else ir.Other(span, inner_nodes))
        else:
            parts.append(_variable_named(span, name) if name else ir.Const(span, literal))
    if not parts:
        return ir.Const(span, "")
    return parts[0] if len(parts) == 1 else ir.Join(span, tuple(parts))


def _variable(front: Front, node: Any) -> ir.Node:
    span, text = front.source.span(node), front.source.text(node)
    named = _variable_named(span, text.lstrip("$@").strip("{}"))
    return ir.Spread(span, named) if text.startswith("@") else named  # ``Copy-Item @arguments``


def _variable_named(span: ir.Span, name: str) -> ir.Node:
    if name.lower() in _CONSTANTS:
        return ir.Const(span, _CONSTANTS[name.lower()])
    known = table("powershell/tables/names.yaml")["variables"].get(name.lower())
    if known is not None:
        return ir.Const(span, known)
    return ir.Name(span, "$" + name.lower().removeprefix("global:").removeprefix("script:").removeprefix("using:"))


def _number(front: Front, node: Any) -> ir.Node:
    text = front.source.text(node).lower()
    try:
        value: Any = int(text, 16) if text.startswith("0x") else int(text)
    except ValueError:
        value = None
    return ir.Const(front.source.span(node), value) if value is not None else ir.Other(front.source.span(node))


def _type_literal(front: Front, node: Any) -> ir.Node:
    name = re.sub(r"\s", "", front.source.text(node).strip("[]")).lower().removeprefix("system.")
    return ir.Name(front.source.span(node), f"[{name}]")


def _pieces(text: str) -> list[tuple[str, str]]:
    """(literal, "") and ("", variable name) parts of an expandable string."""
    out: list[tuple[str, str]] = []
    literal = ""
    i = 0
    while i < len(text):
        found = _VARIABLE.match(text, i)
        if text[i] == "`" and i + 1 < len(text):
            literal += _BACKTICKS.get(text[i + 1], text[i + 1])
            i += 2
        elif text.startswith("$(", i):
            i = _close(text, i + 1)
            out += [(literal, "")] if literal else []
            out.append(("", "?"))
            literal = ""
        elif found is not None:
            out += [(literal, "")] if literal else []
            out.append(("", found.group(1) or found.group(2)))
            literal = ""
            i = found.end()
        else:
            literal += text[i]
            i += 1
    return out + ([(literal, "")] if literal else [])


def _close(text: str, at: int) -> int:
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


READERS: dict[str, Callable[[Front, Any], ir.Node]] = {
    "expandable_string_literal": _string,
    "verbatim_string_characters": _string,
    "expandable_here_string_literal": _string,
    "verbatim_here_string_characters": _string,
    "variable": _variable,
    "braced_variable": _variable,
    "decimal_integer_literal": _number,
    "hexadecimal_integer_literal": _number,
    "type_literal": _type_literal,
}
