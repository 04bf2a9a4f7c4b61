"""Fold constants: values in, a value out. Unknown parts keep the raw text and the taint."""

from __future__ import annotations

import binascii
import posixpath
from collections.abc import Sequence
from dataclasses import replace

from classifiers.code.filling import MAX_TEXT, fits, formatted, percent
from classifiers.code.kinds import KINDS, MAX_LIST
from classifiers.code.listings import LISTINGS, path
from classifiers.code.textkinds import DECODING, TEXT_KINDS
from classifiers.code.values import Value, constant, hole, taints, unknown


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
        return formatted(left.text, right.data if right.known and isinstance(right.data, list) else [right], raw)
    if op == "join":
        return fold("join_list", left, [right], raw)
    if op == "split":
        return fold("split", left, [right], raw)
    if op == "replace" and right.known and isinstance(right.data, list):
        return fold("replace", left, right.data, raw)
    if op == "%" and left.text is not None:
        return percent(left.text, right, raw)
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
    if not found.known and (kind in DECODING or own.decoded or any(a.decoded for a in args)):
        return replace(found, decoded=True)
    return found


def _folded(kind: str, own: Value, args: Sequence[Value], raw: str) -> Value:
    if kind in TEXT_KINDS and (text := _of_texts(kind, own, args)) is not None:
        return text
    if kind in LISTINGS:
        return LISTINGS[kind](own, args, raw)
    found = KINDS[kind](own, args, raw) if kind in KINDS else None
    return unknown(raw, own, *args) if found is None else found


def _of_texts(kind: str, own: Value, args: Sequence[Value]) -> Value | None:
    given = [own, *args] if own.known else list(args)
    texts = [v.text for v in given if v.known and v.text is not None]
    if len(texts) != len(given) or not texts or not fits(texts):
        return None
    try:
        found = TEXT_KINDS[kind](texts)
    except (ValueError, binascii.Error, UnicodeError, IndexError, LookupError):
        return None
    if found is None or len(found) > MAX_TEXT:
        return None
    return constant(found, taints(own, *args), decoded=kind in DECODING or any(v.decoded for v in given))
