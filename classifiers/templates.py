"""Effect notation with holes: what a knowledge table says a call does, filled from one call's arguments.

In: a line such as ``delete filesystem:{path:path} recursive`` and a way to look argument names up.
Out: an Effect with the holes replaced by a canonical target, or None when an optional argument is absent.

A hole is ``{kind:key}``; kinds are ``path`` (a file path, alone), ``host`` (host and port of a URL or address),
``text``, and of two arguments ``beside`` (``{beside:old>new}``: the new name in the folder of the old) and ``below``
(``{below:folder>name}``: the name, when there is one, in the folder). ``{kind:key?}`` drops the effect when the
argument is absent; ``{kind:key=value}`` gives a default.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache

from classifiers.address import host_of
from classifiers.context import Context
from classifiers.effects import Effect
from classifiers.paths import located

_PATHS = frozenset({"path", "beside", "below"})
_HOLE = re.compile(r"\{(path|host|text|beside|below):([^{}?=]+)(\?|=[^{}]*)?\}")


@dataclass(frozen=True, slots=True)
class Given:
    """One argument: ``text`` None means present but not readable before it runs; ``raw`` is how it was written."""

    text: str | None
    raw: str = ""


Lookup = Callable[[str], "Given | None"]


@dataclass(frozen=True, slots=True)
class Hole:
    kind: str
    key: str
    optional: bool = False
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """``texts`` surround ``holes``: one more text than holes."""

    effect: Effect
    texts: tuple[str, ...] = ()
    holes: tuple[Hole, ...] = ()


@cache
def template(line: str) -> Template:
    """Read one table line. Raises ValueError for a word outside the vocabulary."""
    effect = Effect.parse(line)
    pieces = _HOLE.split(effect.target or "")
    holes = [
        Hole(kind, key, tail == "?", tail[1:] if tail and tail[0] == "=" else None)
        for kind, key, tail in zip(pieces[1::4], pieces[2::4], pieces[3::4], strict=True)
    ]
    return Template(effect, tuple(pieces[0::4]), tuple(holes))


def fill(line: str, lookup: Lookup, context: Context) -> Effect | None:
    """The effect of ``line`` for one call."""
    t = template(line)
    if not t.holes:
        return t.effect
    found = [_given(hole, lookup) for hole in t.holes]
    if any(given is None and hole.optional for given, hole in zip(found, t.holes, strict=True)):
        return None
    values = [_value(given, hole) for given, hole in zip(found, t.holes, strict=True)]
    if None in values:
        raw = next((g.raw or g.text for g, v in zip(found, values, strict=True) if v is None and g is not None), None)
        return replace(t.effect, target=None, target_raw=raw)
    if t.holes[0].kind in _PATHS:
        return located(replace(t.effect, target=str(values[0])), context)
    target = t.texts[0] + "".join(f"{v}{after}" for v, after in zip(values, t.texts[1:], strict=True))
    return replace(t.effect, target=target)


def fill_all(lines: Iterable[str], lookup: Lookup, context: Context) -> list[Effect]:
    return [e for e in (fill(line, lookup, context) for line in lines) if e is not None]


def _given(hole: Hole, lookup: Lookup) -> Given | None:
    given = lookup(hole.key) if hole.kind not in {"beside", "below"} else _joined(hole, lookup)
    return Given(hole.default, hole.default) if given is None and hole.default is not None else given


def _joined(hole: Hole, lookup: Lookup) -> Given | None:
    """The path that two arguments make together."""
    first, _mark, second = hole.key.partition(">")
    place, name = lookup(first), lookup(second)
    if hole.kind == "below" and (place is None or name is None):
        return place or name
    if place is None or name is None:
        return name
    if not place.text or not name.text:
        return Given(None, name.raw if place.text else place.raw or name.raw)
    folder = place.text.rstrip("/\\") if hole.kind == "below" else _folder(place.text)
    if re.match(r"[/\\]|[A-Za-z]:", name.text) or not (folder or place.text.startswith("/")):
        return name
    return Given(f"{folder}{'/' if '/' in place.text else _SEPARATOR}{name.text}", name.raw)


_SEPARATOR = "\\"  # these holes are for Windows' programs; a path that shows its own separator keeps it


def _folder(path: str) -> str:
    return re.sub(r"[/\\]?[^/\\]*$", "", path.rstrip("/\\"))


def _value(given: Given | None, hole: Hole) -> str | None:
    if given is None or not given.text:
        return "" if given is not None and given.text == hole.default == "" else None
    return host_of(given.text) if hole.kind == "host" and given.text != "*" else given.text
