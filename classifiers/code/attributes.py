"""A member of a value: ``object.name`` in; a field or method, a part of a constant, or a name of the library out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code import ir
from classifiers.code.constants import fold, path_part
from classifiers.code.containers import escaped
from classifiers.code.values import Value, constant

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter
HOME = re.compile(
    r"process\.env\.HOME|(?:process\.env|os\.environ|\$?ENV|\$_(?:ENV|SERVER))(?:\[['\"]HOME['\"]\]|\{['\"]?HOME['\"]?\})"
)
SELVES = frozenset({"self", "cls", "this", "$this"})
_PATH_PARTS = frozenset({"parent", "name", "stem", "suffix"})
_TABLE_WORDS = frozenset({"items", "values", "get", "pop"})
_ITSELF = frozenset({"call", "new", "yield", "curry", "to_proc"})  # Ruby's ways to call a function, or to give it
_BUILTINS = frozenset({"builtins", "__builtins__", "__builtin__", "_G", "_ENV", "package.loaded"})


def member(reader: Interpreter, node: ir.Attr) -> Value:
    own = reader.fields.get(node.name) if isinstance(node.obj, ir.Name) and node.obj.id in SELVES else None
    if own is not None:
        return own
    base = reader.value(node.obj)
    found = next((f for stage in _STAGES if (f := stage(reader, base, node)) is not None), None)
    if found is not None:
        return found
    held = base if base.known or base.others else None
    return Value(ref=f"?.{node.name}", raw=reader.source(node), taint=base.taint, data=held)


def _of_object(reader: Interpreter, base: Value, node: ir.Attr) -> Value | None:
    """A method or field of an object or class of the program's own, or a function itself."""
    methods = base.made_by.methods if base.made_by is not None else ()
    method = next((m for m in methods if m.name == node.name), None)
    if method is not None:
        return Value(function=method, made_by=base.made_by, raw=reader.source(node), data=base)
    of_ours = isinstance(base.function, ir.Class) or base.made_by is not None
    kept = reader.fields.get(node.name) if of_ours else None
    if kept is not None:
        return kept
    made = isinstance(base.function, ir.Class) and node.name == "new"
    return base if made or (isinstance(base.function, ir.Function) and node.name in _ITSELF) else None


def _of_constant(reader: Interpreter, base: Value, node: ir.Attr) -> Value | None:
    """A part of a path, a member of a table, what a text's members give."""
    if HOME.fullmatch(reader.source(node)):
        return constant("~")
    if reader.language == "perl" and f"{base.text}.{node.name}" in reader.library.calls:  # a package by its name
        return Value(ref=f"{base.text}.{node.name}", raw=reader.source(node))
    if base.ref == "Path" and node.name in _PATH_PARTS:
        return path_part(base, node.name, reader.source(node))
    if base.ref in _BUILTINS:
        return Value(ref=node.name, raw=reader.source(node))
    if base.known and isinstance(base.data, dict) and isinstance(base.data.get(node.name), Value):
        found: Value = base.data[node.name]
        return found
    kind = reader.library.members.get(node.name)
    if kind is not None and base.text is not None:
        return fold(kind, base, [], base.raw)
    listed = reader.language == "powershell" and base.known and isinstance(base.data, list) and base.data
    if kind is None or not listed or not all(item.text is not None for item in base.members):
        return None
    return replace(base, data=[fold(kind, item, [], item.raw) for item in base.members])  # of each that a list has


def _of_module(reader: Interpreter, base: Value, node: ir.Attr) -> Value | None:
    """A module seen as a table: ``os.__dict__``, ``vars(os).items``."""
    if node.name == "__dict__" and base.ref:
        return base
    named = f"{base.ref}.{node.name}"
    if node.name in _TABLE_WORDS and base.ref in reader.library.acting and named not in reader.library.calls:
        return replace(escaped(reader, base), ref=f"?.{node.name}")
    return None


def _of_library(reader: Interpreter, base: Value, node: ir.Attr) -> Value | None:
    named = f"{base.ref}.{node.name}"
    if reader.argv is not None and reader.argv[0] == named:
        return reader.argv[1]
    if (text := reader.library.constants.get(named)) is not None:
        return constant(text)
    if not base.ref:
        return None
    if f"{named}@get" in reader.library.calls:  # looking is an effect of its own
        return reader.call_library(f"{named}@get", [], node.span)
    whole = reader.library.members.get(node.name, "text") == "text"  # no part of the path that it stands for
    shape = base.shape if whole else None
    return Value(ref=named, raw=reader.source(node), taint=base.taint, data=base.data, shape=shape)


_STAGES: tuple[Callable[[Interpreter, Value, ir.Attr], Value | None], ...] = (
    _of_object,
    _of_constant,
    _of_module,
    _of_library,
)
