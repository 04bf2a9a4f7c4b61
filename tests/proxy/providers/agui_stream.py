"""Builds AG-UI exchanges for tests: events in, what assembly yields out, whole or cut."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from proxy.assembly import ExchangeAssembler
from proxy.events import CallClosed, Event, Facts, ResultSeen
from proxy.exchange import Exchange, Head

STARTED = {"type": "RUN_STARTED", "threadId": "t1", "runId": "r1"}
FINISHED = {"type": "RUN_FINISHED", "threadId": "t1", "runId": "r1"}


def start(call: str, name: str = "run_shell", **more: Any) -> dict[str, Any]:
    return {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name, **more}


def args(call: str, delta: str) -> dict[str, Any]:
    return {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": delta}


def end(call: str) -> dict[str, Any]:
    return {"type": "TOOL_CALL_END", "toolCallId": call}


def chunk(delta: str | None = None, call: str | None = None, name: str | None = None, **more: Any) -> dict[str, Any]:
    given = {"toolCallId": call, "toolCallName": name, "delta": delta}
    return {"type": "TOOL_CALL_CHUNK", **{k: v for k, v in given.items() if v is not None}, **more}


def result(call: str, content: Any) -> dict[str, Any]:
    return {"type": "TOOL_CALL_RESULT", "messageId": f"m-{call}", "toolCallId": call, "content": content}


def call(call: str, text: str = '{"command":"ls"}', name: str = "run_shell") -> list[dict[str, Any]]:
    return [start(call, name), args(call, text), end(call)]


def finished(kind: str, **more: Any) -> dict[str, Any]:
    return {**FINISHED, "outcome": {"type": kind, **more}}


def run_input(*messages: dict[str, Any], tools: Iterable[str] | None = (), **more: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"threadId": "t1", "runId": "r1", "messages": list(messages), **more}
    if tools is not None:
        body["tools"] = [{"name": name, "description": "d", "parameters": {"type": "object"}} for name in tools]
    return body


def sse(events: Iterable[dict[str, Any]]) -> bytes:
    return b"".join(b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n" for event in events)


def play(
    *events: dict[str, Any],
    request: Any = None,
    shared: dict[str, Any] | None = None,
    step: int | None = None,
    at_ns: int = 0,
    body: bytes | None = None,
) -> list[Event]:
    """The exchange's events; ``step`` feeds the reply in pieces of that many bytes."""
    reply = sse(events) if body is None else body
    sent = b"" if request is None else json.dumps(request).encode()
    head = Head("POST", "/agui", headers=(("content-type", "application/json"),))
    assembler = ExchangeAssembler(Exchange("x", request=head, started_ns=at_ns), {} if shared is None else shared)
    found = assembler.request_body(sent) + assembler.request_end()
    found += assembler.response_head(Head(status=200, headers=(("content-type", "text/event-stream"),)))
    size = step or max(1, len(reply))
    for at in range(0, len(reply), size):
        found += assembler.response_body(reply[at : at + size])
    return found + assembler.end()


def calls(events: Iterable[Event]) -> list[Any]:
    return [event.call for event in events if isinstance(event, CallClosed)]


def results(events: Iterable[Event]) -> list[Any]:
    return [event.result for event in events if isinstance(event, ResultSeen)]


def facts(events: Iterable[Event]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for event in events:
        if isinstance(event, Facts):
            merged |= event.values
    return merged
