"""Frames to calls. A provider is one file here exposing ``PROVIDER``, found by ``discover``.

Detection looks at the request body and the response's shape first; path and host are hints (05-wire fact 2).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from proxy.events import Event
from proxy.exchange import Ending, Exchange
from proxy.wire import Frame


class Assembly(Protocol):
    """State of one exchange (or one socket). Bounded: see each provider."""

    def request(self, exchange: Exchange) -> Iterable[Event]:
        """Called once when the request body is complete and parsed (``exchange.request_json``)."""

    def frame(self, frame: Frame) -> Iterable[Event]:
        """Called per frame, in order; on sockets for both sides (``frame.side``)."""

    def close(self, ending: Ending) -> Iterable[Event]:
        """Called once. What is still open becomes an incomplete call."""


class Provider(Protocol):
    """Optional: ``markers``, without one of which a stream's frames are passed over; ``slow``: ``claims`` walks bodies;
    ``reads_ahead``: what ``Assembly.request`` does is its events alone (it remembers nothing outside, nor looks at the
    reply), so that it may be called before it is known whose the exchange is. A dialect reads as its base does.
    """

    name: str  # the api name, e.g. "anthropic-messages"
    dialect_of: str | None  # groq-chat is a dialect of openai-chat

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        """0: not ours; otherwise a confidence, the highest wins. ``first`` is None until the response began."""

    def open(self, exchange: Exchange) -> Assembly: ...
