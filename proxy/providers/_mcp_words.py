"""MCP's words: which requests are calls of which kind, whose a method is, what a reply's marks mean.

JSON values in, names, kinds and outcomes out; no state.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from classifiers.call import ExecutedBy, Outcome
from proxy.exchange import Side

META = "io.modelcontextprotocol/"


@dataclass(frozen=True, slots=True)
class _Kind:
    kind: str
    purpose: str
    executed_by: ExecutedBy
    reported_by: str


KINDS = {
    "tools/call": _Kind("function", "action", ExecutedBy.MCP_SERVER, "tool_server"),
    "resources/read": _Kind("resources/read", "context", ExecutedBy.MCP_SERVER, "tool_server"),
    "prompts/get": _Kind("prompts/get", "context", ExecutedBy.MCP_SERVER, "tool_server"),
    "sampling/createMessage": _Kind("sampling/createMessage", "context", ExecutedBy.CLIENT, "harness"),
    "elicitation/create": _Kind("elicitation/create", "question", ExecutedBy.CLIENT, "harness"),
}

# JSON-RPC methods that are MCP's and nobody else's, with ``initialize`` (also ACP's) told apart by its parameters.
METHODS = frozenset(KINDS) | {
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "completion/complete",
    "logging/setLevel",
    "roots/list",
    "ping",
    "server/discover",
    "subscriptions/listen",
    "tasks/result",
    "tasks/update",
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/roots/list_changed",
    "notifications/tools/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/prompts/list_changed",
    "notifications/tasks/status",
}
_ASKED_IN_FULL = {"initialize": "protocolVersion", "tasks/get": "taskId", "tasks/cancel": "taskId", "tasks/list": ""}


def is_mcp(message: Any) -> bool:
    """Whether a JSON value is an MCP request or notification, or a batch that begins with one."""
    first = message[0] if isinstance(message, list) and message else message
    if not isinstance(first, dict) or first.get("jsonrpc") != "2.0":
        return False
    method, params = first.get("method"), first.get("params")
    if method not in _ASKED_IN_FULL:
        return method in METHODS
    needed = _ASKED_IN_FULL[str(method)]
    if method == "initialize":  # ACP counts its versions in whole numbers
        return isinstance(params, dict) and isinstance(params.get(needed), str)
    return not needed or (isinstance(params, dict) and needed in params)


TASK_ENDS: dict[Any, Outcome | None] = {"completed": None, "failed": Outcome.ERROR, "cancelled": Outcome.CANCELLED}
_ELICITED = {"accept": Outcome.OK, "decline": Outcome.REJECTED, "cancel": Outcome.CANCELLED}


def is_id(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def key_of(side: Side, ident: Any) -> str:
    return f"{side.value}:{json.dumps(ident)}"


def name_of(method: str, params: dict[str, Any]) -> str:
    name = params.get("name")
    return (name if isinstance(name, str) else "") if method == "tools/call" else method


def arguments_in(method: str, params: dict[str, Any]) -> Any:
    if method == "tools/call":
        return params.get("arguments")
    return {k: v for k, v in params.items() if k not in ("_meta", "inputResponses", "requestState")}


def outcome_of(method: str, result: Any, error: Any) -> Outcome:
    """Only what is marked: isError, a JSON-RPC error, a person's decision. An absent isError stays unknown."""
    if error is not None:
        return Outcome.ERROR
    if method == "elicitation/create":
        return person_said(result)
    flag = result.get("isError") if isinstance(result, dict) else None
    return (
        {True: Outcome.ERROR, False: Outcome.OK}.get(flag, Outcome.UNKNOWN)
        if isinstance(flag, bool)
        else Outcome.UNKNOWN
    )


def person_said(answer: Any) -> Outcome:
    action = answer.get("action") if isinstance(answer, dict) else None
    return _ELICITED.get(action, Outcome.UNKNOWN) if isinstance(action, str) else Outcome.UNKNOWN


def error_text(error: Any) -> str | None:
    if error is None:
        return None
    return str(error.get("message", error) if isinstance(error, dict) else error)[:500]


def named(server: str | None) -> dict[str, Any]:
    return {"server": server} if server else {}


def task_in(result: dict[str, Any]) -> dict[str, Any] | None:
    """A task handle instead of a result: nested (2025-11-25) or at the top with ``resultType`` (tasks extension)."""
    holder = result.get("task") if isinstance(result.get("task"), dict) else result
    assert isinstance(holder, dict)
    nested = holder is not result
    return (
        holder
        if isinstance(holder.get("taskId"), str) and (nested or "task" in str(result.get("resultType")))
        else None
    )
