"""One MCP conversation: JSON-RPC messages of both sides in, calls, results, tool lists and facts out.

The *request* is the call (MCP, "Tools"): ``tools/call`` by the client, and, as kinds of their own, ``resources/read``
and ``prompts/get`` (context), ``sampling/createMessage`` (the server asks for a model) and ``elicitation/create`` (it
asks a person). Holds for the eras 2024-11-05 to 2026-07-28: sessions, batches, several-step requests
(``input_required`` and its retry are one call), tasks, cancellation. What a session's other connections need is kept
in ``exchange.shared``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from classifiers.call import ObservedAt, Outcome, ToolCall
from proxy.events import CallClosed, Event, Facts
from proxy.exchange import Side
from proxy.providers import _mcp_results as told
from proxy.providers._calls import fields, hashed, text
from proxy.providers._mcp_state import McpState
from proxy.providers._mcp_words import KINDS, META, arguments_in, is_id, key_of, name_of
from proxy.providers._reading import arguments_of_value


def handle(state: McpState, message: Any, side: Side) -> Iterator[Event]:
    """One message, or a batch; ``side`` REQUEST is the client speaking."""
    for item in message if isinstance(message, list) else (message,):
        if not isinstance(item, dict):
            continue
        method = item.get("method")
        if isinstance(method, str):
            yield from _asked(state, method, fields(item.get("params")), item.get("id"), side)
        elif "result" in item or "error" in item:
            yield from _answered(state, item, side)


def _asked(state: McpState, method: str, params: dict[str, Any], ident: Any, side: Side) -> Iterator[Event]:
    yield from _facts(method, params)
    if not is_id(ident):
        notice = _NOTICES.get(method)
        if method in KINDS:  # not allowed, and a server may carry it out all the same
            yield _call(state, method, params, None, side)
        elif notice is not None:
            yield from notice(state, params, side)
        return
    waiting: told.Waiting = {"method": method, "id": ident}
    if method in KINDS:
        waiting |= {"name": name_of(method, params), "arguments": hashed(params.get("arguments"))}
        before = told.continued(state, params)
        if before is None:
            yield _call(state, method, params, ident, side)
        else:
            waiting["id"] = before["id"]
            yield from told.given(before["id"], params.get("inputResponses"))
    elif method.startswith("tasks/"):
        waiting["task"] = text(params.get("taskId"))
    key = key_of(side, ident)
    state.pending()[key] = waiting
    state.asked.append(key)
    early = state.early().pop(key, None)
    if early is not None and method in KINDS:
        del state.pending()[key]
        yield told.from_early(waiting, early)


def _call(state: McpState, method: str, params: dict[str, Any], ident: Any, side: Side) -> Event:
    kind, name = KINDS[method], name_of(method, params)
    return CallClosed(
        ToolCall(
            name=name,
            id=ident,
            **arguments_of_value(arguments_in(method, params)),
            kind=kind.kind,
            purpose=kind.purpose,
            executed_by=kind.executed_by,
            definition=state.definition(name) if method == "tools/call" else None,
            server=state.server(),
            ordinal=state.next_ordinal(),
            observed_at=ObservedAt.MCP_REQUEST,
            asserted_by=side.value,
            extra=_extra(params),
        )
    )


def _extra(params: dict[str, Any]) -> dict[str, Any]:
    """Marks of the request: it goes on with a call nobody saw, the model's own id of the call, a task is wanted."""
    extra: dict[str, Any] = {"continuation": True} if params.keys() & {"inputResponses", "requestState"} else {}
    meta = fields(params.get("_meta"))
    use = next((v for k, v in meta.items() if k.lower().endswith(("tooluseid", "tool_use_id"))), None)
    if isinstance(use, str):
        extra["tool_use_id"] = use
    if isinstance(params.get("task"), dict):
        extra["task"] = True
    return extra


def _facts(method: str, params: dict[str, Any]) -> Iterator[Event]:
    """Who asks, in which version, in which trace: from ``initialize``, or from every request's ``_meta``."""
    meta, hello = fields(params.get("_meta")), method == "initialize"
    client = fields(params.get("clientInfo") if hello else meta.get(META + "clientInfo"))
    version = params.get("protocolVersion") if hello else meta.get(META + "protocolVersion")
    found: dict[str, Any] = {}
    if text(client.get("name")):
        found["agent"] = {"name": client["name"], "version": client.get("version")}
    if isinstance(version, str):
        found["mcp_protocol_version"] = version
    if isinstance(meta.get("traceparent"), str):
        found["traceparent"] = meta["traceparent"]
    if found:
        yield Facts(found)


def _answered(state: McpState, message: dict[str, Any], side: Side) -> Iterator[Event]:
    other = Side.REQUEST if side is Side.RESPONSE else Side.RESPONSE
    key = state.only(other) if message.get("id") is None else key_of(other, message.get("id"))
    waiting = state.pending().pop(key, None)
    if waiting is None:
        if state.exchange.request.method == "GET":  # two relays: the stream may be read before the request
            state.early()[key] = told.early_facts(message)
        return
    method, result, error = waiting["method"], message.get("result"), message.get("error")
    if isinstance(result, dict):
        yield from state.learn(method, result)
    if method in KINDS:
        yield from told.answered(state, waiting, result, error, side)
    elif method in _ABOUT_TASKS:
        yield from told.task_told(state, waiting, result, error)


_ABOUT_TASKS = frozenset({"tasks/get", "tasks/result", "tasks/cancel"})


def _cancelled(state: McpState, params: dict[str, Any], side: Side) -> Iterator[Event]:
    """The asker gives up; the other side may still answer, so this is a sight and not the result."""
    waiting = state.pending().get(key_of(side, params.get("requestId")))
    if waiting is not None and waiting["method"] in KINDS:
        by = "harness" if side is Side.REQUEST else "tool_server"
        reason = text(params.get("reason"))[:200] or None
        said = {"source": "request", "asserted_by": side.value, "reported_by": by, "end_reason": reason}
        yield told.sight(waiting, {}, outcome=Outcome.CANCELLED, **said)


def _task_status(state: McpState, params: dict[str, Any], side: Side) -> Iterator[Event]:  # noqa: ARG001 - a notice
    task = text(params.get("taskId"))
    call = state.book().get("tasks", {}).get(task)
    if isinstance(call, dict):
        yield told.sight(call, {"task": task, "task_status": params.get("status")})


_NOTICES: dict[str, Callable[[McpState, dict[str, Any], Side], Iterator[Event]]] = {
    "notifications/cancelled": _cancelled,
    "notifications/tasks/status": _task_status,
}
