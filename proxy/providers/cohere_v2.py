"""Cohere v2 chat: ``tool-call-start/-delta/-end`` events (an object, not a list) or a whole message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proxy.events import Event, Facts
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import fields, ident, known, patterns, rows, short, text
from proxy.providers._chat_request import request_events
from proxy.providers._chat_slots import Slots
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "cohere-v2"
_EVENTS = frozenset(
    f"{what}-{when}" for what in ("message", "content", "tool-call", "citation") for when in ("start", "delta", "end")
) | {"tool-plan-delta"}


class CohereAssembly:
    def __init__(self) -> None:
        self._slots = Slots(0)

    def request(self, exchange: Exchange) -> Iterator[Event]:
        return request_events(fields(exchange.request_json), NAME)

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.error is not None or not isinstance(data, dict):
            return
        kind = text(data.get("type"))
        if not kind:
            yield from self._whole(data, frame)
        elif kind in ("tool-call-start", "tool-call-delta"):
            call = fields(fields(fields(data.get("delta")).get("message")).get("tool_calls"))
            self._slots.add({**call, "index": ident(data.get("index", 0))})
        elif kind == "tool-call-end":
            yield from self._slots.close_index(ident(data.get("index", 0)))
        elif kind == "message-end":
            yield from self._end(fields(data.get("delta")))
        elif kind == "message-start" and text(data.get("id")):
            yield Facts({"response_id": data["id"]})

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - what is open is cut off, however it ended
        yield from self._slots.cut_off()

    def _whole(self, data: dict[str, Any], frame: Frame) -> Iterator[Event]:
        message = data.get("message")
        if isinstance(message, str) and frame.whole:
            yield Facts({"error": short(message)})
        for call in rows(fields(message).get("tool_calls")):
            self._slots.add(call)
        yield Facts(known(response_id=text(data.get("id"))))
        yield from self._slots.close(cut=False, known_end=True)
        yield from self._end(data)

    def _end(self, data: dict[str, Any]) -> Iterator[Event]:
        said = fields(data.get("usage"))
        counts = usage(said.get("tokens"))
        counts |= {"cached": said["cached_tokens"]} if isinstance(said.get("cached_tokens"), int) else {}
        yield Facts(known(finish_reason=text(data.get("finish_reason")), usage=counts))
        yield from self._slots.cut_off()


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    markers = patterns(rb"tool-call", rb"message-start", rb"message-end", rb"tool_calls", rb"error", rb"\\u")

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        rank = 0
        if first is not None and isinstance(first.data, dict):
            data = first.data
            whole = "finish_reason" in data and "role" in fields(data.get("message")) and "choices" not in data
            rank += 60 * (text(data.get("type")) in _EVENTS or whole)
        asked = isinstance(fields(exchange.request_json).get("messages"), list)
        return rank + 15 * (asked and exchange.request.path.endswith("/v2/chat"))

    def open(self, exchange: Exchange) -> CohereAssembly:  # noqa: ARG002 - the provider signature
        return CohereAssembly()


PROVIDER = _Provider()
