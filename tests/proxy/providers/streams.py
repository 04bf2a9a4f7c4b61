"""Builds model API exchanges for tests: bodies in, what assembly yields out, whole or cut."""

from __future__ import annotations

import json
import struct
from binascii import crc32
from typing import Any

from proxy.assembly import ExchangeAssembler
from proxy.events import CallClosed, Event, Facts, HistorySeen, ResultSeen, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Head

SSE = "text/event-stream"


def sse(*events: Any, named: bool = False, end: str = "\n", space: str = " ") -> bytes:
    out = ""
    for event in events:
        if named and isinstance(event, dict):
            out += f"event:{space}{event.get('type') or event.get('event_type')}{end}"
        text = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
        out += f"data:{space}{text}{end}{end}"
    return out.encode()


def exchange(
    reply: bytes | dict[str, Any] | list[Any],
    request: Any = None,
    *,
    target: str = "/v1/any",
    kind: str = "",
    headers: dict[str, str] | None = None,
    pieces: list[bytes] | None = None,
    shared: dict[str, Any] | None = None,
    ending: Ending = Ending.COMPLETE,
    method: str = "POST",
    status: int = 200,
    upstream: str = "",
    id_: str = "x",
) -> list[Event]:
    """All events of one exchange."""
    body = reply if isinstance(reply, bytes) else json.dumps(reply, ensure_ascii=False).encode()
    kind = kind or (SSE if body[:1] not in b"{[" else "application/json")
    sent = {"content-type": "application/json", **(headers or {})}
    one = Exchange(id_, Head(method, target, headers=tuple(sent.items())), upstream=upstream)
    assembler = ExchangeAssembler(one, shared)
    events = assembler.request_body(b"" if request is None else json.dumps(request).encode())
    events += assembler.request_end()
    events += assembler.response_head(Head(status=status, headers=(("content-type", kind),)))
    for piece in [body] if pieces is None else pieces:
        events += assembler.response_body(piece)
    return events + assembler.response_end(ending)


def calls(events: list[Event]) -> list[Any]:
    return [e.call for e in events if isinstance(e, CallClosed)]


def results(events: list[Event]) -> list[Any]:
    return [e.result for e in events if isinstance(e, ResultSeen)]


def unread(events: list[Event]) -> list[str]:
    return [e.reason for e in events if isinstance(e, Unread)]


def facts(events: list[Event]) -> dict[str, Any]:
    known: dict[str, Any] = {}
    for event in events:
        known |= event.values if isinstance(event, Facts) else {}
    return known


def history(events: list[Event]) -> HistorySeen:
    return next(e for e in events if isinstance(e, HistorySeen))


def offered(events: list[Event]) -> ToolsOffered:
    return next(e for e in events if isinstance(e, ToolsOffered))


def brief(events: list[Event]) -> list[tuple[Any, str, Any]]:
    """(id, name, arguments, or their text when they are not JSON) of each call, completeness marked by ``…``."""
    return [
        (c.id, c.name + ("" if c.complete else "…"), c.arguments if c.arguments_valid else c.arguments_text)
        for c in calls(events)
    ]


# --- OpenAI chat


def entry(index: int | None = None, id_: Any = None, name: Any = None, args: Any = None) -> dict[str, Any]:
    said = {k: v for k, v in (("index", index), ("id", id_)) if v is not None}
    return {**said, "function": {k: v for k, v in (("name", name), ("arguments", args)) if v is not None}}


def chunk(*entries: dict[str, Any], finish: str | None = None, choice: int = 0, **delta: Any) -> dict[str, Any]:
    said = {**delta, **({"tool_calls": list(entries)} if entries else {})}
    choices = [{"index": choice, "delta": said, "finish_reason": finish}]
    return {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": choices}


def chat(*chunks: Any, finish: str | None = "tool_calls", **more: Any) -> list[Event]:
    ends = [chunk(finish=finish), "[DONE]"] if finish else []
    return exchange(sse(*chunks, *ends), {"messages": []}, target="/v1/chat/completions", **more)


# --- Anthropic


def started(id_: str = "msg_1") -> dict[str, Any]:
    message = {"id": id_, "type": "message", "role": "assistant", "model": "m", "content": []}
    return {"type": "message_start", "message": message}


def block(index: int, id_: str = "t1", name: str = "run", kind: str = "tool_use", **more: Any) -> dict[str, Any]:
    inner = {"type": kind, "id": id_, "name": name, "input": {}, **more}
    return {"type": "content_block_start", "index": index, "content_block": inner}


def piece(index: int, text: str, kind: str = "input_json_delta", key: str = "partial_json") -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, key: text}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def anthropic(*events: Any, tools: Any = None, **more: Any) -> list[Event]:
    request = {"messages": [], "max_tokens": 1, "tools": tools or [], **more.pop("request", {})}
    body = sse(*events, named=True)
    return exchange(body, request, target="/v1/messages", headers={"anthropic-version": "2023-06-01"}, **more)


# --- Responses


def item(id_: str = "fc_1", call: str = "call_1", name: str = "run", args: str = "{}", **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "id": id_, "call_id": call, "name": name, "arguments": args, **more}


def added(one: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.added", "output_index": index, "item": {**one, "arguments": ""}}


def grows(id_: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "response.function_call_arguments.delta", "item_id": id_, "delta": text, **more}


def done(one: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"type": "response.output_item.done", "output_index": index, "item": one}


def created(id_: str = "resp_1") -> dict[str, Any]:
    return {"type": "response.created", "response": {"id": id_, "object": "response", "model": "m", "output": []}}


def completed(*items: dict[str, Any], id_: str = "resp_1", status: str = "completed") -> dict[str, Any]:
    body = {"id": id_, "object": "response", "status": status, "output": list(items)}
    return {"type": f"response.{status}", "response": body}


def responses(*events: Any, **more: Any) -> list[Event]:
    return exchange(sse(*events, named=True), {"input": "x", "tools": []}, target="/v1/responses", **more)


# --- Bedrock


def stream(*messages: tuple[str, dict[str, Any]]) -> bytes:
    """AWS event stream bytes: (event type, payload), or (``!exception type``, payload)."""
    return b"".join(_message(name, payload) for name, payload in messages)


def _message(name: str, payload: dict[str, Any]) -> bytes:
    failed = name.startswith("!")
    said = {":message-type": "exception" if failed else "event"}
    said[":exception-type" if failed else ":event-type"] = name.removeprefix("!")
    headers = b"".join(
        bytes([len(k)]) + k.encode() + b"\x07" + struct.pack(">H", len(v)) + v.encode() for k, v in said.items()
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack(">I", crc32(prelude)) + headers + body
    return message + struct.pack(">I", crc32(message))


def bedrock(*messages: tuple[str, dict[str, Any]], **more: Any) -> list[Event]:
    return exchange(
        stream(*messages),
        {"messages": [], "inferenceConfig": {}},
        target="/model/v.m-1/converse-stream",
        kind="application/vnd.amazon.eventstream",
        **more,
    )


def use(index: int, id_: str = "u1", name: str = "run") -> tuple[str, dict[str, Any]]:
    return "contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": {"toolUseId": id_, "name": name}}}


def fills(index: int, text: str) -> tuple[str, dict[str, Any]]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": {"toolUse": {"input": text}}}


def ends(index: int) -> tuple[str, dict[str, Any]]:
    return "contentBlockStop", {"contentBlockIndex": index}


# --- Gemini


def candidate(*parts: dict[str, Any], finish: str | None = None, index: int = 0) -> dict[str, Any]:
    one = {"index": index, "content": {"role": "model", "parts": list(parts)}}
    return {"candidates": [one | ({"finishReason": finish} if finish else {})]}


def gemini(*chunks: dict[str, Any], contents: Any = None, **more: Any) -> list[Event]:
    target = "/v1beta/models/g:streamGenerateContent?alt=sse"
    return exchange(sse(*chunks, end="\r\n"), {"contents": contents or []}, target=target, **more)
