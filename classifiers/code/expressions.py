"""Names, members, texts and collections of the program form: a node in, the value it has out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from classifiers.code import ir
from classifiers.code.attributes import HOME, member
from classifiers.code.calls import Site, make_call
from classifiers.code.constants import binary, join
from classifiers.code.containers import escaped
from classifiers.code.listings import are_patterns
from classifiers.code.values import Value, constant, taints, unknown
from classifiers.code.ways import any_of, each_way, perhaps
from classifiers.effects import OpaqueReason

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter
_NAMESPACES = frozenset({"sys.modules", "globals()", "_G", "_ENV", "package.loaded"})


def _const(reader: Interpreter, node: ir.Const) -> Value:  # noqa: ARG001 - one shape
    return constant(node.value)


def _name(reader: Interpreter, node: ir.Name) -> Value:
    if (found := reader.held(node.id)) is not None:
        if reader.language == "ruby" and isinstance(found.function, ir.Function) and found.function.name:
            return reader.enter(found.function, [])  # a method's name alone calls it
        return found
    _code_within(reader, node)
    if reader.language == "ruby" and (held := reader.fields.get(node.id)) is not None:  # ``attr_reader :name``
        return held
    module, _colons, name = node.id.rpartition("::") if reader.language == "ruby" else ("", "", "")
    if module and name in reader.scopes[0] and reader.library.call(node.id) is None:  # a constant of our own module
        return reader.scopes[0][name]
    return Value(ref=_starred(reader, node.id), raw=node.id)


def _code_within(reader: Interpreter, node: ir.Name) -> None:
    """An expression in a text of Perl's, which the grammar gives as one name."""
    if node.id[:2] in {"${", "@{"} and "(" in node.id:
        reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, node.span, node.id)


def _starred(reader: Interpreter, name: str) -> str:
    """A name nothing bound: the language's own, else a member of a module imported whole (``from z3 import *``)."""
    if not reader.stars or reader.library.call(name) is not None:
        return name
    return next((f"{m}.{name}" for m in reader.stars if reader.library.call(f"{m}.{name}") is not None), name)


def _index(reader: Interpreter, node: ir.Index) -> Value:
    base, key = reader.value(node.obj), reader.value(node.key)
    if isinstance(base.function, ir.Function) and reader.language == "ruby":
        return reader.enter(base.function, [key])
    if HOME.fullmatch(reader.source(node)):
        return constant("~")
    if id(base.data) in reader.loose or (isinstance(base.data, list | dict) and not key.known and not base.others):
        held = base.data.values() if isinstance(base.data, dict) else base.data or ()
        return any_of(reader, [v for v in held if isinstance(v, Value)], unknown(reader.source(node), base))
    if isinstance(base.data, list) and base.data and are_patterns(base.data):  # one member stands for all of them
        return base if isinstance(key.data, slice) else base.data[0]
    if base.known and key.known and isinstance(base.data, list | dict | str):
        try:
            found = base.data[key.data]
        except (LookupError, TypeError, ValueError):
            return unknown(reader.source(node), base)
        if isinstance(found, list) and isinstance(key.data, slice):
            return Value(known=True, data=found, raw=reader.source(node), taint=base.taint)
        return found if isinstance(found, Value) else constant(found, base.taint)
    if base.ref in _NAMESPACES:
        if key.text is None:
            reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, node.span, reader.source(node))
            return unknown(reader.source(node), base)
        return Value(ref=key.text) if base.ref == "sys.modules" else _name(reader, ir.Name(node.span, key.text))
    if base.ref:
        known = reader.library.call(f"{base.ref}[]")
        if known is not None:
            return make_call(Site(reader, Value(ref=f"{base.ref}[]", data=base.data), [key], {}, node.span))
        if key.text is None and base.ref in reader.library.acting:
            return unknown(reader.source(node), escaped(reader, base), key)
        suffix = f".{key.text}" if key.text else ""
        return Value(ref=base.ref + suffix, raw=reader.source(node), taint=taints(base, key), data=base.data)
    return unknown(reader.source(node), base)


def _join(reader: Interpreter, node: ir.Join) -> Value:
    return each_way(reader, reader.values(node.parts), lambda parts: join(list(parts), reader.source(node)))


def _binary(reader: Interpreter, node: ir.Binary) -> Value:
    sides = [reader.value(node.left), reader.value(node.right)]
    return each_way(reader, sides, lambda s: binary(node.op, s[0], s[1], reader.source(node)))


def _sequence(reader: Interpreter, node: ir.Sequence) -> Value:
    return Value(
        known=True, data=reader.values(node.items), raw=reader.source(node), taint=_taint_of(reader, node.items)
    )


def _table(reader: Interpreter, node: ir.Table) -> Value:
    found = {key: reader.value(value) if key else escaped(reader, reader.value(value)) for key, value in node.items}
    return Value(known=True, data=found, raw=reader.source(node), taint=taints(*found.values()))


def _other(reader: Interpreter, node: ir.Other) -> Value:
    values = reader.values(node.parts)
    return values[-1] if node.last and values else unknown(reader.source(node), *values)


def _choice(reader: Interpreter, node: ir.Choice) -> Value:
    test = reader.value(node.test)
    if node.test is not None and _is_plain(test):
        return reader.value(node.options[0 if test.data else -1])
    found: list[Value] = []
    for option in node.options:
        with perhaps(reader, sure=node.test is None and not found):
            found.append(reader.value(option))
        if node.test is None and _is_plain(found[-1]):
            if found[-1].data:
                break
            found = found if option is node.options[-1] else found[:-1]
    return any_of(reader, found, unknown(reader.source(node)))


def _is_plain(value: Value) -> bool:
    return value.known and not isinstance(value.data, list | dict)


def _spread(reader: Interpreter, node: ir.Spread) -> Value:
    return reader.value(node.value)


def _command(reader: Interpreter, node: ir.Command) -> Value:
    return make_call(Site(reader, Value(ref="__shell__"), [reader.value(node.text)], {}, node.span))


def _taint_of(reader: Interpreter, nodes: Iterable[ir.Node]) -> frozenset[int]:
    found: frozenset[int] = frozenset()
    for node in nodes:
        if isinstance(node, ir.Name):
            found |= _name(reader, node).taint
    return found


READERS: dict[type, Callable[[Interpreter, Any], Value]] = {
    ir.Const: _const,
    ir.Name: _name,
    ir.Attr: member,
    ir.Index: _index,
    ir.Join: _join,
    ir.Binary: _binary,
    ir.Sequence: _sequence,
    ir.Table: _table,
    ir.Command: _command,
    ir.Spread: _spread,
    ir.Other: _other,
    ir.Choice: _choice,
}
