"""What an MCP server says of a call: its result, that it needs something first, that it became a task.

Parsed JSON-RPC results in, ResultSeen out, and the questions an unfinished call asks as calls of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, ResultSeen
from proxy.exchange import Side
from proxy.providers._calls import fields, hashed, text
from proxy.providers._mcp_state import McpState
from proxy.providers._mcp_words import (
    KINDS,
    TASK_ENDS,
    arguments_in,
    error_text,
    name_of,
    named,
    outcome_of,
    person_said,
    task_in,
)
from proxy.providers._reading import arguments_of_value, content_facts, trimmed

Waiting = dict[str, Any]  # {method, id, name, arguments?, task?} of a request without an answer


def answered(state: McpState, waiting: Waiting, result: Any, error: Any, side: Side) -> Iterator[Event]:
    """The reply to a call: final, or a step on the way."""
    if error is None and isinstance(result, dict):
        if result.get("resultType") == "input_required":
            yield from _input_required(state, waiting, result)
            return
        handle = task_in(result)
        if handle is not None:
            trimmed(state.book().setdefault("tasks", {}))[handle["taskId"]] = waiting
            yield sight(waiting, {"task": handle["taskId"], "task_status": handle.get("status")})
            return
    yield _final(state, waiting, result, error, side)


def early_facts(message: dict[str, Any]) -> dict[str, Any]:
    """What to remember of an answer whose request was not read yet: never its content."""
    result, error = message.get("result"), message.get("error")
    content = result.get("content", result) if isinstance(result, dict) else result
    facts = content_facts(content if error is None else error)
    outcome = outcome_of("tools/call", result, error).value
    return {
        "outcome": outcome,
        "error": error_text(error),
        "size_bytes": facts["size_bytes"],
        "digest": facts["digest"],
    }


def from_early(waiting: Waiting, early: dict[str, Any]) -> Event:
    """The answer that was there before its request; its parts were not kept."""
    return ResultSeen(
        ToolResult(
            id=waiting["id"],
            name=waiting.get("name"),
            source="reply",
            reported_by=KINDS[waiting["method"]].reported_by,
            lossy=True,
            **{**early, "outcome": Outcome(early["outcome"])},
        )
    )


def sight(waiting: Waiting, extra: dict[str, Any], **more: Any) -> Event:
    """Something is known of the call that is not its result."""
    told = {"source": "reply", "reported_by": "tool_server", **more}
    return ResultSeen(ToolResult(id=waiting["id"], name=waiting.get("name"), final=False, extra=extra, **told))


def _final(state: McpState, waiting: Waiting, result: Any, error: Any, side: Side) -> Event:
    content = result.get("content", result) if isinstance(result, dict) else result
    code = {"code": error.get("code")} if isinstance(error, dict) else {}
    return ResultSeen(
        ToolResult(
            id=waiting["id"],
            name=waiting.get("name"),
            outcome=outcome_of(waiting["method"], result, error),
            source="reply",
            asserted_by=side.value,
            reported_by=KINDS[waiting["method"]].reported_by,
            error=error_text(error),
            extra={**code, **named(state.server())},
            **content_facts(content if error is None else error),
        )
    )


# several steps


def _input_required(state: McpState, waiting: Waiting, result: dict[str, Any]) -> Iterator[Event]:
    """The call is not over: remember how its retry will name it, and record what is asked of the client."""
    yield sight(waiting, {"result_type": "input_required"})
    requests = fields(result.get("inputRequests"))
    asked = state.book().setdefault("asked", {})
    if result.get("requestState") is not None:
        asked[hashed(result["requestState"])] = {"id": waiting["id"]}
    asked[question_key(waiting.get("name"), waiting.get("arguments"), requests)] = {"id": waiting["id"]}
    trimmed(asked, 1024)
    for key, item in requests.items():
        method, params = text(fields(item).get("method")), fields(fields(item).get("params"))
        if method not in KINDS:
            continue
        kind = KINDS[method]
        yield CallClosed(
            ToolCall(
                name=name_of(method, params),
                id=f"{waiting['id']}:{key}",
                **arguments_of_value(arguments_in(method, params)),
                kind=kind.kind,
                purpose=kind.purpose,
                executed_by=kind.executed_by,
                server=state.server(),
                ordinal=state.next_ordinal(),
                observed_at=ObservedAt.MCP_REQUEST,
                extra={"for_call": waiting["id"]},
            )
        )


def continued(state: McpState, params: dict[str, Any]) -> Waiting | None:
    """The call a request goes on with: it echoes a state the server gave, or answers what that asked."""
    echoed, responses = params.get("requestState"), params.get("inputResponses")
    asked = state.book().get("asked", {})
    keys = [hashed(echoed)] if echoed is not None else []
    if isinstance(responses, dict):
        keys.append(question_key(params.get("name"), hashed(params.get("arguments")), responses))
    found = next((asked[key] for key in keys if key in asked), None)
    return found if isinstance(found, dict) else None


def given(call_id: Any, responses: Any) -> Iterator[Event]:
    """What the client answered to the questions of an unfinished call."""
    for key, answer in responses.items() if isinstance(responses, dict) else ():
        yield ResultSeen(
            ToolResult(
                id=f"{call_id}:{key}",
                outcome=person_said(answer),
                source="request",
                asserted_by="request",
                reported_by="harness",
                **content_facts(answer),
            )
        )


def question_key(name: Any, arguments: Any, keyed: dict[str, Any]) -> str:
    """How a retry without a state is known again: same tool, same arguments, answers to exactly what was asked."""
    return f"input:{hashed([name, arguments, sorted(keyed)])}"


# tasks


def task_told(state: McpState, waiting: Waiting, result: Any, error: Any) -> Iterator[Event]:
    """A task's state, or its result. ``completed`` alone says the result can be fetched; a bad end is final."""
    task = waiting.get("task", "")
    call = state.book().get("tasks", {}).get(task)
    if not isinstance(call, dict):
        return
    said = fields(result)
    status = text(said.get("status"))
    inner = said.get("result", said.get("error")) if status else None
    fetched = waiting["method"] == "tasks/result" and not status
    outcome = TASK_ENDS.get(status)
    if not (fetched or inner is not None or outcome is not None):
        if status:
            yield sight(call, {"task": task, "task_status": status})
        elif error is not None:
            yield sight(call, {"task": task, "task_error": error_text(error)})
        return
    del state.book()["tasks"][task]
    if outcome is None:
        yield _final(state, call, result if inner is None else inner, error, Side.RESPONSE)
        return
    yield ResultSeen(
        ToolResult(
            id=call["id"],
            name=call.get("name"),
            outcome=outcome,
            source="reply",
            reported_by="tool_server",
            end_reason=f"task {status}",
        )
    )
