"""What an OpenAI Responses request says: input items as history, outputs as results, tools of every kind, facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import Definition
from proxy.events import Event, Facts, HistorySeen, ToolsOffered
from proxy.exchange import Exchange
from proxy.providers import _history
from proxy.providers._calls import definition, fields, rows, text
from proxy.providers._responses_items import is_call, is_result, output_result

_NAMES = {"computer_use": "computer", "web_search_preview": "web_search"}


def request_events(exchange: Exchange, body: dict[str, Any], api: str) -> Iterator[Event]:
    """The events of one request body (or of one ``response.create`` on a socket)."""
    conversation = body.get("conversation")
    said = {
        "model": body.get("model"),
        "previous_response_id": body.get("previous_response_id"),
        "conversation_id": conversation if isinstance(conversation, str) else fields(conversation).get("id"),
    }
    facts: dict[str, Any] = {"protocol": api} | {k: v for k, v in said.items() if text(v)}
    session = text(body.get("prompt_cache_key"))
    if session:
        facts["session_ids"] = {"prompt_cache_key": session}
    yield Facts(facts)
    if body:
        yield offered(body)
    items = body.get("input")
    if isinstance(items, list):
        yield from _items(exchange, items, session)


def offered(body: dict[str, Any]) -> ToolsOffered:
    """``tools``, and what tool searches in the history loaded."""
    tools = body.get("tools")
    loaded = [t for i in rows(body.get("input")) if i.get("type") == "tool_search_output" for t in rows(i.get("tools"))]
    found = tuple(d for tool in [*rows(tools), *loaded] for d in definitions(tool))
    return ToolsOffered(found, present=isinstance(tools, list), forced=_forced(body.get("tool_choice")))


def definitions(tool: dict[str, Any]) -> Iterator[Definition]:
    kind = text(tool.get("type"))
    if kind == "namespace":
        for inner in rows(tool.get("tools")):
            yield from definitions(inner)
        return
    name = text(tool.get("name")) or ("" if kind in ("function", "custom") else _own_name(tool, kind))
    notes = {"type": kind} if kind not in ("", "function") else None
    if name:
        yield definition(name, tool.get("description"), tool.get("parameters"), notes)


def _own_name(tool: dict[str, Any], kind: str) -> str:
    if kind == "mcp":
        return f"mcp:{text(tool.get('server_label'))}"
    plain = kind.removesuffix("_preview")
    return _NAMES.get(plain, plain)


def _forced(choice: Any) -> str | None:
    if isinstance(choice, str):
        return "*" if choice == "required" else None
    said = fields(choice)
    if said.get("type") == "allowed_tools":
        return "*" if said.get("mode") == "required" else None
    return text(said.get("name")) or None


def _items(exchange: Exchange, items: list[Any], session: str) -> Iterator[Event]:
    hashes = _history.chain(items)
    calls = [i for i in rows(items) if is_call(text(i.get("type")))]
    ids = tuple(i.get("call_id") or i.get("id") for i in calls)
    yield HistorySeen(call_ids=ids, prefix_hashes=hashes)
    start = _history.unseen(exchange, session, hashes, items, _is_answer)
    names = {i["call_id"]: text(i.get("name")) for i in calls if text(i.get("call_id"))}
    for item in rows(items[start:]):
        if is_result(text(item.get("type"))):
            yield output_result(item, source="request", names=names)


def _is_answer(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = text(item.get("type"))
    return item.get("role") == "assistant" or kind == "reasoning" or is_call(kind)
