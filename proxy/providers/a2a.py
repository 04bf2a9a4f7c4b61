"""Agent to agent (A2A 0.x and 1.0): a message sent to another agent is one call, its task or answer the result.

Agents are opaque to each other: nothing of what the other one does with its tools is on this wire.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, Facts, ResultSeen
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly
from proxy.providers._calls import fields, short, text
from proxy.providers._reading import arguments_of_value, content_facts
from proxy.wire import Frame

_METHODS = frozenset({"message/send", "message/stream", "SendMessage", "SendStreamingMessage"})
_PATHS = ("message:send", "message:stream")
_STATES = {
    "completed": Outcome.OK,
    "failed": Outcome.ERROR,
    "rejected": Outcome.REJECTED,
    "canceled": Outcome.CANCELLED,
    "cancelled": Outcome.CANCELLED,
}


class A2aExchange:
    def __init__(self, exchange: Exchange) -> None:
        self._server = exchange.upstream.partition(":")[0] or None
        self._call: tuple[Any, str] | None = None
        self._over = False

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body = fields(exchange.request_json)
        method = text(body.get("method"))
        params = fields(body.get("params")) if method else body
        name = method or exchange.request.path.rpartition("/")[2]
        message = fields(params.get("message"))
        ident = body.get("id") if method else message.get("messageId")
        self._call = (ident if isinstance(ident, (str, int)) else None, name)
        context = text(message.get("contextId"))
        yield Facts({"protocol": "a2a", **({"session_ids": {"a2a.contextId": context}} if context else {})})
        yield CallClosed(
            ToolCall(
                name=name,
                id=self._call[0],
                **arguments_of_value(params),
                kind="a2a_message",
                executed_by=ExecutedBy.AGENT,
                server=self._server,
                thread_id=context or None,
                observed_at=ObservedAt.SCHEMA_API,
                asserted_by="request",
            )
        )

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.side is Side.REQUEST or not isinstance(frame.data, dict) or self._over or self._call is None:
            return
        if "jsonrpc" in frame.data and frame.data.get("id") not in (None, self._call[0]):
            return  # somebody else's answer
        error = frame.data.get("error")
        told = fields(frame.data.get("result", frame.data))
        told = next((fields(told[key]) for key in ("task", "message", "statusUpdate") if key in told), told)
        state = text(fields(told.get("status")).get("state")).removeprefix("TASK_STATE_").lower()
        answered = bool(told.get("parts")) and bool(told.get("role"))
        outcome = Outcome.ERROR if error is not None else _STATES.get(state)
        if outcome is None and not answered:
            return
        self._over = True
        yield ResultSeen(
            ToolResult(
                id=self._call[0],
                name=self._call[1],
                outcome=outcome or Outcome.UNKNOWN,
                source="reply",
                reported_by="agent",
                error=short(error),
                extra={"task": told["id"]} if isinstance(told.get("id"), str) else {},
                **content_facts(told if error is None else error),
            )
        )

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - a message without an answer is unanswered
        return iter(())


class _A2a:
    name = "a2a"
    dialect_of: str | None = None

    def claims(self, exchange: Exchange, first: Frame | None) -> int:  # noqa: ARG002 - the request says it
        body = fields(exchange.request_json)
        sends = text(body.get("method")) in _METHODS or exchange.request.path.endswith(_PATHS)
        message = fields(fields(body.get("params")).get("message")) or fields(body.get("message"))
        return 108 if sends and "parts" in message else 0

    def open(self, exchange: Exchange) -> Assembly:
        return A2aExchange(exchange)


PROVIDER = _A2a()
