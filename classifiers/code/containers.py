"""Lists and tables that change: a call or an assignment in, what they may hold from then on.

A list is one object under all its names, as in the program, so it is changed in place. What is added on a way that may
not be taken is added all the same; where things stand in such a list is not known any more (``loosen``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code import ir
from classifiers.code.constants import join
from classifiers.code.library import PURE
from classifiers.code.values import REACH, Value, taints, unknown

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter

MAX_MEMBERS = 400
MAX_DEPTH = 3  # of lists in lists that are looked through
# Methods by what they do to the object, and functions whose first argument is the object.
_ADD = frozenset({"<<", "append", "appendleft", "add", "push", "unshift", "addlast", "addfirst", "enqueue"})
_JOIN = frozenset({"extend", "extendleft", "update", "addrange", "merge!", "concat!"})
_SET = frozenset({"setdefault", "set", "store", "__setitem__"})
_MOVE = frozenset({"pop", "popleft", "popitem", "shift", "remove", "discard", "clear", "delete"}) | frozenset(
    {"sort", "reverse", "splice", "insert"}
)
_FUNCTIONS = {
    "push": "push", "unshift": "push", "array_push": "push", "array_unshift": "push", "table.insert": "insert",
    "heapq.heappush": "push", "bisect.insort": "push", "random.shuffle": "sort", "list.append": "append",
}  # fmt: skip


def grow(reader: Interpreter, node: ir.Call, func: Value, args: Sequence[Value], named: dict[str, Value]) -> None:
    """A call that changes a list or table we know: ``files.append(path)``, ``push @files, $path``."""
    held = func.data if isinstance(func.data, Value) and func.ref.startswith("?.") else None
    method, rest = func.ref.rpartition(".")[2].lower(), args
    if method == "push" and args and node.args:
        args = rest = [begun(reader, node.args[0], args[0], []), *args[1:]]
    if held is None and func.ref in _FUNCTIONS and args:
        held, method, rest = args[0], _FUNCTIONS[func.ref], args[1:]
    if held is not None and held.text is not None and isinstance(node.func, ir.Attr):
        _rewrite(reader, node.func, held, rest)
    if held is None or not held.known or not isinstance(held.data, list | dict):
        return
    before = len(held.data)
    if method == "reverse" and reader.language == "javascript" and not reader.unsure and isinstance(held.data, list):
        held.data.reverse()
        return
    if method in _SET and len(rest) == 2:
        put(reader, held, rest[0], rest[1])
    elif method in _JOIN:
        for other in rest:
            _join(reader, held, other)
        for key, value in named.items():
            _keep(reader, held, key, value)
    elif method in _ADD or method in {"insert", "splice"}:
        for value in rest if method in _ADD else rest[-1:] if method == "insert" else rest[2:]:
            _add(held, value)
    if method in _MOVE or "left" in method or "first" in method or method == "unshift" or reader.unsure:
        loosen(reader, held.data, changed=len(held.data) != before or method in _MOVE)
    _tainted(reader, node.func.obj if isinstance(node.func, ir.Attr) else None, held, (*rest, *named.values()))


def begun(reader: Interpreter, node: ir.Node, held: Value, empty: list[Value] | dict[str, Value]) -> Value:
    """Perl and PHP make a list or table of a name that held nothing, where something is put into it."""
    if reader.language not in {"perl", "php"} or not isinstance(node, ir.Name) or held.known or held.function:
        return held
    if any(node.id in scope for scope in reader.scopes):
        return held
    reader.bind(node.id, Value(known=True, data=empty, raw=node.id))
    return reader.value(node)


def _rewrite(reader: Interpreter, func: ir.Attr, held: Value, given: Sequence[Value]) -> None:
    """Ruby's texts change where they are: ``a << b``, ``a.concat(b)``, ``a.sub!(…)`` (ruby-doc: String)."""
    if reader.language != "ruby":
        return
    now = None
    if func.name in {"<<", "concat"}:
        now = join((held, *given), held.raw)
    elif func.name.endswith("!") or func.name in {"prepend", "replace", "insert", "clear"}:
        now = unknown("", held, *given)
    if now is not None and isinstance(func.obj, ir.Name):
        if not reader.rebind(func.obj.id, now):
            reader.bind(func.obj.id, now)
    elif now is not None and isinstance(func.obj, ir.Attr):
        reader.hold(func.obj.name, now)


def put(reader: Interpreter, held: Value, key: Value, value: Value) -> None:
    """``held[key] = value``."""
    data, place = held.data, key.data
    if isinstance(data, dict):
        _keep(reader, held, key.text or (str(place) if key.known and isinstance(place, int) else ""), value)
    elif isinstance(data, list) and key.known and isinstance(place, int) and -len(data) <= place < len(data):
        data[place] = value if not reader.unsure else unknown(value.raw, value, data[place])
    elif isinstance(data, list):
        _add(held, value)
        loosen(reader, data, changed=not (key.known and place == len(data) - 1) or bool(reader.unsure))


def placed(reader: Interpreter, target: ir.Node, held: Value, key: Value, value: Value) -> None:
    """The same for an assignment; the name it is known by is tainted by what it holds now."""
    if held.known and isinstance(held.data, list | dict):
        put(reader, held, key, value)
        _tainted(reader, target, held, (value,))


def loosen(reader: Interpreter, data: list[Value] | dict[str, Value], *, changed: bool) -> None:
    if changed:
        reader.loose[id(data)] = data


def escaped(reader: Interpreter, value: Value, depth: int = 0) -> Value:
    """A module of the library, or what holds one of its functions, that is given away: what comes of it may be that.

    A function that is given itself is called there (``callbacks.hand_on``).
    """
    held = value.data.values() if isinstance(value.data, dict) else value.data if isinstance(value.data, list) else ()
    within = depth < MAX_DEPTH and any(
        REACH in escaped(reader, v, depth + 1).taint for v in held if isinstance(v, Value)
    )
    known = value.ref in reader.library.acting and not value.known
    if known and not depth:
        found = reader.library.call(value.ref)
        known = found is None or found is PURE or found.loads
    return replace(value, taint=value.taint | {REACH}) if known or within else value


def _add(held: Value, value: Value) -> None:
    if len(held.data) >= MAX_MEMBERS:
        held.data[-1] = unknown("", value)
    elif isinstance(held.data, list):
        held.data.append(value)
    else:
        held.data[value.text or f"?{len(held.data)}"] = value


def _join(reader: Interpreter, held: Value, other: Value) -> None:
    if isinstance(held.data, dict):
        for key, value in other.data.items() if isinstance(other.data, dict) else [("", unknown("", other))]:
            _keep(reader, held, key, value)
        return
    members = other.data if other.known and isinstance(other.data, list | dict) else [unknown(other.raw, other)]
    for member in list(members):
        _add(held, member if isinstance(member, Value) else unknown("", other))


def _keep(reader: Interpreter, held: Value, key: str, value: Value) -> None:
    """Under a name; one nobody knows may be any of those there."""
    old = held.data.get(key)
    if not key:
        held.data[f"?{len(held.data)}"] = value
        loosen(reader, held.data, changed=True)
    elif old is None or not reader.unsure:
        held.data[key] = value
    elif isinstance(old, Value):
        held.data[key] = unknown(value.raw, value, old)


def _tainted(reader: Interpreter, node: ir.Node | None, held: Value, given: Sequence[Value]) -> None:
    taint = held.taint | taints(*given)
    if isinstance(node, ir.Name) and taint != held.taint:
        scope = next((s for s in reversed(reader.scopes) if s.get(node.id) is held), None)
        if scope is not None:
            scope[node.id] = replace(held, taint=taint)
