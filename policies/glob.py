"""Globs in linear time: ``*`` and ``?`` within a segment, ``**`` for any number of whole segments (none included).

In: a pattern. Out: a matcher. There are no character classes, braces or back references, so no pattern can be made
slow: a segment's stars become atomic groups (``fnmatch.translate`` since 3.11), ``**`` needs one remembered place.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Sequence
from functools import lru_cache

Segment = str | Callable[[str], object] | None  # a literal, a matcher, or None for **


def is_glob(text: str) -> bool:
    return "*" in text or "?" in text


@lru_cache(maxsize=16384)
def segment(pattern: str) -> str | Callable[[str], object]:
    """A literal comes back as itself (compare with ==), a glob as a function of the whole segment."""
    if not is_glob(pattern):
        return pattern
    return re.compile(fnmatch.translate(re.sub(r"\*+", "*", pattern).replace("[", "[[]"))).match


def matches(part: str | Callable[[str], object], text: str) -> bool:
    return part == text if isinstance(part, str) else part(text) is not None


def segments(pattern: str) -> tuple[Segment, ...]:
    """``/a/*/**`` as its segments; neighbouring ``**`` are one."""
    parts = [None if s == "**" else segment(s) for s in pattern.split("/")]
    return tuple(p for i, p in enumerate(parts) if p is not None or i == 0 or parts[i - 1] is not None)


def match_segments(parts: Sequence[Segment], texts: Sequence[str]) -> bool:
    """Greedy with one place to come back to: each ``**`` takes as little as lets the next ``**`` be reached."""
    i = j = mark = 0
    star = -1
    n, end = len(parts), len(texts)
    while j < end:
        part = parts[i] if i < n else ""
        if part is None:
            star, mark = i, j
            i += 1
        elif i < n and (part == texts[j] if isinstance(part, str) else part(texts[j]) is not None):
            i += 1
            j += 1
        elif star >= 0:
            mark += 1
            i, j = star + 1, mark
        else:
            return False
    return all(p is None for p in parts[i:])


def reach(parts: Sequence[Segment], texts: Sequence[str], start: Sequence[int] = (0,)) -> set[int]:
    """Places in ``parts`` that can be stood at after all of ``texts``, from any place of ``start``; empty: no match."""
    places = _closure(parts, start)
    for text in texts:
        open_places = [(i, parts[i]) for i in places if i < len(parts)]
        step = [i if part is None else i + 1 for i, part in open_places if part is None or matches(part, text)]
        places = _closure(parts, step)
        if not places:
            break
    return places


def _closure(parts: Sequence[Segment], places: Sequence[int]) -> set[int]:
    out = set(places)
    out.update(i + 1 for i in places if i < len(parts) and parts[i] is None)
    return out


@lru_cache(maxsize=16384)
def text_glob(pattern: str, *, fold: bool = True) -> Callable[[str], bool]:
    """A glob over plain words (tool names, agents, hosts): ``*`` matches anything, slashes too; case folded."""
    part = segment(pattern.casefold() if fold else pattern)
    if isinstance(part, str):
        return (lambda text: text.casefold() == part) if fold else (lambda text: text == part)
    return (lambda text: part(text.casefold()) is not None) if fold else (lambda text: part(text) is not None)
