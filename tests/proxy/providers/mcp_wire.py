"""Builds MCP exchanges for tests: one POST or GET with its reply, sharing what a session shares."""

from __future__ import annotations

import json
from typing import Any

from proxy.assembly import ExchangeAssembler
from proxy.events import Event
from proxy.exchange import Exchange, Head, Side
from proxy.wire import Frame

MODERN = {"mcp-protocol-version": "2026-07-28"}
META = {"io.modelcontextprotocol/clientInfo": {"name": "cli", "version": "2"}}


def ask(method: str, ident: Any = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "method": method, "params": params}


def tell(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def answer(result: Any, ident: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "result": result}


def failure(code: int, message: str, ident: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": ident, "error": {"code": code, "message": message}}


def text(value: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": value}], **more}


def call(name: str = "delete_rows", ident: Any = 1, arguments: Any = None, **more: Any) -> dict[str, Any]:
    return ask("tools/call", ident, name=name, arguments={"table": "t"} if arguments is None else arguments, **more)


def events_body(*messages: Any, newline: str = "\r\n", names: bool = True) -> bytes:
    """An event stream; a message that is a string stands for raw lines."""
    out = ""
    for message in messages:
        if isinstance(message, str):
            out += message + newline + newline
        else:
            out += (f"event: message{newline}" if names else "") + f"data: {json.dumps(message)}{newline}{newline}"
    return out.encode()


def post(
    body: Any,
    *replies: Any,
    stream: bool = False,
    shared: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    reply_headers: dict[str, str] | None = None,
    target: str = "/mcp",
    method: str = "POST",
    status: int = 200,
    raw: bytes | None = None,
    step: int | None = None,
    route: str = "",
) -> list[Event]:
    sent = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-type": "application/json", **(headers or {})}
    exchange = Exchange(
        "x", request=Head(method, target, headers=tuple(given.items())), upstream="tools.example:443", route=route
    )
    assembler = ExchangeAssembler(exchange, {} if shared is None else shared)
    kind = "text/event-stream" if stream else "application/json"
    found = assembler.request_body(sent) + assembler.request_end()
    back = {"content-type": kind, **(reply_headers or {})}
    found += assembler.response_head(Head(status=status, headers=tuple(back.items())))
    reply = (
        raw
        if raw is not None
        else events_body(*replies)
        if stream
        else b"".join(json.dumps(r).encode() for r in replies)
    )
    size = step or max(1, len(reply))
    for at in range(0, len(reply), size):
        found += assembler.response_body(reply[at : at + size])
    return found + assembler.end()


def pipe(*lines: tuple[str, Any], name: str = "") -> list[Event]:
    """A stdio run: ("client" | "server", message) in order."""
    assembler = ExchangeAssembler(Exchange("run", route=name))
    sides = {"client": Side.REQUEST, "server": Side.RESPONSE}
    frames = [Frame(message, side=sides[who], size_bytes=1) for who, message in lines]
    return assembler.frames(frames) + assembler.end()
