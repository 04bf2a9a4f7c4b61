"""How what a pattern means and what a target stands for overlap: missed, touched, covered, or not to be said.

In: a pattern's segments and a target's. Out: a ``Relation``. A deep target stands for itself and all below it; a target
may have globs of its own, which could expand to anything they match.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from policies.glob import Segment, is_glob, matches, reach, text_glob
from policies.target import Target


class Relation(Enum):
    MISS = 0
    TOUCHES = 1
    COVERS = 2
    UNKNOWN = 3


def relate_parts(parts: tuple[Segment, ...], texts: list[str], target: Target) -> Relation:
    """The general case: the target may be deep, and may have globs of its own."""
    sure = reach(parts, texts)
    if target.deep:
        if any(i < len(parts) and parts[i] is None and i + 1 == len(parts) for i in sure):
            return Relation.COVERS
        if any(_named(parts, i) for i in sure):
            return Relation.TOUCHES
        if sure:  # only a ** could reach further down: whether there is such a thing below is not known
            return Relation.UNKNOWN
    elif accepts(parts, sure):
        return Relation.COVERS
    if not any(map(is_glob, texts)):
        return Relation.MISS
    maybe = _reach_wild(parts, texts)
    if not maybe or not (target.deep or accepts(parts, maybe)):
        return Relation.MISS
    whole = all(t == "*" for t in texts if is_glob(t))
    return Relation.TOUCHES if target.deep and whole and texts[-1] == "*" else Relation.UNKNOWN


def _named(parts: tuple[Segment, ...], place: int) -> bool:
    """The place was reached by naming it, not by a ** that may hold anything."""
    return place == len(parts) or (parts[place] is not None and (place == 0 or parts[place - 1] is not None))


def accepts(parts: tuple[Segment, ...], places: set[int]) -> bool:
    return len(parts) in places


def _reach_wild(parts: tuple[Segment, ...], texts: list[str]) -> set[int]:
    """Like reach, with the target's own globs taken as anything they could expand to."""
    places = reach(parts, ())
    for text in texts:
        step: set[int] = set()
        for i in places:
            part = parts[i] if i < len(parts) else ""
            if i < len(parts) and (part is None or _overlaps(part, text)):
                step |= reach(parts, (), (i if part is None else i + 1,))
        places = step
    return places


def _overlaps(part: str | Callable[[str], object], text: str) -> bool:
    if not is_glob(text):
        return matches(part, text)
    return text_glob(text, fold=False)(part) if isinstance(part, str) else True
