"""What an OpenAI Responses request says: input items as history, outputs as results, tools of every kind, facts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import Definition
from proxy.events import Event, Facts, HistorySeen, ToolsOffered
from proxy.exchange import Exchange
from proxy.providers import _history
from proxy.providers._calls import definition, fields, ident, known, rows, text
from proxy.providers._responses_items import is_call, is_result, output_result
from proxy.wire.json_text import parse

_TURN = "x-codex-turn-metadata"
_NAMES = {"computer_use": "computer", "web_search_preview": "web_search"}


def request_events(exchange: Exchange, body: dict[str, Any], api: str) -> Iterator[Event]:
    """The events of one request body (or of one ``response.create`` on a socket)."""
    conversation = body.get("conversation")
    yield Facts(
        known(
            protocol=api,
            model=text(body.get("model")),
            previous_response_id=text(body.get("previous_response_id")),
            conversation_id=text(conversation) or text(fields(conversation).get("id")),
            session_ids=known(prompt_cache_key=text(body.get("prompt_cache_key"))),
            **_turn_metadata(exchange, body),
        )
    )
    if body:
        yield offered(body)
    items = body.get("input")
    if isinstance(items, list):
        yield from _items(items)


def _turn_metadata(exchange: Exchange, body: dict[str, Any]) -> dict[str, Any]:
    """Codex says where it works: ``workspaces`` of its turn metadata, in a header or in ``client_metadata``."""
    inside = text(fields(body.get("client_metadata")).get(_TURN))
    said = fields(parse(exchange.request.get(_TURN) or inside)[0])
    places = [p for p in fields(said.get("workspaces")) if p.startswith("/")]
    one = {"cwd": places[0], "cwd_source": "turn_metadata"} if len(places) == 1 else {}
    return one | known(thread_id=text(said.get("thread_id")), run_id=text(said.get("turn_id")))


def offered(body: dict[str, Any]) -> ToolsOffered:
    """``tools``, and what tool searches in the history loaded."""
    tools = body.get("tools")
    loaded = [t for i in rows(body.get("input")) if i.get("type") == "tool_search_output" for t in rows(i.get("tools"))]
    found = tuple(d for tool in [*rows(tools), *loaded] for d in definitions(tool))
    return ToolsOffered(found, present=isinstance(tools, list), forced=_forced(body.get("tool_choice")))


def definitions(tool: dict[str, Any], server: Any = None) -> Iterator[Definition]:
    """``server``: the MCP server that listed the tool; its tools are named ``mcp:<server>/<tool>``."""
    kind = text(tool.get("type"))
    if kind == "namespace":
        for inner in rows(tool.get("tools")):
            yield from definitions(inner)
        return
    name = text(tool.get("name")) or ("" if kind in ("function", "custom") else _own_name(tool, kind))
    notes = {"type": kind} if kind not in ("", "function") else None
    if name:
        named = f"mcp:{server}/{name}" if text(server) else name
        schema = tool.get("parameters", tool.get("input_schema"))
        yield definition(named, tool.get("description"), schema, notes or fields(tool.get("annotations")))


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


def _items(items: list[Any]) -> Iterator[Event]:
    hashes = _history.chain(items)
    calls = [i for i in rows(items) if is_call(text(i.get("type")))]
    ids = tuple(ident(i.get("call_id"), i.get("id")) for i in calls)
    yield HistorySeen(call_ids=ids, prefix_hashes=hashes)
    names = {i["call_id"]: text(i.get("name")) for i in calls if text(i.get("call_id"))}
    for item in rows(items):
        if is_result(text(item.get("type"))):
            yield output_result(item, source="request", names=names)
