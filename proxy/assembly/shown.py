"""What ``onlooker assemble`` prints: events of an exchange or a session in, one plain dictionary out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from classifiers.call import Advertised, ApprovalState, ExecutedBy, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, ResultSeen, Unread

_OUTCOMES = {Outcome.REJECTED: "denied", Outcome.EXPIRED: "cancelled", Outcome.TIMED_OUT: "error"}
_SAID = frozenset({Outcome.OK, Outcome.ERROR, Outcome.CANCELLED})
# Reads of context and questions to a model or a person: recorded as their own kinds, not tool calls.
_NOT_TOOLS = frozenset({"context", "question"})


def rendered(events: list[Event]) -> dict[str, Any]:
    """The printed shape of what assembly yielded (docs/protocols.md)."""
    return {
        "calls": [_call(call) for call in settled(events) if call.purpose not in _NOT_TOOLS],
        "context": [_call(call) for call in settled(events) if call.purpose in _NOT_TOOLS],
        "results": [_result(e.result) for e in events if isinstance(e, ResultSeen) and _tells(e.result)],
        "unread": [
            {"content_type": e.content_type, "bytes": e.size_bytes, "reason": e.reason}
            for e in events
            if isinstance(e, Unread)
        ],
    }


def settled(events: list[Event]) -> list[ToolCall]:
    """Each call once, as last known: a reopened one replaces its earlier closing, later sights add what they report."""
    calls: list[ToolCall] = []
    for event in events:
        if isinstance(event, CallClosed):
            place = _place(calls, event.call.id, None) if event.call.reopened else None
            if place is None:
                calls.append(event.call)
            else:
                calls[place] = event.call
        elif isinstance(event, ResultSeen):
            place = _place(calls, event.result.id, event.result.name)
            if place is not None:
                calls[place] = _with_sight(calls[place], event.result)
    return calls


def _with_sight(call: ToolCall, sight: ToolResult) -> ToolCall:
    """Who ran it is known from whoever answered; status and approval only from the side that reports, never a claim."""
    said, told = sight.extra, sight.asserted_by == "response"
    decided = told and sight.approval.state is not ApprovalState.NONE
    return replace(
        call,
        executed_by=ExecutedBy(said.get("executed_by", call.executed_by)),
        advertised=Advertised(said.get("advertised", call.advertised)),
        server=call.server or said.get("server"),
        status=sight.status if told and sight.status is not None else call.status,
        end_reason=sight.end_reason if told and sight.end_reason else call.end_reason,
        approval=sight.approval if decided else call.approval,
    )


def _place(calls: list[ToolCall], call_id: str | int | None, name: str | None) -> int | None:
    back = range(len(calls) - 1, -1, -1)
    return next((at for at in back if calls[at].id == call_id and name in (None, calls[at].name)), None)


def _tells(result: ToolResult) -> bool:
    """A result, or a refusal: that is decided before any result, and the call may never get one."""
    return result.final or result.outcome is Outcome.REJECTED


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments_text if call.arguments_valid is False or _bare(call) else call.arguments,
        "arguments_text": call.arguments_text,
        "arguments_valid": call.arguments_valid,
        "executed_by": call.executed_by.value,
        "advertised": call.advertised.value,
        "complete": call.complete,
        "kind": call.kind,
        "status": call.status,
        "end_reason": call.end_reason,
        "approval": call.approval.state.value,
        "server": call.server,
        "caller": call.caller,
        "purpose": call.purpose,
    }


def _bare(call: ToolCall) -> bool:
    """No argument text at all: shown as it was sent."""
    return call.arguments_valid is None and call.arguments == {}


def _result(result: ToolResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "name": result.name,
        "outcome": _OUTCOMES.get(result.outcome, result.outcome.value if result.outcome in _SAID else "unknown"),
        "source": "request" if result.source == "request" else "stream",
    }
