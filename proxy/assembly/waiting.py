"""A large request whose answer has not begun, made small: the parsed body in, what its readers will want of it kept.

Who reads an exchange is often settled by the answer, minutes later. Until then the parsed tree is let go: every model
API that may be meant reads the request ahead and keeps its events, and an outline stays for ranking. A request nobody
recognises alone, or whose reading has effects of its own, is kept whole and compressed.
"""

from __future__ import annotations

import pickle
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import zstandard

from proxy.assembly.choose import claims
from proxy.events import Event
from proxy.exchange import Exchange, Head
from proxy.providers import Assembly, Provider
from proxy.wire.json_text import dump, parse

FROM = 32 << 10  # bytes of body; smaller ones stay as they are
OUTLINE = 64 << 10  # bytes of memory, about
_CUT = 256  # characters of a string that a rank may look at
_ITEMS = 32  # of one list: long histories must not use up what the tool list needs
_ENTRY, _HOLDER = 60, 250  # bytes of memory, about, of a value in a container and of a container

Opened = tuple[Assembly | None, list[Event]]
Open = Callable[[Provider], Opened]


@dataclass(slots=True)
class Waiting:
    """``ahead``: by ``reading_of`` the opened assembly and its packed events, the likeliest first.

    ``whole``: the packed body.
    """

    ahead: dict[str, tuple[Assembly | None, bytes]] = field(default_factory=dict)
    whole: bytes = b""

    def take(self, provider: Provider) -> Opened | None:
        """What ``provider`` read ahead, None when it did not."""
        found = self.ahead.get(reading_of(provider))
        return None if found is None else (found[0], _events(found[1]))

    def likeliest(self) -> tuple[str, list[Event]]:
        """What the API that the request alone looked most like read of it."""
        name, (_, events) = next(iter(self.ahead.items()))
        return name, _events(events)

    def restore(self, exchange: Exchange) -> None:
        """The parsed body again, where it was kept whole."""
        if self.whole:
            exchange.request_json, self.whole = parse(_unpacked(self.whole))[0], b""


def wait(exchange: Exchange, open_: Open) -> Waiting:
    """Make ``exchange.request_json`` small; ``open_`` opens a provider and lets it read the request."""
    body, found = exchange.request_json, _may_be_meant(exchange)
    small = exchange.request_json = outline(body)
    known = bool(found) and all(getattr(provider, "reads_ahead", False) for _, provider in found)
    if not known or _may_be_meant(exchange) != found:  # what says whose it is lies too deep, or behind too much
        exchange.request_json = None
        return Waiting(whole=_packed(dump(body)))
    exchange.request_json = body
    waiting = Waiting()
    for _, provider in found:
        if reading_of(provider) not in waiting.ahead:
            assembly, events = open_(provider)
            waiting.ahead[reading_of(provider)] = assembly, _packed(pickle.dumps(events, protocol=5))
    exchange.request_json = small
    return waiting


def _may_be_meant(exchange: Exchange) -> list[tuple[int, Provider]]:
    """Who claims the request, best first, those included that say nothing before an answer has begun."""
    begun = exchange.response
    exchange.response = begun or Head(status=200)
    try:
        return claims(exchange, None)
    finally:
        exchange.response = begun


def reading_of(provider: Provider) -> str:
    """A dialect reads requests as its base does."""
    return provider.dialect_of or provider.name


def outline(body: Any) -> Any:
    """The body's upper levels with its strings cut, what lies higher first, until ``OUTLINE`` is spent."""
    left = OUTLINE
    copy: Any = type(body)()
    level = deque([(body, copy)])
    while level:
        source, into = level.popleft()
        for key, value in source.items() if isinstance(source, dict) else enumerate(source[:_ITEMS]):
            small: Any = value
            if isinstance(value, (dict, list)):
                small = type(value)()
                level.append((value, small))
                left -= _HOLDER
            elif isinstance(value, (str, int)):  # integers have any size
                small = value[:_CUT] if isinstance(value, str) else value
                left -= sys.getsizeof(small)
            left -= _ENTRY + (sys.getsizeof(key) if isinstance(key, str) else 0)
            if left < 0:
                return copy
            if isinstance(into, list):
                into.append(small)
            elif len(str(key)) <= _CUT:
                into[key] = small
    return copy


def _events(packed: bytes) -> list[Event]:
    events: list[Event] = pickle.loads(_unpacked(packed))  # noqa: S301 - our own: in memory, or from our own snapshot
    return events


def _packed(data: bytes) -> bytes:
    squeezed = zstandard.ZstdCompressor(level=1).compress(data)
    return bytes(memoryview(squeezed))  # a copy: zstandard's own keeps all the room that was set aside for it


def _unpacked(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data)
