"""PHP's names of functions: a text, ``'A::go'``, a pair of object and method (php.net, Callables). A value in, what it
calls out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code import ir
from classifiers.code.values import Value

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter

_CALLERS = frozenset({"call_user_func", "call_user_func_array", "forward_static_call", "forward_static_call_array"})


def callable_of(reader: Interpreter, value: Value) -> Value | None:
    """The function a value names; None when it names none that is known."""
    if reader.language != "php" or value.ref or value.function is not None:
        return None
    if value.text is not None:
        kind, _colons, method = value.text.lstrip("\\").rpartition("::")
        return _method(reader, _class(reader, kind), method) if kind else _function(reader, method, value)
    pair = value.data if value.known and isinstance(value.data, list) else []
    if len(pair) != 2 or pair[1].text is None:
        return None
    owner = pair[0].made_by or (_class(reader, pair[0].text) if pair[0].text is not None else None)
    return _method(reader, owner, pair[1].text.rpartition("::")[2])


def called(reader: Interpreter, func: Value, args: list[Value]) -> tuple[Value, list[Value]]:
    """``$name(…)``, ``[$object, 'go'](…)``, ``call_user_func($name, …)``: what is called, with what."""
    if func.ref in _CALLERS and args:
        named = callable_of(reader, args[0]) or (args[0] if args[0].function is not None else None)
        return (func, args) if named is None else (named, _given(func.ref, args[1:]))
    return callable_of(reader, func) or func, args


def _given(caller: str, rest: Sequence[Value]) -> list[Value]:
    return rest[0].members if caller.endswith("_array") and rest else list(rest)


def _function(reader: Interpreter, name: str, value: Value) -> Value:
    own = reader.held(name)
    return own if own is not None and own.function is not None else Value(ref=name.lower(), raw=value.raw)


def _class(reader: Interpreter, name: str) -> ir.Class | None:
    held = reader.held(name)
    return held.function if held is not None and isinstance(held.function, ir.Class) else None


def _method(reader: Interpreter, owner: ir.Class | None, name: str) -> Value | None:
    """Of this class and those it is made from; of any class when nobody knows whose."""
    found = reader.inherited(owner) if owner is not None else reader.methods.get(name, [])
    ways = [Value(function=m, raw=name, made_by=owner) for m in found if m.name == name]
    return replace(ways[0], others=tuple(ways) if len(ways) > 1 else ()) if ways else None
