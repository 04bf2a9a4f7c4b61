"""Ollama's own ``/api/chat``: NDJSON chunks or one body; calls come whole, arguments as objects, ids only lately."""

from __future__ import annotations

from collections.abc import Iterator

from classifiers.call import ExecutedBy, ToolCall
from proxy.events import CallClosed, Event, Facts
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import Told, fields, given, ident, known, patterns, rows, short, text
from proxy.providers._chat_request import request_events
from proxy.wire import Frame

NAME = "ollama"


class OllamaAssembly:
    def __init__(self) -> None:
        self._count = 0
        self._told = Told()

    def request(self, exchange: Exchange) -> Iterator[Event]:
        return request_events(fields(exchange.request_json), NAME)

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.error is not None or not isinstance(data, dict):
            return
        for call in rows(fields(data.get("message")).get("tool_calls")):
            said = fields(call.get("function"))
            body = {} if said.get("arguments") is None else given(said["arguments"])
            if self._told.again(call.get("id"), said.get("name"), body.get("arguments_text", "")):
                continue  # some servers repeat the call in the last line
            yield CallClosed(
                ToolCall(
                    name=text(said.get("name")),
                    id=ident(call.get("id")) or None,
                    executed_by=ExecutedBy.CLIENT,
                    ordinal=self._count,
                    **body,
                )
            )
            self._count += 1
        if data.get("done") is True:
            counts = {"input": data.get("prompt_eval_count"), "output": data.get("eval_count")}
            found = {k: v for k, v in counts.items() if isinstance(v, int)}
            model, reason = text(data.get("model")), text(data.get("done_reason"))
            yield Facts(known(model=model, finish_reason=reason, usage=found))
        if data.get("error"):
            yield Facts({"error": short(data["error"])})

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - calls come whole, nothing is ever open
        return iter(())


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    markers = patterns(rb"tool", rb"error", rb'"done"\s*:\s*true', rb"\\u")

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        said = fields(first.data) if first is not None else {}
        shaped = "done" in said and isinstance(said.get("message"), dict) and "model" in said
        asked = isinstance(fields(exchange.request_json).get("messages"), list)
        return 60 * shaped + 15 * (asked and exchange.request.path.endswith("/api/chat"))

    def open(self, exchange: Exchange) -> OllamaAssembly:  # noqa: ARG002 - the provider signature
        return OllamaAssembly()


PROVIDER = _Provider()
