"""The argument texts of a call, cut where evidence begins and ends.

In: a record's arguments and effects. Out: one ``Leaf`` per text: its path, and pieces each with the effects read there.
Spans count code points of the decoded text (09-contracts 27), so a Python string is cut by them as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import orjson

from audit.scrub import argument_path
from proxy.review.lines import Record

MAX_LEAVES = 100
MAX_TEXT = 20_000  # characters shown of one text


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    effects: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """``cut``: characters not shown."""

    path: str
    pieces: tuple[Piece, ...]
    cut: int


def leaves_of(record: Record) -> list[Leaf]:
    """Empty when the record does not keep the arguments."""
    call = record["call"]
    if call.get("arguments") is None:
        text = call.get("arguments_text")
        return [Leaf("not JSON", (Piece(text[:MAX_TEXT], ()),), max(0, len(text) - MAX_TEXT))] if text else []
    spans: dict[tuple[Any, ...], list[tuple[int, int, int]]] = {}
    for number, effect in enumerate(record["classification"].get("effects") or ()):
        if evidence := effect.get("evidence"):
            place = argument_path(evidence["path"])[2:]
            spans.setdefault(place, []).append((evidence["start"], evidence["end"], number))
    out = []
    for path, value in _walk(call["arguments"], ()):
        text = value if isinstance(value, str) else orjson.dumps(value).decode()
        shown = text[:MAX_TEXT]
        pieces = tuple(_pieces(shown, spans.get(path, ())))
        out.append(Leaf(_written(path), pieces, len(text) - len(shown)))
        if len(out) >= MAX_LEAVES:
            break
    return out


def _walk(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from _walk(inner, (*path, name))
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _walk(inner, (*path, number))
    else:
        yield path, value


def _pieces(text: str, spans: Sequence[tuple[int, int, int]]) -> Iterator[Piece]:
    cuts = sorted({0, len(text), *(min(max(at, 0), len(text)) for start, end, _ in spans for at in (start, end))})
    for start, end in pairwise(cuts):
        effects = tuple(number for first, last, number in spans if first <= start and end <= last)
        yield Piece(text[start:end], effects)


def _written(path: tuple[Any, ...]) -> str:
    parts = (f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return "".join(parts).removeprefix(".") or "arguments"
