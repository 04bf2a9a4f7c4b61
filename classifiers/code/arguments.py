"""What the names of a function hold for one call: its parameters and the call's arguments in, a scope out."""

from __future__ import annotations

from classifiers.code import ir
from classifiers.code.values import UNKNOWN, Value, taints, unknown

# The list of what a function is given.
_LISTED = {"perl": "_", "javascript": "arguments"}


def given(
    language: str, node: ir.Function, args: list[Value], named: dict[str, Value], *, again: bool
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments as the language hands them on.

    ``again``: the function is being read already, this once for all further turns: what they are given is not known,
    but lists are filled by them.
    """
    if language == "ruby" and not node.name and len(node.params) > 1 and len(args) == 1:
        args = args[0].members  # a block takes a list apart
    if again:
        args = [_next_turn(a) for a in args]
        named = {key: _next_turn(value) for key, value in named.items()}
    if language == "powershell":
        rest = Value(known=True, data=list(args[len(node.params) :]), raw="$args")
        named = {**{f"${key}": value for key, value in named.items()}, "$args": rest}
    if language in _LISTED and args:
        named = {**named, _LISTED[language]: Value(known=True, data=list(args), taint=taints(*args))}
    return args, named


def _next_turn(value: Value) -> Value:
    return value if isinstance(value.data, list | dict) else unknown(value.raw, value)


def parameters(node: ir.Function, args: list[Value], named: dict[str, Value]) -> dict[str, Value]:
    """Each name and what it holds; a parameter that nothing was given for is unknown."""
    scope = {**dict.fromkeys(node.params, UNKNOWN), **dict(zip(node.params, args, strict=False)), **named}
    if node.rest is not None:
        at, name = node.rest
        scope |= dict.fromkeys(node.params[at:], UNKNOWN) | named
        scope[name] = Value(known=True, data=args[at:], raw=name, taint=taints(*args[at:]))
    if node.keywords:
        others = {k: v for k, v in named.items() if k not in node.params}
        scope[node.keywords] = Value(known=True, data=others, raw=node.keywords, taint=taints(*others.values()))
    return scope
