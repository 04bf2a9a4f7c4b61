"""Statements of the program form: imports, assignments, branches, loops, functions. A node in, what it binds kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from classifiers.code import ir
from classifiers.code.attributes import SELVES
from classifiers.code.calls import Site, make_call
from classifiers.code.containers import begun, placed
from classifiers.code.listings import are_patterns, members
from classifiers.code.values import UNKNOWN, Value, constant, taints, unknown
from classifiers.code.ways import again, any_of, go_back, meet, names_of, perhaps
from classifiers.effects import Domain, OpaqueReason, Verb

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter
_AT_SUBCLASS = frozenset(
    {"__init_subclass__", "__new__", "__prepare__", "__call__", "inherited", "included", "extended"}
)
_OF_CLASS = frozenset({"__callStatic", "const_missing"})  # the language calls them of the class itself
_PROMPTS = frozenset({"prompt", "tabexpansion2", "psconsolehostreadline"})  # PowerShell calls them at each line
MAX_TURNS = 24  # of a loop over a literal list


def _assign(reader: Interpreter, node: ir.Assign) -> Value:
    value = reader.value(node.value)
    for target in node.targets:
        _bind_target(reader, target, value, outer=node.outer)
    return value


def _imported(reader: Interpreter, node: ir.Import) -> Value:
    if node.alias == "*":
        reader.stars.append(node.name.removesuffix(".*"))
    reader.bind(node.alias, Value(ref=node.name, raw=node.name))
    if node.name.startswith(".") or not reader.library.knows_package(node.name):
        module = node.name.lstrip(".").partition(".")[0] or "project"
        reader.out.add(Domain.CODE, Verb.EXECUTE, module, span=node.span, destructive=None)
        reader.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, node.span, f"module {module}")
    return UNKNOWN


def _branch(reader: Interpreter, node: ir.If) -> Value:
    test = reader.value(node.test)
    truth = bool(test.data) if test.known and not isinstance(test.data, list | dict) else None
    before = names_of(reader)
    value = UNKNOWN
    if truth is not False:
        with perhaps(reader, sure=truth is True):
            value = reader.run(node.body)
        if node.again:
            again(reader, before, lambda: reader.run(node.body))
    if truth is True:
        return UNKNOWN if node.again else value
    taken = names_of(reader).scopes
    go_back(reader, before.scopes)
    with perhaps(reader, sure=truth is False):
        other = reader.run(node.orelse)
    if truth is None:
        meet(reader, taken)
    if truth is False or node.again:
        return UNKNOWN if node.again else other
    if not node.orelse:  # nothing, where it is not taken: no path and no function
        return value if value.text is not None or value.function is not None else UNKNOWN
    return any_of(reader, [value, other], UNKNOWN)


def _loop(reader: Interpreter, node: ir.Loop) -> Value:
    items = reader.value(node.items)
    turns: list[Any] = [UNKNOWN if not items.known else None]
    before, exact = names_of(reader), False
    if items.known and isinstance(items.data, list) and items.data:
        exact = len(items.data) <= MAX_TURNS
        turns = items.data[:MAX_TURNS] + ([UNKNOWN] if len(items.data) > MAX_TURNS else [])
    elif (table := members(items)) is not None and table[0]:
        turns = table[1] if reader.language in {"lua", "php"} else table[0]
        exact = True
    elif (one := reader.library.calls.get(f"{items.ref}@each")) is not None:  # a collection of a client's
        turns = [replace(items, ref=one.returns, known=False)]
    elif items.known or items.taint or items.ref:
        turns = [unknown(items.raw, items)]
    given: list[Value] = []

    def take(turn: Any) -> None:
        if node.target is not None:
            _bind_target(reader, node.target, turn if isinstance(turn, Value) else UNKNOWN)
        given.append(reader.run(node.body))

    named = node.items.items if reader.language == "perl" and isinstance(node.items, ir.Sequence) else ()
    with perhaps(reader, sure=exact):
        for i, turn in enumerate(turns):
            at = named[i] if i < len(named) == len(turns) else None  # Perl's loop stands for the name itself
            take(reader.value(at) if isinstance(at, ir.Name) else turn)
    if not exact:
        again(reader, before, lambda: take(turns[-1]))
    if node.gives and items.known and isinstance(items.data, list) and (node.gives == "all" or are_patterns(given)):
        return Value(known=True, data=given, raw=reader.source(node), taint=taints(*given))
    return unknown(reader.source(node), items, *given) if node.gives else UNKNOWN


def _returned(reader: Interpreter, node: ir.Return) -> Value:
    value = reader.value(node.value)
    if reader.ends:
        reader.ends[-1].append(value)
    return value


def _yielded(reader: Interpreter, node: ir.Yield) -> Value:
    value = reader.value(node.value)
    if reader.given:
        members = value.members if node.whole else [value]
        reader.given[-1] += members[:MAX_TURNS] if len(reader.given[-1]) < MAX_TURNS else [unknown("", value)]
    return UNKNOWN


def _function(reader: Interpreter, node: ir.Function) -> Value:
    if node.name:
        reader.bind(node.name, reader.made(node))
        if reader.language == "powershell" and node.name.lower() in _PROMPTS:
            reader.enter(node, [])
    return reader.made(node)


def _klass(reader: Interpreter, node: ir.Class) -> Value:
    reader.hoist([node])
    for method in node.methods:
        if method.name in _OF_CLASS:
            reader.enter(method, [])
    for part in node.body:
        value = reader.value(part)
        for method in value.function.methods if isinstance(value.function, ir.Class) else ():
            if method.name in _AT_SUBCLASS:
                reader.enter(method, [])
        for target in part.targets if isinstance(part, ir.Assign) else ():
            if isinstance(target, ir.Name):
                reader.hold(target.id, reader.scopes[-1].get(target.id, value))
    return UNKNOWN


def _bind_target(reader: Interpreter, target: ir.Node, value: Value, *, outer: bool = False) -> None:
    """``outer``: a name that an enclosing function has is set there."""
    if isinstance(target, ir.Attr) and isinstance(target.obj, ir.Name) and target.obj.id in SELVES:
        reader.hold(target.name, value)
    if isinstance(target, ir.Attr) and isinstance(value.function, ir.Function):
        reader.keep_method(value.function, target.name)
    match target:
        case ir.Name():
            if not (outer and reader.rebind(target.id, value)):
                reader.bind(target.id, value)
        case ir.Table():
            for key, bound in target.items:
                _bind_target(reader, bound, _member_of(value, key), outer=outer)
        case ir.Sequence():
            parts = value.data if value.known and isinstance(value.data, list) else []
            for i, item in enumerate(target.items):
                _bind_target(reader, item, parts[i] if i < len(parts) else unknown("", value), outer=outer)
        case ir.Attr() if f"{target.name}=" in reader.library.methods:
            base = reader.value(target.obj)
            held = base if base.known or base.shape else None
            make_call(Site(reader, Value(ref=f"?.{target.name}=", data=held, raw=base.raw), [value], {}, target.span))
        case ir.Index() | ir.Attr():
            place = reader.value(target.key) if isinstance(target, ir.Index) else constant(target.name)
            numbered = place.known and isinstance(place.data, int)
            base = reader.value(target.obj)
            if not (isinstance(target.obj, ir.Name) and target.obj.id in SELVES):
                base = begun(reader, target.obj, base, [] if numbered or not place.known else {})
            if isinstance(target, ir.Attr) and base.made_by is not None:
                reader.hold(target.name, value)
            known = reader.library.call(f"{base.ref}[]=") if base.ref else None
            placed(reader, target.obj, base, place, value)
            if reader.source(target).startswith("$SIG{"):  # Perl
                named = reader.scopes[0].get(value.text or "", value).function
                if isinstance(named, ir.Function):
                    reader.enter(named, [])
            if known is not None:
                make_call(Site(reader, Value(ref=f"{base.ref}[]="), [place, value], {}, target.span))
        case _:
            pass


def _member_of(value: Value, key: str) -> Value:
    """``const {key} = value``."""
    if value.known and isinstance(value.data, dict) and isinstance(value.data.get(key), Value):
        found: Value = value.data[key]
        return found
    return Value(ref=f"{value.ref}.{key}" if value.ref else "", raw=key, taint=value.taint)


READERS: dict[type, Callable[[Interpreter, Any], Value]] = {
    ir.Assign: _assign,
    ir.Import: _imported,
    ir.If: _branch,
    ir.Loop: _loop,
    ir.Return: _returned,
    ir.Yield: _yielded,
    ir.Function: _function,
    ir.Class: _klass,
}
