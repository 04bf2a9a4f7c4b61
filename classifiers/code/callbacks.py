"""Functions that are given away: what takes them calls them. In: a call's arguments. Out: what the functions gave."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from classifiers.code import ir
from classifiers.code.callables import callable_of
from classifiers.code.calls import Site, make_call
from classifiers.code.containers import MAX_DEPTH
from classifiers.code.listings import members
from classifiers.code.values import UNKNOWN, Partial, Value, taints, unknown
from classifiers.code.ways import again, names_of

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter
# PHP names a function to call by a text.
_CALLBACKS = frozenset(
    {"array_map", "array_walk", "array_filter", "usort", "uasort", "uksort", "array_reduce", "preg_replace_callback"}
    | {"register_shutdown_function", "set_error_handler", "ob_start", "iterator_apply", "array_walk_recursive"}
)
_ONE_BY_ONE = frozenset({
    "map", "imap", "imap_unordered", "starmap", "filter", "forEach", "each", "apply", "sorted", "sort", "min", "max",
    "reduce", "groupby", "takewhile", "dropwhile", "array_map", "array_walk", "array_filter", "filterfalse",
    "some", "every", "flatMap", "array_reduce",
})  # fmt: skip
_GIVES_SELF = frozenset({"then", "tap", "yield_self"})  # what they are called on is what the function gets
_TURNS = frozenset({"times", "loop", "upto", "downto", "step", "cycle", "setInterval"})  # called any number of times
_FOLDS = frozenset({"reduce", "reduceRight", "array_reduce", "inject", "each_with_object"})
_TIMERS = frozenset({"setTimeout", "setInterval"})  # a number of milliseconds stands between
_SERVERS = re.compile(r"server|serve\b|register|create_connection", re.IGNORECASE)
_CALLED_BY_SERVERS = ("do_", "handle", "on_", "run", "process", "data_received", "connection_made")
MAX_TURNS = 24  # of a function called with each member of a literal list


def acts(reader: Interpreter, name: str) -> bool:
    """The library knows something that a call of this name does."""
    known = reader.library.call(name) if name else None
    return known is not None and known.acts


def hand_on(reader: Interpreter, func: Value, args: list[Value], named: dict[str, Value], span: ir.Span) -> list[Value]:
    """Functions given as arguments are called by what takes them: with each member, or with the other arguments.

    Gives what the last of them made of each member of a list that is known.
    """
    made: list[Value] = []
    taker = reader.library.call(func.ref) if func.ref else None
    for inner in _held((*args, *named.values())) if func.function is None and func.ref else ():
        if inner.function is not None and id(inner.function) not in reader.read:
            reader.enter(inner.function, [], {}, inner.around)
    kept = taker is not None and (
        taker.value in {"same", "chosen"} or taker.run == "partial"
    )  # gives what it is handed back; a key it calls
    for argument in (*(() if kept else args), *named.values()):
        handed, bound = argument, argument.data if isinstance(argument.data, Partial) else None
        handed = bound.func if bound is not None else handed
        if func.ref in _CALLBACKS:
            handed = callable_of(reader, handed) or handed
        if isinstance(handed.function, ir.Class) and _SERVERS.search(func.ref):
            _serve(reader, handed.function)
        known = handed.function is None and acts(reader, handed.ref)
        if not known and not isinstance(handed.function, ir.Function):
            continue
        held = isinstance(func.data, Value)  # the function is a method of a value we know
        made = []
        for given in given_by(func) if held else _given(func, argument, args, named):
            given = [*bound.args, *given] if bound is not None else given  # noqa: PLW2901 - the same, with what it had
            options = dict(bound.named) if bound is not None else {}
            if handed.function is not None:
                before = names_of(reader)
                made.append(reader.enter(handed.function, given, options, handed.around))
                if func.ref.rpartition(".")[2] in _TURNS:
                    again(reader, before, partial(reader.enter, handed.function, given, options, handed.around))
            else:
                make_call(Site(reader, handed, given or [replace(UNKNOWN, taint=func.taint)], options, span))

    listed = isinstance(func.data, Value) and isinstance(func.data.data, list)
    return made if listed and isinstance(func.data, Value) and len(made) == len(func.data.data) else []


def _held(given: Iterable[Value], depth: int = 0) -> Iterable[Value]:
    """Functions in the lists and tables that are given: ``on({done: f})``."""
    for value in given:
        within = value.data.values() if isinstance(value.data, dict) else value.data
        if depth < MAX_DEPTH and isinstance(within, Iterable) and not isinstance(within, str | bytes):
            members = [m for m in within if isinstance(m, Value)]
            yield from (m for m in members if isinstance(m.function, ir.Function))
            yield from _held(members, depth + 1)


def _serve(reader: Interpreter, given: ir.Class) -> None:
    """A class handed to what makes objects of it (a server's handler, a worker): the methods that are called then."""
    for method in given.methods:
        if method.name.startswith(_CALLED_BY_SERVERS):
            reader.enter(method, [])


def given_by(func: Value) -> list[list[Value]]:
    """What a function handed to this call gets: each member of a literal list whose method is called."""
    held = func.data if isinstance(func.data, Value) else None
    if held is not None and func.ref.rpartition(".")[2] in _GIVES_SELF:
        return [[held]]
    if held is not None and isinstance(held.data, list) and held.data:
        before = [unknown("", held)] if func.ref.rpartition(".")[2] in _FOLDS else []
        return [[*before, v] for v in held.data[:MAX_TURNS]]
    if held is not None and (table := members(held)) is not None:
        which = func.ref.rpartition("_")[2]
        pairs = list(zip(*table, strict=True))[:MAX_TURNS]
        return [[k] if which == "key" else [v] if which == "value" else [k, v] for k, v in pairs] or [[]]
    return [[unknown("", held)]] if held is not None else []


def _given(func: Value, handed: Value, args: list[Value], named: dict[str, Value]) -> list[list[Value]]:
    """What a call passes to a function it is given."""
    at = next((i for i, a in enumerate(args) if a is handed), -1)
    before = [a for a in args if a is not handed]
    others = list(args[at + 1 + (func.ref in _TIMERS) :]) or before  # what follows it, else what is before it
    head, _dot, how = func.ref.rpartition(".")
    if how == "then" and head and not others:  # import("x").then(m => …)
        return [[Value(ref=head, raw=func.raw, taint=taints(func))]]
    listed = named.get("args")
    if listed is not None:
        return [listed.data if isinstance(listed.data, list) else [UNKNOWN]]
    method = func.ref.rpartition(".")[2]
    if method in _ONE_BY_ONE:
        items = next((a.data for a in others if isinstance(a.data, list)), None)
        before = [unknown("", *others)] if method in _FOLDS else []  # what the turns before have made
        return [[*before, item] for item in items[:MAX_TURNS]] if items else [[unknown("", *others)]]
    if others is before and any(
        a.text is not None for a in others
    ):  # ``on("done", f)``: what it is called with comes later
        return [[unknown("", *others)]]
    return [others]
