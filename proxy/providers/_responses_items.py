"""Items of OpenAI's Responses and Realtime APIs to calls and results: one table row per item type.

Types nobody told us of that end in ``_call`` are calls too: name from the type, arguments from wherever they stand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from classifiers.call import Approval, ApprovalState, ExecutedBy, Outcome, ToolCall
from proxy.events import CallClosed, Event, ResultSeen
from proxy.providers._calls import arguments, fields, given, ident, raw, result, rows, short, text
from proxy.providers._chat_slots import wrapped

Item = dict[str, Any]
_CLIENT, _PROVIDER = ExecutedBy.CLIENT, ExecutedBy.PROVIDER
# xAI shows the parts of its own X search as custom tool calls (public notes on its streams, read 2026-11)
_X_SEARCHES = frozenset({"x_keyword_search", "x_semantic_search", "x_user_search", "x_thread_fetch"})
_GUESSES = ("arguments", "input", "action", "operation", "code", "queries", "query")


def is_call(kind: str) -> bool:
    return kind.endswith("_call") or kind in ("program", "mcp_approval_request")


def is_result(kind: str) -> bool:
    return kind.endswith(("_call_output", "_output")) or kind == "mcp_approval_response"


def call_event(item: Item, *, complete: bool, batch: int, ordinal: int, **more: Any) -> CallClosed:
    """The call an item is. ``item`` is as complete as it will get."""
    kind = text(item.get("type"))
    caller = fields(item.get("caller"))
    shown, name, body, where = _reader(kind)(item, kind)
    extra = {k: item[k] for k in ("namespace", "approval_request_id", "pending_safety_checks") if item.get(k)}
    extra |= {"item_id": item["id"]} if text(item.get("id")) else {}
    approval = (
        Approval(ApprovalState.REQUIRED, asserted_by="response") if kind == "mcp_approval_request" else Approval()
    )
    return CallClosed(
        ToolCall(
            name=name,
            id=ident(item.get("call_id"), item.get("id")),
            kind=shown,
            executed_by=where,
            complete=complete,
            status=text(item.get("status")) or None,
            approval=approval,
            server=text(item.get("server_label")) or None,
            caller=text(caller.get("caller_id")) or None,
            batch=batch,
            ordinal=ordinal,
            extra=extra | wrapped(name, body.get("arguments")),
            **body,
            **more,
        )
    )


def own_result(item: Item) -> Iterator[Event]:
    """The result a provider-run item carries in itself, when it has ended."""
    kind, status = text(item.get("type")), text(item.get("status"))
    content = next((item[k] for k in _RESULT_FIELDS.get(kind, ()) if item.get(k) is not None), None)
    # an item without a status has ended when it holds what it ended with
    ended = status not in ("in_progress", "queued") if status else content is not None
    if kind not in _RESULT_FIELDS or not (ended or item.get("error")):
        return
    failed = bool(item.get("error")) or status in ("failed", "incomplete")
    fine = status == "completed" or (not status and "error" in item)  # ``error: null`` is said on purpose
    yield ResultSeen(
        result(
            item.get("id"),
            content,
            Outcome.ERROR if failed else Outcome.OK if fine else Outcome.UNKNOWN,
            name=text(item.get("name")) or kind.removesuffix("_call"),
            reported_by="provider",
            error=short(item.get("error")),
            status=text(status) or None,
        )
    )


def output_result(item: Item, *, source: str, names: dict[Any, str] | None = None) -> ResultSeen:
    """A ``*_output`` item or an approval answer. ``source`` request: the harness's word; stream: the provider's."""
    asked = source == "request"
    said = {"source": source, "asserted_by": "request" if asked else "response"}
    if item.get("type") == "mcp_approval_response":
        return _decision(item, said)
    id_ = ident(item.get("call_id"), item.get("id"))
    content = item.get("output", item.get("result", item.get("tools")))
    return ResultSeen(
        result(
            id_,
            content,
            _outcome(item, content),
            name=(names or {}).get(id_) or None,
            reported_by="harness" if asked else "provider",
            error=short(item.get("error")),
            status=text(item.get("status")) or None,
            **said,
        )
    )


def _decision(item: Item, said: dict[str, str]) -> ResultSeen:
    approved = item.get("approve") is True
    state = ApprovalState.APPROVED if approved else ApprovalState.REJECTED
    return ResultSeen(
        result(
            item.get("approval_request_id"),
            text(item.get("reason")) or None,
            Outcome.UNKNOWN if approved else Outcome.REJECTED,
            final=not approved,
            reported_by="harness",
            approval=Approval(state, asserted_by=said["asserted_by"]),
            **said,
        )
    )


def _outcome(item: Item, content: Any) -> Outcome:
    """Only what marks it: exit code, timeout, patch status. ``completed`` is the item's state, not the tool's."""
    ends = [fields(o.get("outcome")) for o in rows(content)]
    codes = [o.get("exit_code") for o in ends if o.get("type") == "exit"]
    if any(o.get("type") == "timeout" for o in ends):
        return Outcome.TIMED_OUT
    if codes:
        return Outcome.OK if not any(codes) else Outcome.ERROR
    if item.get("status") == "failed" or item.get("error"):
        return Outcome.ERROR
    done = item.get("type") == "apply_patch_call_output" and item.get("status") == "completed"
    return Outcome.OK if done else Outcome.UNKNOWN


Read = tuple[str, str, dict[str, Any], ExecutedBy]


def _reader(kind: str) -> Callable[[Item, str], Read]:
    return _READERS.get(kind, _guess)


def _guess(item: Item, kind: str) -> Read:
    key = next((k for k in _GUESSES if item.get(k) is not None), None)
    name = text(item.get("name")) or kind.removesuffix("_call")
    return kind, name, {} if key is None else given(item[key]), _PROVIDER


def _whole(name: str, key: str, where: ExecutedBy) -> Callable[[Item, str], Read]:
    def read(item: Item, kind: str) -> Read:
        value = item.get(key)
        return kind, name, {} if value is None else given(value), where

    return read


def _one(name: str, key: str) -> Callable[[Item, str], Read]:
    """A provider-run item whose single field is its arguments: shown as an object of that field."""

    def read(item: Item, kind: str) -> Read:
        return kind, name, given({key: item.get(key)}), _PROVIDER

    return read


def _function(item: Item, kind: str) -> Read:  # noqa: ARG001 - one signature for the table
    said = item.get("arguments")
    return "function", text(item.get("name")), {} if said is None else given(said), _CLIENT


def _custom(item: Item, kind: str) -> Read:  # noqa: ARG001 - one signature for the table
    name = text(item.get("name"))
    return "custom", name, raw(text(item.get("input"))), _PROVIDER if name in _X_SEARCHES else _CLIENT


def _mcp(item: Item, kind: str) -> Read:
    return kind, text(item.get("name")), arguments(text(item.get("arguments"))), _PROVIDER


def _shell(item: Item, kind: str) -> Read:
    place = text(fields(item.get("environment")).get("type"))
    return kind, "shell", given(item.get("action")), _PROVIDER if place.startswith("container") else _CLIENT


def _search_tools(item: Item, kind: str) -> Read:
    where = _CLIENT if item.get("execution") == "client" else _PROVIDER
    return kind, "tool_search", given(item.get("arguments")), where


def _computer(item: Item, kind: str) -> Read:
    return kind, "computer", given(item.get("actions") or item.get("action")), _CLIENT


def _image(item: Item, kind: str) -> Read:  # noqa: ARG001 - one signature for the table
    return kind, "image_generation", {}, _PROVIDER


_READERS: dict[str, Callable[[Item, str], Read]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "mcp_call": _mcp,
    "mcp_approval_request": _mcp,
    "local_shell_call": _whole("local_shell", "action", _CLIENT),
    "shell_call": _shell,
    "apply_patch_call": _whole("apply_patch", "operation", _CLIENT),
    "computer_call": _computer,
    "tool_search_call": _search_tools,
    "web_search_call": _whole("web_search", "action", _PROVIDER),
    "file_search_call": _one("file_search", "queries"),
    "code_interpreter_call": _one("code_interpreter", "code"),
    "image_generation_call": _image,
    "program": _one("program", "code"),
}
_RESULT_FIELDS: dict[str, tuple[str, ...]] = {
    "mcp_call": ("output", "error"),
    "code_interpreter_call": ("outputs",),
    "file_search_call": ("results",),
    "web_search_call": ("results",),
    "image_generation_call": ("result",),
}
