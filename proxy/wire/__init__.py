"""Bytes to frames. Sans-IO: ``feed`` takes any split, ``close`` says the stream ended; both bounded in memory.

A framing is one file here exposing ``FRAMING``; ``discover("proxy.wire", "FRAMING")`` finds it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Protocol

from proxy.exchange import Exchange, Side


@dataclass(frozen=True, slots=True)
class Frame:
    """One unit of a body. ``data`` is parsed JSON where the framing carries JSON, else text or bytes.

    ``whole`` True: the frame is the entire body (a plain JSON reply). ``event``: the SSE or event-stream name.
    ``error``: why ``data`` could not be parsed (``data`` then holds the raw text or bytes).
    """

    data: Any
    event: str = ""
    whole: bool = False
    error: str | None = None
    side: Side = Side.RESPONSE
    size_bytes: int = 0


class Mark(Protocol):
    """What a provider must not miss, looked for in bytes before they are parsed: a compiled pattern, or like one."""

    def search(self, seen: bytes | bytearray, start: int = 0, end: int = sys.maxsize, /) -> object:
        """Something true when it is there."""


class Decoder(Protocol):
    def feed(self, data: bytes) -> list[Frame]:
        """Frames completed by these bytes."""

    def close(self, *, clean: bool) -> list[Frame]:
        """What the end of the body completes; an unfinished rest comes as a Frame with ``error``."""


class Framing(Protocol):
    name: str

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:
        """0: no; otherwise a rank, the highest wins."""

    def open(self, exchange: Exchange, side: Side) -> Decoder: ...
