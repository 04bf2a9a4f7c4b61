"""OpenAI Realtime on a WebSocket (Azure Voice Live, xAI too): the same call shows up to five times, told once.

A call closes at ``response.function_call_arguments.done``; item and response events that follow repeat it. Items the
client creates itself are history, and the server's echo of them creates nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from proxy.events import Event, Facts, HistorySeen, ResultSeen
from proxy.exchange import Ending, Exchange, Side
from proxy.providers._calls import fields, ident, known, patterns, rows, short, text
from proxy.providers._responses_items import call_event, is_call, is_result, output_result, own_result
from proxy.providers._responses_request import offered
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "openai-realtime-ws"
OPEN_CAP = 1024
_HINTS = ("session.", "conversation.", "input_audio_buffer.", "rate_limits.", "error")


class RealtimeAssembly:
    def __init__(self) -> None:
        self._open: dict[Any, dict[str, Any]] = {}
        self._parts: dict[Any, list[str]] = {}
        self._told: set[Any] = set()
        self._batch = 0
        self._count = 0

    def request(self, exchange: Exchange) -> Iterator[Event]:
        model = exchange.request.target.partition("model=")[2].partition("&")[0]
        yield Facts(known(protocol=NAME, model=model))

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.error is None and isinstance(data, dict):
            kind = text(data.get("type"))
            yield from self._client(kind, data) if frame.side is Side.REQUEST else self._server(kind, data)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - what is open is cut off, however it ended
        for key in list(self._open):
            yield from self._tell(self._filled(key), complete=False)

    def _client(self, kind: str, data: dict[str, Any]) -> Iterator[Event]:
        item = fields(data.get("item"))
        said = fields(data.get("session") or data.get("response"))
        if kind == "conversation.item.create" and is_result(text(item.get("type"))):
            yield ResultSeen(replace(output_result(item, source="request").result, source="stream"))
        elif kind == "conversation.item.create" and is_call(text(item.get("type"))):
            yield HistorySeen(call_ids=(ident(item.get("call_id")),))
        elif kind in ("session.update", "response.create") and "tools" in said:
            yield offered(said)

    def _server(self, kind: str, data: dict[str, Any]) -> Iterator[Event]:
        item = fields(data.get("item"))
        if kind in ("session.created", "session.updated"):
            session = fields(data.get("session"))
            yield Facts(known(session_ids=known(**{"session.id": text(session.get("id"))})))
        elif kind == "response.output_item.added" and is_call(text(item.get("type"))):
            if len(self._open) < OPEN_CAP:
                self._open[ident(item.get("id"))] = item
        elif kind.endswith("_arguments.delta"):
            self._parts.setdefault(ident(data.get("item_id")), []).append(text(data.get("delta")))
        elif kind.endswith("_arguments.done"):
            yield from self._closed(data)
        elif kind == "response.output_item.done" and is_call(text(item.get("type"))):
            yield from self._ended(item)
        elif kind == "response.done":
            yield from self._done(fields(data.get("response")))
        elif kind == "error":
            yield Facts({"error": short(data.get("error"))})

    def _closed(self, data: dict[str, Any]) -> Iterator[Event]:
        standing = self._open.get(ident(data.get("item_id")), {})
        item = {"type": "function_call", **standing, "arguments": data.get("arguments")}
        item["call_id"] = data.get("call_id") or standing.get("call_id")
        item["name"] = text(data.get("name")) or text(standing.get("name"))
        item.setdefault("id", data.get("item_id"))
        if item["name"]:  # else the item event that follows names it
            yield from self._tell({**item, "status": "completed"}, complete=True)

    def _done(self, response: dict[str, Any]) -> Iterator[Event]:
        for item in rows(response.get("output")):
            if is_call(text(item.get("type"))):
                yield from self._ended(item)
        for key in list(self._open):
            yield from self._tell(self._filled(key), complete=False)
        id_, status = text(response.get("id")), text(response.get("status"))
        yield Facts(known(response_id=id_, finish_reason=status, usage=usage(response.get("usage"))))
        self._batch, self._count = self._batch + 1, 0
        self._parts.clear()

    def _ended(self, item: dict[str, Any]) -> Iterator[Event]:
        """The item as it ended; the events that repeat it tell nothing twice."""
        yield from self._tell(item, complete=item.get("status") != "incomplete")
        for event in own_result(item):
            if ("result", item.get("id")) not in self._told:
                self._told.add(("result", item.get("id")))
                yield event

    def _filled(self, key: Any) -> dict[str, Any]:
        return {**self._open[key], "arguments": "".join(self._parts.get(key, []))}

    def _tell(self, item: dict[str, Any], *, complete: bool) -> Iterator[Event]:
        keys = {("call", item.get("call_id"))} if text(item.get("call_id")) else set()
        keys |= {("id", item.get("id"))} if text(item.get("id")) else set()
        self._open.pop(ident(item.get("id")), None)
        if not keys & self._told:
            self._told |= keys
            yield call_event(item, complete=complete, batch=self._batch, ordinal=self._count)
            self._count += 1


class _Provider:
    name = NAME
    dialect_of: str | None = None
    markers = patterns(rb'"session', rb"output_item", rb"_arguments", rb"response\.done", rb'"error"', rb"\\u")

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if not exchange.websocket or first is None:
            return 0
        kind = text(fields(first.data).get("type"))
        path = 5 * ("/realtime" in exchange.request.path)
        return (50 if kind.startswith(_HINTS) else 40 if kind.startswith("response.") else 0) + path * bool(kind)

    def open(self, exchange: Exchange) -> RealtimeAssembly:  # noqa: ARG002 - the provider signature
        return RealtimeAssembly()


PROVIDER = _Provider()
