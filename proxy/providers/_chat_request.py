"""What an OpenAI chat request says: history, results, tools, facts. Shared by the dialects and by Ollama and Cohere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import Definition
from proxy.events import Event, Facts, HistorySeen, ResultSeen, ToolsOffered
from proxy.providers import _history
from proxy.providers._calls import definition, fields, ident, known, result, rows, text

_SESSION_KEYS = ("prompt_cache_key", "session_id", "conversation_id")


def request_events(body: dict[str, Any], api: str) -> Iterator[Event]:
    """The events of one request body: facts, tools, history, results."""
    sessions = {k: body[k] for k in _SESSION_KEYS if text(body.get(k))}
    yield Facts(known(protocol=api, model=text(body.get("model")), session_ids=sessions))
    yield offered(body)
    messages = body.get("messages")
    if isinstance(messages, list):
        yield from history(messages)


def offered(body: dict[str, Any]) -> ToolsOffered:
    """``tools`` of every kind, and the older ``functions``."""
    lists = [body.get("tools"), body.get("functions")]
    found = [d for entries in lists for tool in rows(entries) if (d := _definition(tool)) is not None]
    return ToolsOffered(tuple(found), present=any(isinstance(e, list) for e in lists), forced=_forced(body))


def _definition(tool: dict[str, Any]) -> Definition | None:
    kind = text(tool.get("type"))
    inner = fields(tool.get(kind)) or fields(tool.get("function")) or tool
    name = text(inner.get("name")) or (kind if kind not in ("function", "custom") else "")
    schema = inner.get("parameters") or inner.get("parameter_definitions")
    notes = {"type": kind} if kind not in ("", "function") else None
    return definition(name, inner.get("description"), schema, notes) if name else None


def _forced(body: dict[str, Any]) -> str | None:
    choice = body.get("tool_choice", body.get("function_call"))
    if isinstance(choice, str):
        return "*" if choice.lower() in ("required", "any") else None
    said = fields(choice)
    kind = text(said.get("type"))
    if kind == "allowed_tools":
        return "*" if fields(said.get("allowed_tools")).get("mode") == "required" else None
    return text((fields(said.get(kind)) or fields(said.get("function")) or said).get("name")) or None


def history(messages: list[Any]) -> Iterator[Event]:
    """HistorySeen, then every result the request carries: which are new, the session knows."""
    hashes = _history.chain(messages)
    calls = [c for m in rows(messages) for c in rows(m.get("tool_calls"))]
    yield HistorySeen(call_ids=tuple(ident(c.get("id")) for c in calls), prefix_hashes=hashes)
    names = {
        c["id"]: text(fields(c.get("function") or c.get("custom")).get("name")) for c in calls if text(c.get("id"))
    }
    for message in rows(messages):
        if text(message.get("role")) in ("tool", "function"):
            id_ = ident(message.get("tool_call_id"))
            name = text(message.get("name")) or text(message.get("tool_name")) or (names.get(text(id_)) or None)
            yield ResultSeen(
                result(
                    id_,
                    message.get("content"),
                    name=name,
                    source="request",
                    asserted_by="request",
                    reported_by="harness",
                )
            )
