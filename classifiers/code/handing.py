"""Hand an argument to another surface, and bring its effects back to the call."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from classifiers.code.library import Known
from classifiers.code.values import Value, hole
from classifiers.effects import Action, Certainty, OpaqueReason
from classifiers.gather import decoded
from classifiers.surface import CallParts, surface_named

if TYPE_CHECKING:
    from classifiers.code.calls import Site

MAX_DEPTH = 6


def role_of(site: Site, known: Known, role: str) -> Value | None:
    key = known.roles.get(role)
    return None if key is None else site.argument(key)


def asked(site: Site, name: str, values: dict[str, Any]) -> Action | None:
    """Another surface's reading of a payload; None when it is none of its own, or stands too deep."""
    reader, depth = surface_named(name), len(site.reader.reading) + 1
    if reader is None or depth > MAX_DEPTH:
        return None
    return reader.classify(CallParts(name, values, depth=depth), site.reader.context)


def to_surface(site: Site, name: str, values: dict[str, Any], given: Value) -> Value | None:
    out, action = site.reader.out, asked(site, name, values)
    if action is None:
        deep = len(site.reader.reading) >= MAX_DEPTH
        out.hide(OpaqueReason.DEPTH_CAP if deep else OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
        return None
    made = out.absorb(action, span=site.span, certainty=Certainty.DECODED if given.decoded else None)
    if given.decoded and made:
        decoded(out, min(made))
    return Value(raw=site.raw, taint=site.taint | frozenset(made))


def literal_words(value: Value) -> list[str] | None:
    """A literal vector of known words."""
    if not (value.known and isinstance(value.data, list) and value.data):
        return None
    texts = [str(v.data) if v.known and isinstance(v.data, int) else v.text for v in value.data]
    return None if None in texts else [t for t in texts if t is not None]


def spelled(value: Value) -> str | None:
    """A vector with unknown members as shell text, the unknown ones as variables."""
    if not (value.known and isinstance(value.data, list) and value.data):
        return None
    return " ".join(shlex.quote(v.text) if v.text is not None else f'"{hole(v)}"' for v in value.data)
