"""Anthropic Messages, streamed and whole: blocks to calls, results of server tools, usage.

Blocks are keyed by (message ordinal, index): gateways splice a second message into an open stream and indexes
restart there. Vertex wraps nothing; Bedrock's wrappings unpack to the same events (``bedrock_invoke_stream``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from classifiers.call import ExecutedBy, ToolCall
from proxy.events import CallClosed, Event, Facts, ToolsOffered
from proxy.exchange import Ending, Exchange
from proxy.providers._anthropic_request import CALL_BLOCKS, offered, request_events
from proxy.providers._anthropic_results import server_result
from proxy.providers._calls import (
    EVERYTHING,
    Told,
    arguments,
    fields,
    given,
    ident,
    patterns,
    rows,
    short,
    text,
)
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "anthropic-messages"
EVENTS = frozenset(
    [
        "message_start",
        "message_delta",
        "message_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
    ]
)
OPEN_CAP = 512
MARKERS = patterns(rb"message", rb"content_block_st", rb"input_json", rb'"error"', rb"\\u")
_LIMITS = frozenset({"max_tokens", "model_context_window_exceeded"})
_RUNS_THERE = {
    "tool_use": ExecutedBy.CLIENT,
    "server_tool_use": ExecutedBy.PROVIDER,
    "mcp_tool_use": ExecutedBy.PROVIDER,
}


@dataclass(slots=True)
class _Block:
    start: dict[str, Any]
    batch: int
    ordinal: int
    parts: list[str] = field(default_factory=list)


class AnthropicAssembly:
    """State of one response body; at most OPEN_CAP blocks are open at once."""

    def __init__(self, api: str = NAME) -> None:
        self._api = api
        self._message = -1
        self._message_id: Any = None
        self._in_message = False
        self._open: dict[tuple[int, Any], _Block] = {}
        self._doubtful: _Block | None = None  # stopped with text that is no JSON: the stop reason may say it was cut
        self._count = 0
        self._told = Told()  # a gateway that replays a message tells its calls again
        self._usage: dict[str, int] = {}
        self._steps: dict[str, Callable[[dict[str, Any]], Iterable[Event]]] = {
            "message_start": self._begin,
            "content_block_start": self._start,
            "content_block_delta": self._append,
            "content_block_stop": self._stop,
            "message_delta": self._delta,
            "message_stop": self._end,
            "error": self._error,
        }

    @property
    def markers(self) -> tuple[re.Pattern[bytes], ...]:
        """What comes right after a doubtful call decides about it, text too."""
        return MARKERS if self._doubtful is None else EVERYTHING

    def request(self, exchange: Exchange) -> Iterable[Event]:
        return request_events(exchange, fields(exchange.request_json), self._api)

    def frame(self, frame: Frame) -> Iterable[Event]:
        data = frame.data
        if frame.error is not None or not isinstance(data, dict):
            return ()
        kind = text(data.get("type")) or frame.event  # bridges that name the event on its own line only
        if kind == "message":
            return self._whole(data)
        step = self._steps.get(kind)
        events = step(data) if step else ()
        if self._doubtful is None or kind in ("message_delta", "ping"):
            return events
        return [*self._settled(cut=False), *events]

    def close(self, ending: Ending) -> Iterable[Event]:  # noqa: ARG002 - what is open is cut off, however it ended
        return [*self._settled(cut=False), *self._cut_off()]

    def _whole(self, message: dict[str, Any]) -> Iterator[Event]:
        yield from self._begin({"message": message})
        for index, block in enumerate(rows(message.get("content"))):
            yield from self._start({"content_block": block, "index": index})
            yield from self._stop({"index": index})
        yield from self._delta({"delta": message, "usage": message.get("usage")})
        self._in_message = False

    def _begin(self, data: dict[str, Any]) -> Iterator[Event]:
        message = fields(data.get("message"))
        if self._in_message and message.get("id") is not None and message.get("id") == self._message_id:
            return  # some gateways send the same start twice
        yield from self._cut_off()
        self._message += 1
        self._message_id, self._in_message, self._count = message.get("id"), True, 0
        self._told = Told()
        facts = {"response_id": message.get("id"), "model": message.get("model")}
        self._usage = usage(message.get("usage"))
        yield Facts({k: v for k, v in facts.items() if isinstance(v, str)} | self._used())

    def _start(self, data: dict[str, Any]) -> Iterator[Event]:
        block = fields(data.get("content_block"))
        kind = text(block.get("type"))
        if kind in CALL_BLOCKS:
            key = (self._message, ident(data.get("index")))
            standing = self._open.get(key)
            if standing is not None and standing.start.get("id") == block.get("id"):
                return
            if standing is not None:
                yield self._closed(self._open.pop(key), complete=False)
            if len(self._open) < OPEN_CAP:
                self._open[key] = _Block(block, max(self._message, 0), self._count)
            self._count += 1
        elif kind.endswith("_tool_result"):
            yield server_result(block, kind)
        elif kind == "mcp_tool_listing":  # what the connector's server offers, told in the answer
            yield ToolsOffered(offered(block).definitions, present=False)

    def _append(self, data: dict[str, Any]) -> Iterable[Event]:
        delta = fields(data.get("delta"))
        block = self._open.get((self._message, ident(data.get("index"))))
        if block is not None and delta.get("type") == "input_json_delta":
            block.parts.append(text(delta.get("partial_json")))
        return ()

    def _stop(self, data: dict[str, Any]) -> Iterator[Event]:
        block = self._open.pop((self._message, ident(data.get("index"))), None)
        if block is None:
            return
        closed = self._closed(block, complete=True)
        if closed.call.arguments_valid is False:
            yield from self._settled(cut=False)
            self._doubtful = block
        elif not self._told.again(closed.call.id, closed.call.name, closed.call.arguments_text):
            yield closed

    def _settled(self, *, cut: bool) -> Iterator[Event]:
        block, self._doubtful = self._doubtful, None
        if block is not None:
            yield self._closed(block, complete=not cut)

    def _delta(self, data: dict[str, Any]) -> Iterator[Event]:
        self._usage |= usage(data.get("usage"))
        reason = fields(data.get("delta")).get("stop_reason")
        if isinstance(reason, str):
            yield from self._settled(cut=reason in _LIMITS)
        yield Facts(({"finish_reason": reason} if isinstance(reason, str) else {}) | self._used())

    def _end(self, data: dict[str, Any]) -> Iterator[Event]:  # noqa: ARG002 - one signature for the table
        yield from self._cut_off()
        self._in_message = False

    def _error(self, data: dict[str, Any]) -> Iterator[Event]:
        yield Facts({"error": short(data.get("error")) or "error"})

    def _used(self) -> dict[str, Any]:
        return {"usage": dict(self._usage)} if self._usage else {}

    def _cut_off(self) -> Iterator[Event]:
        blocks, self._open = list(self._open.values()), {}
        for block in blocks:
            yield self._closed(block, complete=False)

    def _closed(self, block: _Block, *, complete: bool) -> CallClosed:
        start = block.start
        said = "".join(block.parts)
        caller = fields(start.get("caller"))
        kind = text(start.get("type"))
        # an empty start input with no deltas is a call without arguments; deltas, when there are any, are the truth
        body = arguments(said) if said or (not complete and not start.get("input")) else given(start.get("input") or {})
        return CallClosed(
            ToolCall(
                name=text(start.get("name")),
                id=text(start.get("id")) or None,
                kind=kind,
                executed_by=_RUNS_THERE[kind],
                complete=complete,
                server=text(start.get("server_name")) or None,
                batch=block.batch,
                ordinal=block.ordinal,
                parent_message=text(self._message_id) or None,
                caller=text(caller.get("tool_id")) or None,
                **body,
            )
        )


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    # events without these carry text only
    markers = MARKERS

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        return claim(fields(exchange.request_json), exchange, first)

    def open(self, exchange: Exchange) -> AnthropicAssembly:  # noqa: ARG002 - the provider signature
        return AnthropicAssembly()


def claim(body: dict[str, Any], exchange: Exchange, first: Frame | None) -> int:
    """Rank by the response's shape, then the request's; the path breaks ties."""
    rank = 0
    if first is not None and isinstance(first.data, dict):
        kind = first.data.get("type") or first.event
        message = kind == "message" and isinstance(first.data.get("content"), list) and "role" in first.data
        failed = kind == "error" and isinstance(first.data.get("error"), dict)
        rank += 50 * (kind in EVENTS or message) + 10 * (failed or (kind == "ping" and first.event == "ping"))
    if isinstance(body.get("messages"), list):
        schemas = any("input_schema" in t for t in rows(body.get("tools")))
        versioned = bool(exchange.request.get("anthropic-version")) or "anthropic_version" in body
        rank += 25 * (versioned or schemas)
        rank += 10 * ("max_tokens" in body and exchange.request.path.endswith("/messages"))
    return rank


PROVIDER = _Provider()
