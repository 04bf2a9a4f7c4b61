"""Texts every line that passes a filter must hold: what lets a search skip a line without parsing it.

In: filters. Out: groups of byte strings; a line passes only if it holds one of each group (the reverse is not so: what
is left is judged in full). A filter that no text follows from gives no group.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from audit.columns import COLUMNS
from audit.json_text import encode
from audit.summary import SEVERITIES

Needles = tuple[tuple[bytes, ...], ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty: not asked. Effect, domain and target must hold of one effect; globs are ``*`` and ``?``."""

    since: str | None = None
    until: str | None = None
    equal: Mapping[str, str] = field(default_factory=dict)  # column → value
    glob: Mapping[str, str] = field(default_factory=dict)  # column → glob
    action: str | None = None
    domain: str | None = None
    target: str | None = None
    rule: str | None = None
    least_severity: str | None = None


# Columns whose value is our own string wherever there is one, with its key: both can stand in the needle.
_KEYS = {column: column for column in ("kind", "verdict", "outcome", "surface", "reversibility")} | {"session": "id"}


def needles(filters: Filters) -> Needles:
    return tuple(dict.fromkeys(_groups(filters)))


def holds(line: bytes, groups: Needles) -> bool:
    return all(any(needle in line for needle in group) for group in groups)


def matching(data: bytes, groups: Needles, start: int = 0) -> Iterator[bytes]:
    """The whole lines of ``data`` from offset ``start`` that can pass, LF removed."""
    end = data.rfind(b"\n") + 1  # a last line without LF is still being written
    rarest = max(groups, key=lambda group: (len(group) == 1, min(map(len, group))), default=(b"",))
    places = {needle: data.find(needle, start, end) for needle in rarest}
    while (found := min((p for p in places.values() if p >= 0), default=end)) < end:
        begin = data.rfind(b"\n", start, found) + 1 or start
        stop = data.index(b"\n", found)
        line = data[begin:stop]
        if holds(line, groups):
            yield line
        start = stop + 1
        places |= {n: data.find(n, start, end) for n, p in places.items() if 0 <= p < start}


def _groups(filters: Filters) -> Iterator[tuple[bytes, ...]]:
    for column, value in filters.equal.items():
        yield from [(_pair(_KEYS[column], value),)] if column in _KEYS else _inner([value] if _is_text(column) else [])
    for key, word in (("action", filters.action), ("domain", filters.domain)):
        if word:
            yield (_pair(key, word),)
    globs = (*(glob for column, glob in filters.glob.items() if _is_text(column)), filters.target, filters.rule)
    for glob in globs:
        yield from _inner(_fixed_parts(glob or ""))
    if filters.least_severity:
        yield tuple(_pair("severity", s) for s in SEVERITIES[SEVERITIES.index(filters.least_severity) :])


def _is_text(column: str) -> bool:
    """Stands in the line as it is asked for; other columns are worked out, or numbers and flags."""
    kind, path = COLUMNS.get(column, ("", None))
    return kind == "text" and path is not None


def _pair(key: str, value: str) -> bytes:
    return b'"%s":%s' % (key.encode(), encode(value))


def _inner(texts: Iterable[str]) -> Iterator[tuple[bytes, ...]]:
    """Without quotes, since a wire may have put a number or an object there; what JSON escapes differs then."""
    yield from ((encode(t)[1:-1],) for t in texts if t and encode(t)[1:-1] == t.encode("utf-8", "replace"))


def _fixed_parts(glob: str) -> Sequence[str]:
    """What stands between the wildcards; a set in brackets is left to the search itself."""
    return () if "[" in glob or "\\" in glob else re.split(r"[*?]+", glob)
