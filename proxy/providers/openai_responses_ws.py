"""OpenAI Responses on a WebSocket: the client's ``response.create``, the same server events, several streams at once.

``stream_id`` keeps several conversations on one socket apart; each has a state of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.events import Event, Facts
from proxy.exchange import Ending, Exchange, Side
from proxy.providers._calls import fields, text
from proxy.providers._responses_stream import ResponsesAssembly
from proxy.providers.openai_responses import PROVIDER as RESPONSES
from proxy.wire import Frame

NAME = "openai-responses-ws"
STREAMS_CAP = 256
_ASKS = ("response.create", "response.append")


class SocketAssembly:
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._streams: dict[str, ResponsesAssembly] = {}

    def request(self, exchange: Exchange) -> Iterator[Event]:  # noqa: ARG002 - the upgrade request says nothing
        yield Facts({"protocol": NAME})

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.error is not None or not isinstance(data, dict):
            return
        key = text(data.get("stream_id"))
        stream = self._streams.get(key)
        if stream is None and frame.side is Side.RESPONSE and not _begins(data):
            return
        if stream is None:
            stream = self._streams[key] = ResponsesAssembly(NAME, key or None)
        if frame.side is Side.RESPONSE:
            yield from stream.frame(frame)
        elif data.get("type") in _ASKS:
            inner = fields(data.get("response"))
            yield from stream.ask(self._exchange, inner if inner and "input" not in data else data)
        if len(self._streams) > STREAMS_CAP:
            oldest = next(iter(self._streams))
            yield from self._streams.pop(oldest).close(Ending.TRUNCATED)

    def close(self, ending: Ending) -> Iterator[Event]:
        for stream in self._streams.values():
            yield from stream.close(ending)


class _Provider:
    name = NAME
    dialect_of: str | None = None
    markers = RESPONSES.markers

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if not exchange.websocket or first is None:
            return 0
        return 60 if _ours(fields(first.data), first.side) else 0

    def open(self, exchange: Exchange) -> SocketAssembly:
        return SocketAssembly(exchange)


def _begins(data: dict[str, Any]) -> bool:
    """Text alone is passed over in runs, so it may not open a stream's state either."""
    kind = text(data.get("type"))
    told = "response" in data or data.get("object") == "response"
    return told or kind == "error" or "output_item" in kind or "_call" in kind


def _ours(data: dict[str, Any], side: Side) -> bool:
    """Realtime says ``session.*`` first and nests differently; here the first word is a create that has input."""
    kind = text(data.get("type"))
    if side is Side.REQUEST:
        inner = fields(data.get("response"))
        return kind in _ASKS and ("input" in data or "input" in inner)
    return kind.startswith("response.") and fields(data.get("response")).get("object") == "response"


PROVIDER = _Provider()
