"""A large request whose answer has not begun, made small: the parsed body in, what its readers will want of it kept.

Who reads an exchange is often settled by the answer, minutes later. Until then the parsed tree is let go: every model
API that may be meant reads the request ahead and keeps its events, and an outline stays for ranking. A request nobody
recognises alone, or whose reading has effects of its own, is kept whole and compressed.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import zstandard

from proxy.assembly.choose import claims
from proxy.events import Event
from proxy.exchange import Exchange
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
    """``ahead``: by ``reading_of`` the opened assembly and its packed events; ``whole``: the packed body."""

    ahead: dict[str, tuple[Assembly | None, bytes]] = field(default_factory=dict)
    whole: bytes = b""

    def take(self, provider: Provider) -> Opened | None:
        """What ``provider`` read ahead, None when it did not."""
        found = self.ahead.get(reading_of(provider))
        return None if found is None else (found[0], pickle.loads(_unpacked(found[1])))  # noqa: S301 - our own, in memory

    def restore(self, exchange: Exchange) -> None:
        """The parsed body again, where it was kept whole."""
        if self.whole:
            exchange.request_json, self.whole = parse(_unpacked(self.whole))[0], b""


def wait(exchange: Exchange, open_: Open) -> Waiting:
    """Make ``exchange.request_json`` small; ``open_`` opens a provider and lets it read the request."""
    found = [provider for _, provider in claims(exchange, None)]
    body = exchange.request_json
    if not found or not all(getattr(provider, "reads_ahead", False) for provider in found):
        exchange.request_json = None
        return Waiting(whole=_packed(dump(body)))
    waiting = Waiting()
    for provider in found:
        if reading_of(provider) not in waiting.ahead:
            assembly, events = open_(provider)
            waiting.ahead[reading_of(provider)] = assembly, _packed(pickle.dumps(events, protocol=5))
    exchange.request_json = outline(body)
    return waiting


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
            elif isinstance(value, str):
                small = value[:_CUT]
                left -= len(value[:_CUT])
            left -= _ENTRY
            if left < 0:
                return copy
            if isinstance(into, list):
                into.append(small)
            elif len(str(key)) <= _CUT:
                into[key] = small
    return copy


def _packed(data: bytes) -> bytes:
    squeezed = zstandard.ZstdCompressor(level=1).compress(data)
    return bytes(memoryview(squeezed))  # a copy: zstandard's own keeps all the room that was set aside for it


def _unpacked(data: bytes) -> bytes:
    return zstandard.ZstdDecompressor().decompress(data)
