"""Claude Code's hooks: PreToolUse asks, PostToolUse and PostToolUseFailure report, SessionEnd ends.

In: one hook's JSON. Out: ``HookSeen``. ``tool_use_id`` is the model's block id and ``session_id`` the id in its
request header, so the sight joins the model leg's call; a call only the hook saw (a sub-agent on another connection)
is an action of its own. Source: vendor's hooks reference, read 2026-11; recorded on loopback with 2.1.197.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson

from classifiers.call import ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, ResultSeen
from proxy.hooks import HookSeen

_OUTCOMES = {"PostToolUse": Outcome.UNKNOWN, "PostToolUseFailure": Outcome.ERROR}


class ClaudeCode:
    client = "claude-code"

    def read(self, body: dict[str, Any]) -> HookSeen:
        name = body.get("hook_event_name")
        events: list[Event] = []
        if name == "PreToolUse" and isinstance(body.get("tool_name"), str):
            events.append(CallClosed(_call(body)))
        elif name in _OUTCOMES:
            events.append(ResultSeen(_result(body, _OUTCOMES[name])))
        cwd = body.get("cwd")
        return HookSeen(
            session=body.get("session_id") if isinstance(body.get("session_id"), str) else None,
            events=events,
            facts={"cwd": cwd, "cwd_source": "hook"} if isinstance(cwd, str) else {},
            session_ended=name == "SessionEnd",
        )


def _call(body: dict[str, Any]) -> ToolCall:
    arguments = body.get("tool_input")
    return ToolCall(
        name=body["tool_name"],
        arguments=arguments,
        arguments_text=orjson.dumps(arguments).decode(),
        arguments_valid=True,
        id=body.get("tool_use_id"),
        kind="hook",
        executed_by=ExecutedBy.CLIENT,
        observed_at=ObservedAt.HOOK,
        asserted_by="hook",
        subagent_id=body.get("agent_id"),
    )


def _result(body: dict[str, Any], outcome: Outcome) -> ToolResult:
    content = orjson.dumps(body.get("tool_response", body.get("error")))
    duration = body.get("duration_ms")
    error = body.get("error")
    return ToolResult(
        id=body.get("tool_use_id"),
        name=body.get("tool_name"),
        outcome=Outcome.CANCELLED if body.get("is_interrupt") is True else outcome,
        source="stream",
        asserted_by="hook",
        reported_by="hook",
        size_bytes=len(content),
        digest=sha256(content).hexdigest(),
        duration_ms=float(duration) if isinstance(duration, int | float) else None,
        error=error[:200] if isinstance(error, str) else None,
    )


HOOK = ClaudeCode()
