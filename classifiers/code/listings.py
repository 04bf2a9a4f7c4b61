"""Files that a program finds: a list whose one member, the pattern, stands for all of them.

In: a call that lists a folder (``value:`` in the tables). Out: the list, of texts or of path objects.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence

from classifiers.code.values import Value, constant, taints, unknown


def path(text: str | None, raw: str, *sources: Value) -> Value:
    """A path object: its methods are ``Path.<name>``."""
    return Value(known=text is not None, data=text, ref="Path", raw=raw, taint=taints(*sources))


def are_patterns(items: Sequence[Value]) -> bool:
    """Members that stand for files found: some of them are named no better than all."""
    return all("*" in (item.text or "") or (item.ref == "Path" and item.text is None) for item in items)


def _found(own: Value, args: Sequence[Value], raw: str, item: Value | None) -> Value:
    """A list of files found: one member, the pattern, stands for all of them."""
    if item is None:
        return unknown(raw, own, *args)
    return Value(known=True, data=[item], raw=raw, taint=taints(own, *args))


def _named_pattern(own: Value, args: Sequence[Value], raw: str) -> Value:
    text = args[0].text if args else None
    return _found(own, args, raw, None if text is None else constant(text, taints(*args)))


def _names(own: Value, args: Sequence[Value], raw: str) -> Value:
    """The names in a folder."""
    return _found(own, args, raw, constant("*", taints(*args)))


def _joined(own: Value, args: Sequence[Value], raw: str, pattern: str) -> Value:
    """What is in the folder that the first argument names."""
    text = args[0].text if args else None
    return _found(own, args, raw, None if text is None else constant(posixpath.join(text, pattern), taints(*args)))


def _entries(own: Value, args: Sequence[Value], raw: str) -> Value:
    text = args[0].text if args else "."
    if text is None:
        return unknown(raw, own, *args)
    data = {"path": constant(posixpath.join(text, "*")), "name": constant("*")}
    return _found(own, args, raw, Value(known=True, data=data, raw=raw))


def _walked(own: Value, args: Sequence[Value], raw: str) -> Value:
    """(folder, folders in it, files in it) of every folder below."""
    text = args[0].text if args else own.text
    if text is None:
        return unknown(raw, own, *args)
    names = Value(known=True, data=[constant("*")], raw=raw)
    below = posixpath.join(text, "**")
    folder = constant(below) if args else path(below, raw, own)
    return _found(own, args, raw, Value(known=True, data=[folder, names, names], raw=raw))


def _below(own: Value, args: Sequence[Value], raw: str, between: str = "", name: str | None = None) -> Value:
    """Path objects below this one."""
    asked = name if name is not None else args[0].text if args else None
    known = own.text is not None and asked is not None
    found = posixpath.join(own.text or "", between, asked or "") if known else None
    return _found(own, args, raw, path(found, raw, own, *args))


def members(table: Value) -> tuple[list[Value], list[Value]] | None:
    """Keys and values of a table that is known as a whole; None when it is none, or a part of it was put together."""
    held = table.data if table.known and isinstance(table.data, dict) else None
    if held is None or "" in held or "**" in held or not all(isinstance(v, Value) for v in held.values()):
        return None
    return [constant(key) for key in held], list(held.values())


def _table(own: Value, args: Sequence[Value], raw: str, part: str) -> Value:
    """A table's keys, values, or both in pairs: of the object whose method it is, or of the first argument."""
    table = args[0] if args and isinstance(args[0].data, dict) else own
    found = members(table)
    if found is None:
        return unknown(raw, own, *args)
    keys, values = found
    pairs = [Value(known=True, data=[k, v], raw=raw) for k, v in zip(keys, values, strict=True)]
    return Value(known=True, data={"keys": keys, "values": values}.get(part, pairs), raw=raw, taint=taints(*values))


def _counted(own: Value, args: Sequence[Value], raw: str) -> Value:
    """``enumerate``: a number that is not known beside each member."""
    if not args or not isinstance(args[0].data, list):
        return unknown(raw, own, *args)
    pairs = [Value(known=True, data=[Value(), item], raw=raw, taint=taints(args[0])) for item in args[0].data]
    return Value(known=True, data=pairs, raw=raw, taint=taints(args[0]))


def _zipped(own: Value, args: Sequence[Value], raw: str) -> Value:
    """``zip``: the first of each, the second of each, …"""
    lists = [a.data for a in args if a.known and isinstance(a.data, list)]
    if len(lists) != len(args) or not args:
        return unknown(raw, own, *args)
    rows = [Value(known=True, data=list(row), raw=raw) for row in zip(*lists, strict=False)]
    return Value(known=True, data=rows, raw=raw, taint=taints(*args))


LISTINGS: dict[str, Callable[[Value, Sequence[Value], str], Value]] = {
    "found": _named_pattern,
    "names": _names,
    "listed": lambda own, args, raw: _joined(own, args, raw, "*"),
    "listed_below": lambda own, args, raw: _joined(own, args, raw, "**/*"),
    "counted": _counted,
    "zipped": _zipped,
    "table_keys": lambda own, args, raw: _table(own, args, raw, "keys"),
    "table_values": lambda own, args, raw: _table(own, args, raw, "values"),
    "table_items": lambda own, args, raw: _table(own, args, raw, "items"),
    "entries": _entries,
    "walked": _walked,
    "below": _below,
    "far_below": lambda own, args, raw: _below(own, args, raw, "**"),
    "in_folder": lambda own, args, raw: _below(own, args, raw, name="*"),
}
