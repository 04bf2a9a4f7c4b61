"""Fold constants: values in, a value out. Unknown parts keep the raw text and the taint."""

from __future__ import annotations

import base64
import binascii
import codecs
import ntpath
import posixpath
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from urllib.parse import unquote

from classifiers.code.listings import LISTINGS, are_patterns, path
from classifiers.code.values import Value, constant, hole, taints, unknown

MAX_TEXT = 100_000
MAX_LIST = 10_000


def join(parts: Sequence[Value], raw: str) -> Value:
    """Interpolation and concatenation of text."""
    if all(p.known and not isinstance(p.data, list | dict) for p in parts):
        text = "".join(p.text if p.text is not None else str(p.data) for p in parts)
        if len(text) <= MAX_TEXT:
            return constant(text, taints(*parts), decoded=any(p.decoded for p in parts))
    return replace(unknown(raw, *parts), shape="".join(hole(p) for p in parts)[:MAX_TEXT])


def binary(op: str, left: Value, right: Value, raw: str) -> Value:
    if op in {"/", "+"} and left.ref == "Path" and right.text is not None:  # "+": Ruby's
        return path(posixpath.join(left.text, right.text) if left.text is not None else None, raw, left, right)
    if op == "+" and left.known and right.known:
        if isinstance(left.data, list) and isinstance(right.data, list):
            if len(left.data) + len(right.data) > MAX_LIST:
                return unknown(raw, left, right)
            return Value(known=True, data=left.data + right.data, raw=raw, taint=taints(left, right))
        if left.text is not None or right.text is not None:
            return join((left, right), raw)
    if op == "+" and (left.text is not None or right.text is not None or left.shape or right.shape):
        return join((left, right), raw)
    if op == "%f" and left.text is not None:
        return _format(left.text, right.data if right.known and isinstance(right.data, list) else [right], raw)
    if op == "join":
        return fold("join_list", left, [right], raw)
    if op == "split":
        return fold("split", left, [right], raw)
    if op == "replace" and right.known and isinstance(right.data, list):
        return fold("replace", left, right.data, raw)
    if op == "%" and left.text is not None:
        return _percent(left.text, right, raw)
    return unknown(raw, left, right)


def path_part(of: Value, name: str, raw: str) -> Value:
    """What ``path.parent``, ``path.name``, ``path.stem``, ``path.suffix`` give."""
    if name == "parent":
        return path(posixpath.dirname(of.text) or "." if of.text is not None else None, raw, of)
    if of.text is None:
        return unknown(raw, of)
    base = posixpath.basename(of.text)
    stem, suffix = posixpath.splitext(base)
    return constant({"name": base, "stem": stem, "suffix": suffix}[name], of.taint)


def fold(kind: str, own: Value, args: Sequence[Value], raw: str) -> Value:
    """The constant result of a library call of this kind (``value:`` in the tables); unknown when it cannot be said.

    ``own``: the object whose method it is. What was decoded stays so when nobody can say what it holds.
    """
    found = _folded(kind, own, args, raw)
    if not found.known and (kind in _DECODING or own.decoded or any(a.decoded for a in args)):
        return replace(found, decoded=True)
    return found


def _folded(kind: str, own: Value, args: Sequence[Value], raw: str) -> Value:
    if kind in TEXT_KINDS:
        given = [own, *args] if own.known else list(args)
        texts = [v.text for v in given if v.known and v.text is not None]
        if len(texts) == len(given) and texts and _fits(texts):
            try:
                found = TEXT_KINDS[kind](texts)
            except (ValueError, binascii.Error, UnicodeError, IndexError, LookupError):
                return unknown(raw, own, *args)
            if found is not None and len(found) <= MAX_TEXT:
                return constant(found, taints(own, *args), decoded=kind in _DECODING or any(v.decoded for v in given))
    if kind in LISTINGS:
        return LISTINGS[kind](own, args, raw)
    if kind in {"item", "filtered"}:  # one of a list, or a part that a function chooses
        lists = [v for v in (own, *args) if isinstance(v.data, list) and v.data and are_patterns(v.data)]
        if not lists:
            return unknown(raw, own, *args)
        one: Value = lists[0].data[0] if kind == "item" else lists[0]
        return one
    if kind == "some" and isinstance(own.data, list):
        return _some(own, args, raw)
    if kind == "path":
        parts = [v.text for v in args]
        known = [p for p in parts if p is not None]
        return path(
            posixpath.join(*known) if known and len(known) == len(parts) else "." if not args else None, raw, *args
        )
    if kind == "text" and not own.known and len(args) == 1 and args[0].known and isinstance(args[0].data, int | float):
        return constant(str(args[0].data), args[0].taint)
    if kind == "cut" and args and args[0].text is not None:  # from a place, so many letters
        return _cut(args[0], args[1:3], raw)
    if kind == "same" and args:
        return args[0]
    if kind == "encoded" and args:  # the second argument names how the first is written
        named = args[1].text if len(args) > 1 else None
        return fold({"base64": "b64", "base64url": "b64", "hex": "hex"}.get(named or "", "text"), own, args[:1], raw)
    if kind == "same_path":
        return path(own.text, raw, own)
    if kind == "windows_join":
        return replace(unknown(raw, *args), shape="\\".join(hole(a).rstrip("\\/") for a in args))
    if kind == "format_first" and args and args[0].text is not None:
        return _format(args[0].text, args[1:], raw)
    if kind == "sprintf" and args and args[0].text is not None:
        return _percent(args[0].text, Value(known=True, data=list(args[1:]), taint=taints(*args)), raw)
    if kind == "text_join_list" and len(args) > 1:
        return fold("join_list", args[1], [args[0]], raw)
    if kind in {"with_suffix", "with_name"} and own.text is not None and args and args[0].text is not None:
        head, base = posixpath.split(own.text)
        named = args[0].text if kind == "with_name" else posixpath.splitext(base)[0] + args[0].text
        return path(posixpath.join(head, named), raw, own)
    if kind in {"home", "home_text"}:
        return path("~", raw) if kind == "home" else constant("~")
    if kind == "list_join" and args and args[0].known and isinstance(args[0].data, list) and own.text is not None:
        items = args[0].data
        if all(i.text is not None for i in items) and _fits(i.text + own.text for i in items):
            return constant(own.text.join(i.text for i in items), taints(own, *args))
    if kind in {"join_list", "join_plain"} and own.known and isinstance(own.data, list):
        mark = args[0].text if args else None
        comma = mark if mark is not None else "," if kind == "join_list" else ""
        if all(i.text is not None for i in own.data) and _fits(i.text + comma for i in own.data):
            return constant(comma.join(i.text for i in own.data), taints(own, *args))
    if kind == "chars" and args and args[0].known:  # a list of letters, of a text or of numbers
        letters = args[0].data if isinstance(args[0].data, list) else [constant(c) for c in args[0].text or ""]
        chars = [v if v.text is not None else fold("chr", own, [v], raw) for v in letters[:MAX_TEXT]]
        return Value(known=True, data=chars, raw=raw, taint=taints(*args), decoded=args[0].text is None)
    if kind == "chr" and args and all(a.known and isinstance(a.data, int) and 0 <= a.data < 0x110000 for a in args):
        return constant("".join(chr(a.data) for a in args), taints(*args), decoded=True)
    if kind == "words" and args and args[0].text is not None:  # shlex's
        try:
            spelled = shlex.split(args[0].text[:MAX_TEXT])
        except ValueError:
            return unknown(raw, *args)
        return Value(known=True, data=[constant(w) for w in spelled], raw=raw, taint=taints(*args))
    if kind == "split" and own.text is not None:
        glue = args[0].text if args else None
        pieces = own.text.split(glue) if glue else own.text.split()
        return Value(known=True, data=[constant(p) for p in pieces], raw=raw, taint=taints(own))
    if kind == "format" and own.text is not None:
        return _format(own.text, args, raw)
    if kind == "parent" and own.text is not None:
        return path(posixpath.dirname(own.text) or ".", raw, own)
    if kind == "path_join" and own.text is not None and all(a.text is not None for a in args):
        return path(posixpath.join(own.text, *[a.text or "" for a in args]), raw, own, *args)
    return unknown(raw, own, *args)


def _cut(of: Value, bounds: Sequence[Value], raw: str) -> Value:
    numbers = [b.data for b in bounds if b.known and isinstance(b.data, int)]
    if not numbers or len(numbers) != len(bounds):
        return unknown(raw, of, *bounds)
    start = numbers[0] if numbers[0] >= 0 else max(0, len(of.text or "") + numbers[0])
    length = numbers[1] if len(numbers) > 1 else None
    end = None if length is None else length if length < 0 else start + length
    return constant((of.text or "")[start:end], taints(of), decoded=of.decoded)


_WIDE = re.compile(r"\d{4}|\*")  # a width that would make the text, not the program, long


def _some(own: Value, bounds: Sequence[Value], raw: str) -> Value:
    """Part of a list: of a pattern's members all can be in it; else what plain numbers cut out."""
    if are_patterns(own.data):
        return own
    if not bounds or not all(b.known and isinstance(b.data, int) for b in bounds):
        return unknown(raw, own)
    cut = slice(bounds[0].data, bounds[1].data if len(bounds) > 1 else None)
    return Value(known=True, data=own.data[cut], raw=raw, taint=taints(own))


def _percent(text: str, right: Value, raw: str) -> Value:
    values = right.data if right.known and isinstance(right.data, list) else [right]
    wide = any(_WIDE.search(found) for found in re.findall(r"%[^a-zA-Z%]*", text))
    known = all(isinstance(v, Value) and _is_plain(v) for v in values)
    if wide or not known or not _fits((text, *(str(v.data) for v in values))):
        return replace(unknown(raw, right), shape=re.sub(r"%[-\d.]*[sdrif]", "$ARG", text))
    try:
        return constant(text % tuple(v.data for v in values), right.taint)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return unknown(raw, right)


_SPECIFIED = re.compile(r"\{[^{}]*[:!.\[][^{}]*\}")  # a field with more than its number or name


def _format(text: str, args: Sequence[Value], raw: str) -> Value:
    short = text.count("{") * max((len(str(a.data)) for a in args if _is_plain(a)), default=0) <= MAX_TEXT
    if not short or not all(map(_is_plain, args)) or _SPECIFIED.search(text) is not None:
        return replace(unknown(raw, *args), shape=re.sub(r"\{[^{}]*\}", "$ARG", text))
    try:
        return constant(text.format(*[a.data for a in args]), taints(*args))
    except (LookupError, ValueError, TypeError):
        return unknown(raw, *args)


def _b64(texts: list[str]) -> str:
    raw = texts[0].strip().translate(str.maketrans("-_", "+/"))
    data = base64.b64decode(raw + "=" * (-len(raw) % 4))
    return data.decode("utf-16-le" if b"\0" in data[:4] else "utf-8")


def _is_plain(value: Value) -> bool:
    """A text or a number; lists within lists are as long as one likes when written out."""
    return value.known and not isinstance(value.data, list | dict)


def _fits(texts: Iterable[str]) -> bool:
    """Whether all of them together are no longer than any program: doubled a few times a text fills the memory."""
    room = MAX_TEXT
    for text in texts:
        room -= len(text)
        if room < 0:
            return False
    return True


def _replaced(text: str, old: str, new: str) -> str | None:
    """None where what comes out would be much longer than any program."""
    grown = len(text) + text.count(old) * (len(new) - len(old))
    return text.replace(old, new) if grown <= MAX_TEXT else None


TEXT_KINDS: dict[str, Callable[[list[str]], str | None]] = {
    "b64": _b64,
    "hex": lambda texts: bytes.fromhex(texts[0]).decode("utf-8"),
    "rot13": lambda texts: codecs.decode(texts[0], "rot13"),
    "codec": lambda texts: (
        codecs.decode(texts[0], "rot13") if "rot" in texts[-1] else _b64(texts) if "64" in texts[-1] else None
    ),
    "text": lambda texts: texts[0],
    "reverse": lambda texts: texts[0][::-1],
    "lower": lambda texts: texts[0].lower(),
    "upper": lambda texts: texts[0].upper(),
    "strip": lambda texts: texts[0].strip(*texts[1:2]),
    "lstrip": lambda texts: texts[0].lstrip(*texts[1:2]),
    "rstrip": lambda texts: texts[0].rstrip(*texts[1:2]),
    "replace": lambda texts: _replaced(texts[0], texts[1], texts[2]),
    "replace_in": lambda texts: _replaced(texts[2], texts[0], texts[1]),
    "unquote": lambda texts: unquote(texts[0]),
    "concat": "".join,
    "text_join": lambda texts: posixpath.join(*texts),
    "slash_join": lambda texts: posixpath.normpath("/".join(filter(None, texts))),
    "windows_join": lambda texts: ntpath.join(*texts),
    "dirname": lambda texts: posixpath.dirname(texts[0]),
    "basename": lambda texts: posixpath.basename(texts[0]),
    "windows_basename": lambda texts: ntpath.basename(texts[0].rstrip("\\/")),
    "windows_stem": lambda texts: ntpath.splitext(ntpath.basename(texts[0]))[0],
    "windows_extension": lambda texts: ntpath.splitext(texts[0])[1],
    "windows_dirname": lambda texts: ntpath.dirname(texts[0]) or ".",
    "normpath": lambda texts: posixpath.normpath(texts[0]),
}
_DECODING = frozenset({"b64", "hex", "rot13", "codec"})
