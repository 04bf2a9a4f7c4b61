"""OpenAI Responses over HTTP: streamed, whole, and polled; also xAI, DeepSeek, LM Studio, Bedrock-mantle, Azure.

Cursor posts this body to ``/chat/completions``: the body and the response say what it is, the path does not.
"""

from __future__ import annotations

from typing import Any

from proxy.exchange import Exchange
from proxy.providers._calls import fields, patterns, rows, text
from proxy.providers._responses_stream import ResponsesAssembly
from proxy.wire import Frame

NAME = "openai-responses"


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    # every growing part of a call has _call in its event's name
    markers = patterns(rb"output_item", rb"_call", rb'"response"', rb"program", rb'"error"', rb"\\u")

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if exchange.websocket:
            return 0
        rank = 60 if first is not None and (shaped(first.data, first.event) or kept_items(exchange, first.data)) else 0
        body = fields(exchange.request_json)
        if "input" in body and "messages" not in body:
            rank += 15 * flat_tools(body) + 15 * exchange.request.path.endswith("/responses")
        return rank

    def open(self, exchange: Exchange) -> ResponsesAssembly:  # noqa: ARG002 - the provider signature
        return ResponsesAssembly(NAME)


def shaped(data: Any, event: str = "") -> bool:
    """A response object or one of its events (Realtime shares event names, but is only spoken on sockets)."""
    said = fields(data)
    kind = text(said.get("type")) or event
    return said.get("object") == "response" or kind.startswith("response.")


def kept_items(exchange: Exchange, data: Any) -> bool:
    """A list of a response's inputs, or of a stored conversation's items."""
    said, path = fields(data), exchange.request.path
    listed = path.endswith("/input_items") or (path.endswith("/items") and "/conversations/" in path)
    return listed and said.get("object") == "list" and isinstance(said.get("data"), list)


def flat_tools(body: dict[str, Any]) -> bool:
    return any(text(t.get("type")) and "function" not in t and "input_schema" not in t for t in rows(body.get("tools")))


PROVIDER = _Provider()
