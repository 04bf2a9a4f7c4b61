"""Ways a program may take: what its names hold after a branch, a loop or a handler that may have run.

In: the reader before and after. Out: the names that differ hold a value nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from classifiers.code.containers import loosen
from classifiers.code.values import Value, taints, unknown

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter

Scopes = list[dict[str, Value]]
MAX_CHOICES = 4


@dataclass(frozen=True, slots=True)
class Names:
    """What names, and the fields of objects, held at one place of the program."""

    scopes: Scopes
    fields: dict[str, Value | None]
    sizes: dict[int, int]  # of the lists and tables among them, by their id


def names_of(reader: Interpreter) -> Names:
    return Names([dict(scope) for scope in reader.scopes], dict(reader.fields), _sizes(reader))


def _sizes(reader: Interpreter) -> dict[int, int]:
    held = (v.data for scope in reader.scopes for v in scope.values())
    return {id(data): len(data) for data in held if isinstance(data, list | dict)}


def go_back(reader: Interpreter, names: Scopes) -> None:
    """As if what came since had not happened."""
    for scope, before in zip(reader.scopes, names, strict=False):
        scope.clear()
        scope.update(before)


def meet(reader: Interpreter, names: Scopes) -> bool:
    """Either way was taken. Returns whether any name differs."""
    changed = False
    for scope, others in zip(reader.scopes, names, strict=False):
        for name, other in others.items():
            mine = scope.get(name, other)
            met = either(reader, other, mine)
            changed = changed or met is not mine
            scope[name] = met
    return changed


@contextmanager
def perhaps(reader: Interpreter, *, sure: bool) -> Iterator[None]:
    """What is read inside may not happen."""
    reader.unsure += not sure
    try:
        yield
    finally:
        reader.unsure -= not sure


def again(reader: Interpreter, before: Names, turn: Callable[[], object]) -> None:
    """A loop of which one turn was read: later turns find what the first left; what grows by turns is unknown."""
    filled = any(before.sizes.get(i, size) != size for i, size in _sizes(reader).items())
    if not meet(reader, before.scopes) and not _unsettled(before.fields, reader.fields) and not filled:
        return
    for last in (False, True):
        widened = names_of(reader).scopes
        with perhaps(reader, sure=False):
            turn()
        meet(reader, widened)
        grown = [(s, n) for s, was in zip(reader.scopes, widened, strict=False) for n in was if _grows(was[n], s[n])]
        if last or not grown:
            return
        for scope, name in grown:
            scope[name] = unknown("", scope[name])


def _unsettled(was: dict[str, Value | None], now: dict[str, Value | None]) -> bool:
    """A field that held one thing is set to another: what was read before that was not all it may hold."""
    return any(value is None and was.get(name) is not None for name, value in now.items())


def _grows(was: Value, now: Value) -> bool:
    """Another turn made it something it could not be before; lists and tables keep their own account of that."""
    texts = {v.text for v in now.others or (now,)} - {v.text for v in was.others or (was,)}
    return bool(texts) and not _is_called(now) and not isinstance(now.data, list | dict)


def either(reader: Interpreter, one: Value, other: Value) -> Value:
    """A value that is one or the other."""
    if one is other:
        return other
    if one.made_by is not None and one.made_by is other.made_by and one.function is other.function:
        return other
    if one.ref and one.ref == other.ref:
        return other if _same(one, other) else replace(_chosen(one, other), known=False, data=None, shape=None)
    if _is_called(one) and _is_called(other):
        return _chosen(one, other)
    if _is_called(one) or _is_called(other):
        named, plain = (other, one) if _is_called(other) else (one, other)
        return named if plain.data is None else unknown(other.raw, one, other)
    if one.known and other.known and isinstance(one.data, list) and isinstance(other.data, list):
        if one.data is not other.data:
            other = replace(other, data=[*other.data, *(v for v in one.data if v not in other.data)])
            loosen(reader, other.data, changed=True)
        return replace(other, taint=taints(one, other))
    if _same(one, other):
        return other
    choices = {v.data: v for v in (*(one.others or (one,)), *(other.others or (other,))) if v.text is not None}
    met = unknown(other.raw, one, other)
    every = all(v.others or v.text is not None for v in (one, other))
    return replace(met, others=tuple(choices.values())) if every and len(choices) <= MAX_CHOICES else met


def _is_called(value: Value) -> bool:
    return bool(value.ref) or value.function is not None


def _chosen(one: Value, other: Value) -> Value:
    """A function or thing of the library that is one or the other: a call calls both."""
    choices = {id(v.function) if v.function is not None else v.ref: v for w in (one, other) for v in w.others or (w,)}
    others = tuple(choices.values())[:MAX_CHOICES] if len(choices) > 1 else ()
    return replace(other, taint=taints(one, other), others=others)


def each_way(reader: Interpreter, values: Sequence[Value], make: Callable[[Sequence[Value]], Value]) -> Value:
    """``make`` of these values; where one is one of several constants, of each in its turn."""
    at = next((i for i, v in enumerate(values) if v.others), None)
    if at is None:
        return make(values)
    ways = [[*values[:at], choice, *values[at + 1 :]] for choice in values[at].others]
    return any_of(reader, [each_way(reader, way, make) for way in ways], values[at])


def _same(one: Value, other: Value) -> bool:
    return one.known == other.known and (one.known or bool(one.ref)) and one.data == other.data


def any_of(reader: Interpreter, values: Sequence[Value], last: Value) -> Value:
    """What a function gives that has several ends."""
    met = values[0] if values else last
    for value in values[1:]:
        met = either(reader, met, value)
    return met
