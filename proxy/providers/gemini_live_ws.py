"""Gemini Live on a WebSocket: ``toolCall`` from the server, ``toolResponse`` from the client, cancellations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import Outcome, ToolResult
from proxy.events import Event, Facts, ResultSeen
from proxy.exchange import Ending, Exchange, Side
from proxy.providers._calls import fields, known, patterns, rows, text
from proxy.providers._gemini_parts import Parts, offered, responses
from proxy.providers._usage import usage
from proxy.providers.gemini import PROVIDER as GEMINI
from proxy.wire import Frame

NAME = "gemini-live-ws"
_CLIENT = frozenset(
    {"setup", "toolResponse", "tool_response", "clientContent", "client_content", "realtimeInput", "realtime_input"}
)
_SERVER = frozenset(
    {"setupComplete", "serverContent", "toolCall", "toolCallCancellation", "sessionResumptionUpdate", "goAway"}
)


class LiveAssembly:
    def __init__(self) -> None:
        self._turn = 0
        self._parts = Parts()

    def request(self, exchange: Exchange) -> Iterator[Event]:  # noqa: ARG002 - the upgrade request says nothing
        yield Facts({"protocol": NAME})

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.error is None and isinstance(data, dict):
            yield from self._client(data) if frame.side is Side.REQUEST else self._server(data)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - a call still open was cut off either way
        yield from self._parts.close(complete=False)

    def _client(self, data: dict[str, Any]) -> Iterator[Event]:
        setup = fields(data.get("setup"))
        if setup:
            yield Facts(known(model=text(setup.get("model")).removeprefix("models/")))
            yield offered(setup)
        said = fields(data.get("toolResponse") or data.get("tool_response"))
        answers = rows(said.get("functionResponses") or said.get("function_responses"))
        yield from (ResultSeen(r) for r in responses(answers, {}, source="stream"))

    def _server(self, data: dict[str, Any]) -> Iterator[Event]:
        for call in rows(fields(data.get("toolCall")).get("functionCalls")):
            yield from self._parts.part({"functionCall": call})
        content = fields(data.get("serverContent"))
        for part in rows(fields(content.get("modelTurn")).get("parts")):
            yield from self._parts.part(part)
        ids = fields(data.get("toolCallCancellation")).get("ids")
        for id_ in ids if isinstance(ids, list) else ():
            if isinstance(id_, str):
                yield ResultSeen(ToolResult(id=id_, outcome=Outcome.CANCELLED, reported_by="provider"))
        counts = usage(data.get("usageMetadata"))
        if counts:
            yield Facts({"usage": counts})
        if content.get("turnComplete") is True:
            self._turn += 1
            self._parts = Parts(self._turn)


class _Provider:
    name = NAME
    dialect_of: str | None = None
    markers = (*GEMINI.markers, *patterns(rb"usageMetadata", rb"turnComplete"))

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if not exchange.websocket or first is None or not isinstance(first.data, dict):
            return 0
        keys = _CLIENT if first.side is Side.REQUEST else _SERVER
        return 60 if keys & first.data.keys() else 0

    def open(self, exchange: Exchange) -> LiveAssembly:  # noqa: ARG002 - the provider signature
        return LiveAssembly()


PROVIDER = _Provider()
