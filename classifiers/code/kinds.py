"""What a call gives that takes or gives more than texts: lists, numbers, paths (``value:`` in the tables).

In: the object whose method it is, the arguments, the source. Out: the value; None when it cannot be said.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace

from classifiers.code.filling import MAX_TEXT, fits, formatted, percent
from classifiers.code.listings import are_patterns, path
from classifiers.code.textkinds import TEXT_KINDS
from classifiers.code.values import Value, constant, hole, taints, unknown

MAX_LIST = 10_000
Kind = Callable[[Value, Sequence[Value], str], Value | None]


def _one_found(own: Value, args: Sequence[Value], _raw: str) -> Value | None:
    """One of a list of files found."""
    lists = _patterns(own, args)
    return lists[0].data[0] if lists else None


def _part_found(own: Value, args: Sequence[Value], _raw: str) -> Value | None:
    """A part of it that a function chooses."""
    lists = _patterns(own, args)
    return lists[0] if lists else None


def _patterns(own: Value, args: Sequence[Value]) -> list[Value]:
    return [v for v in (own, *args) if isinstance(v.data, list) and v.data and are_patterns(v.data)]


def _some(own: Value, bounds: Sequence[Value], raw: str) -> Value | None:
    """Part of a text or list: of a pattern's members all can be in it; else what plain numbers cut out."""
    if not (own.known and isinstance(own.data, list | str)):
        return None
    if isinstance(own.data, list) and are_patterns(own.data):
        return own
    if not bounds or not all(b.known and isinstance(b.data, int) for b in bounds):
        return unknown(raw, own)
    cut = slice(bounds[0].data, bounds[1].data if len(bounds) > 1 else None)
    return replace(own, data=own.data[cut], raw=raw)


def _path(_own: Value, args: Sequence[Value], raw: str) -> Value:
    parts = [v.text for v in args]
    known = [p for p in parts if p is not None]
    text = posixpath.join(*known) if known and len(known) == len(parts) else "." if not args else None
    return path(text, raw, *args)


def _number_as_text(own: Value, args: Sequence[Value], _raw: str) -> Value | None:
    plain = not own.known and len(args) == 1 and args[0].known and isinstance(args[0].data, int | float)
    return constant(str(args[0].data), args[0].taint) if plain else None


def _joined(items: Value, glue: str, *sources: Value) -> Value | None:
    held = items.data if items.known and isinstance(items.data, list) else None
    texts = [i.text for i in held] if held is not None else [None]
    known = [t for t in texts if t is not None]
    if len(known) != len(texts) or not fits(t + glue for t in known):
        return None
    return constant(glue.join(known), taints(items, *sources))


def _glue(args: Sequence[Value], usual: str = "") -> str:
    return args[0].text if args and args[0].text is not None else usual


def _from_list(own: Value, args: Sequence[Value], _raw: str) -> Value | None:
    """``glue.join(list)``."""
    return _joined(args[0], own.text, own) if args and own.text is not None else None


def _rest_joined(_own: Value, args: Sequence[Value], raw: str) -> Value | None:
    """The glue, then what is joined."""
    items = Value(known=True, data=[m for a in args[1:] for m in a.members], raw=raw, taint=taints(*args))
    return _joined(items, _glue(args), *args) if args else None


def _at(own: Value, args: Sequence[Value], raw: str) -> Value | None:
    """A member by its key."""
    if not (args and own.known and isinstance(own.data, list | dict)):
        return None
    try:
        found = own.data[args[0].data] if args[0].known else None
    except (LookupError, TypeError):
        return unknown(raw, own, *args)
    return found if isinstance(found, Value) else unknown(raw, own, *args)


def _cut(own: Value, args: Sequence[Value], raw: str) -> Value | None:
    """From a place, so many letters."""
    of, *bounds = [own, *args] if own.text is not None else list(args) or [own]
    numbers = [b.data for b in bounds[:2] if b.known and isinstance(b.data, int)]
    if of.text is None or not numbers or len(numbers) != len(bounds[:2]):
        return unknown(raw, of, *bounds)
    start = numbers[0] if numbers[0] >= 0 else max(0, len(of.text) + numbers[0])
    length = numbers[1] if len(numbers) > 1 else None
    end = None if length is None else length if length < 0 else start + length
    return constant(of.text[start:end], taints(of), decoded=of.decoded)


def _chosen(_own: Value, args: Sequence[Value], _raw: str) -> Value | None:
    """Lua's ``select(n, …)``."""
    at = args[0].data if args and args[0].known and isinstance(args[0].data, int) else 0
    return args[at] if 0 < at < len(args) else None


def _filled(text: str | None, args: Sequence[Value], raw: str) -> Value | None:
    given = Value(known=True, data=list(args), taint=taints(*args))
    return percent(text, given, raw) if text is not None else None


def _encoded(_own: Value, args: Sequence[Value], _raw: str) -> Value | None:
    """The second argument names how the first is written."""
    named = args[1].text if len(args) > 1 else None
    kind = {"base64": "b64", "base64url": "b64", "hex": "hex"}.get(named or "", "text")
    if not args or args[0].text is None:
        return None
    try:
        text = TEXT_KINDS[kind]([args[0].text])
    except ValueError:
        return None
    return None if text is None else constant(text, taints(*args), decoded=kind != "text" or args[0].decoded)


def _renamed(own: Value, args: Sequence[Value], raw: str, *, whole: bool) -> Value | None:
    """``with_name``, ``with_suffix``."""
    if own.text is None or not args or args[0].text is None:
        return None
    head, base = posixpath.split(own.text)
    named = args[0].text if whole else posixpath.splitext(base)[0] + args[0].text
    return path(posixpath.join(head, named), raw, own)


def _chr(_own: Value, args: Sequence[Value], _raw: str) -> Value | None:
    if not args or not all(a.known and isinstance(a.data, int) and 0 <= a.data < 0x110000 for a in args):
        return None
    return constant("".join(chr(a.data) for a in args), taints(*args), decoded=True)


def _chars(own: Value, args: Sequence[Value], raw: str) -> Value | None:
    """A list of letters, of a text or of numbers."""
    if not args or not args[0].known:
        return None
    letters = args[0].data if isinstance(args[0].data, list) else [constant(c) for c in args[0].text or ""]
    chars = [v if v.text is not None else _chr(own, [v], raw) or unknown(raw, v) for v in letters[:MAX_TEXT]]
    return Value(known=True, data=chars, raw=raw, taint=taints(*args), decoded=args[0].text is None)


def _words(_own: Value, args: Sequence[Value], raw: str) -> Value | None:
    """shlex's."""
    if not args or args[0].text is None:
        return None
    try:
        spelled = shlex.split(args[0].text[:MAX_TEXT])
    except ValueError:
        return None
    return Value(known=True, data=[constant(w) for w in spelled], raw=raw, taint=taints(*args))


def _split(own: Value, args: Sequence[Value], raw: str) -> Value | None:
    if own.text is None:
        return None
    glue = args[0].text if args else None
    pieces = own.text.split(glue) if glue else list(own.text[:MAX_LIST]) if glue == "" else own.text.split()
    return Value(known=True, data=[constant(p) for p in pieces], raw=raw, taint=taints(own))


def _parent(own: Value, _args: Sequence[Value], raw: str) -> Value | None:
    return None if own.text is None else path(posixpath.dirname(own.text) or ".", raw, own)


def _below_path(own: Value, args: Sequence[Value], raw: str) -> Value | None:
    texts = [a.text for a in args if a.text is not None]
    known = own.text is not None and len(texts) == len(args)
    return path(posixpath.join(own.text or "", *texts), raw, own, *args) if known else None


KINDS: dict[str, Kind] = {
    "item": _one_found,
    "filtered": _part_found,
    "some": _some,
    "path": _path,
    "text": _number_as_text,
    "join_rest": _rest_joined,
    "join_list": lambda own, args, _raw: _joined(own, _glue(args, ","), *args),
    "join_plain": lambda own, args, _raw: _joined(own, _glue(args), *args),
    "list_join": _from_list,
    "text_join_list": lambda _own, args, _raw: _joined(args[1], _glue(args), *args) if len(args) > 1 else None,
    "concat_list": lambda _own, args, _raw: _joined(args[0], _glue(args[1:]), *args) if args else None,
    "split": _split,
    "split_by": lambda _own, args, raw: _split(args[1], args[:1], raw) if len(args) > 1 else None,
    "same_list": lambda own, _args, _raw: own if isinstance(own.data, list) else None,  # changed where it is
    "at": _at,
    "cut": _cut,
    "chosen": _chosen,
    "percent": lambda own, args, raw: _filled(own.text, args, raw),
    "sprintf": lambda _own, args, raw: _filled(args[0].text, args[1:], raw) if args else None,
    "same": lambda _own, args, _raw: args[0] if args else None,
    "encoded": _encoded,
    "same_path": lambda own, _args, raw: path(own.text, raw, own),
    "windows_join": lambda _own, args, raw: replace(
        unknown(raw, *args), shape="\\".join(hole(a).rstrip("\\/") for a in args)
    ),
    "format_first": lambda _own, args, raw: formatted(args[0].text, args[1:], raw) if args and args[0].text else None,
    "format": lambda own, args, raw: formatted(own.text, args, raw) if own.text is not None else None,
    "with_suffix": lambda own, args, raw: _renamed(own, args, raw, whole=False),
    "with_name": lambda own, args, raw: _renamed(own, args, raw, whole=True),
    "home": lambda _own, _args, raw: path("~", raw),
    "home_text": lambda _own, _args, _raw: constant("~"),
    "chars": _chars,
    "chr": _chr,
    "words": _words,
    "parent": _parent,
    "path_join": _below_path,
}
