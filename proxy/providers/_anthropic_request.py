"""What an Anthropic Messages request says: history, results, tools, facts. Shared with its Bedrock and Vertex forms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from classifiers.call import Definition, ToolResult
from proxy.events import Event, Facts, HistorySeen, ResultSeen, ToolsOffered
from proxy.exchange import Exchange
from proxy.providers import _history
from proxy.providers._calls import by_flag, definition, fields, ident, known, result, rows, text

CALL_BLOCKS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})


def request_events(exchange: Exchange, body: dict[str, Any], api: str) -> Iterator[Event]:
    """The events of one request body, in the order a reader wants them: facts, tools, history, results."""
    session = session_of(body)
    ids = known(**{"metadata.user_id": session})
    yield Facts(known(protocol=api, model=text(body.get("model")), session_ids=ids))
    yield offered(body)
    if exchange.request.path.endswith("/count_tokens"):
        return  # the same body will come again as a real request
    messages = body.get("messages")
    if isinstance(messages, list):
        yield from _history_events(messages)


def session_of(body: dict[str, Any]) -> str:
    """The session inside ``metadata.user_id``: a JSON object, or the older ``user_…_session_<id>`` form."""
    user = text(fields(body.get("metadata")).get("user_id"))
    if user.startswith("{"):
        try:
            return text(fields(json.loads(user)).get("session_id"))
        except ValueError:
            return ""
    return user.partition("_session_")[2]


def offered(body: dict[str, Any]) -> ToolsOffered:
    tools = body.get("tools")
    choice = fields(body.get("tool_choice"))
    forced = {"any": "*", "tool": text(choice.get("name"))}.get(text(choice.get("type")))
    found = tuple(_definition(t) for t in rows(tools) if text(t.get("name")))
    return ToolsOffered(found, present=isinstance(tools, list), forced=forced or None)


def _definition(tool: dict[str, Any]) -> Definition:
    kind = text(tool.get("type"))  # bash_20250124 and its like are declared by type, without a schema
    notes = {"type": kind} if kind and kind != "custom" else None
    return definition(tool["name"], tool.get("description"), tool.get("input_schema"), notes)


def _history_events(messages: list[Any]) -> Iterator[Event]:
    hashes = _history.chain(messages)
    ids = tuple(
        ident(b.get("id")) for m in rows(messages) for b in rows(m.get("content")) if text(b.get("type")) in CALL_BLOCKS
    )
    yield HistorySeen(call_ids=ids, prefix_hashes=hashes)
    names = {ident(b.get("id")): b.get("name") for m in rows(messages) for b in rows(m.get("content")) if "name" in b}
    for message in rows(messages):
        if message.get("role") == "user":
            yield from (ResultSeen(r) for r in _results(rows(message.get("content")), names))


def _results(blocks: Iterable[dict[str, Any]], names: dict[Any, Any]) -> Iterator[ToolResult]:
    for block in blocks:
        if block.get("type") == "tool_result":
            id_ = ident(block.get("tool_use_id"))
            yield result(
                id_,
                block.get("content"),
                by_flag(block.get("is_error")),
                name=text(names.get(id_)) or None,
                source="request",
                asserted_by="request",
                reported_by="harness",
            )
