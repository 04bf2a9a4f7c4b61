"""Texts with holes in them: ``"%s.log" % name``, ``"{}/{}".format(a, b)``. Text and values in, a value out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from classifiers.code.values import Value, constant, taints, unknown

MAX_TEXT = 100_000
NO_NAMES: Mapping[str, Value] = {}
_WIDE = re.compile(r"\d{4}|\*")  # a width that would make the text, not the program, long


def percent(text: str, right: Value, raw: str) -> Value:
    values = right.data if right.known and isinstance(right.data, list) else [right]
    wide = any(_WIDE.search(found) for found in re.findall(r"%[^a-zA-Z%]*", text))
    known = all(isinstance(v, Value) and is_plain(v) for v in values)
    if wide or not known or not fits((text, *(str(v.data) for v in values))):
        return replace(unknown(raw, right), shape=re.sub(r"%[-\d.]*[sdrif]", "$ARG", text))
    try:
        return constant(text % tuple(v.data for v in values), right.taint)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return unknown(raw, right)


_SPECIFIED = re.compile(r"\{[^{}]*[:!.\[][^{}]*\}")  # a field with more than its number or name


def formatted(text: str, args: Sequence[Value], raw: str, named: Mapping[str, Value] = NO_NAMES) -> Value:
    every = [*args, *named.values()]
    short = text.count("{") * max((len(str(a.data)) for a in every if is_plain(a)), default=0) <= MAX_TEXT
    if not short or not all(map(is_plain, every)) or _SPECIFIED.search(text) is not None:
        return replace(unknown(raw, *every), shape=re.sub(r"\{[^{}]*\}", "$ARG", text))
    try:
        found = text.format(*[a.data for a in args], **{name: v.data for name, v in named.items()})
    except (LookupError, ValueError, TypeError):
        return unknown(raw, *every)
    return constant(found, taints(*every))


def is_plain(value: Value) -> bool:
    """A text or a number; lists within lists are as long as one likes when written out."""
    return value.known and not isinstance(value.data, list | dict)


def fits(texts: Iterable[str]) -> bool:
    """Whether all of them together are no longer than any program: doubled a few times a text fills the memory."""
    room = MAX_TEXT
    for text in texts:
        room -= len(text)
        if room < 0:
            return False
    return True
