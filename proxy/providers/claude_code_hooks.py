"""What an agent's hooks report, as Claude Code sends it: one payload about one tool use in, its call and result out.

Fields measured on 2.1.197: the tool use id is the model's own block id, so this leg joins the model's. A payload that
reports the end shows the call too; which uses were already shown is remembered per session.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import Approval, ApprovalState, ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, Facts, ResultSeen
from proxy.exchange import Ending, Exchange
from proxy.providers import Assembly
from proxy.providers._calls import fields, short, text
from proxy.providers._memory import slot
from proxy.providers._reading import arguments_of_value, content_facts, trimmed
from proxy.wire import Frame

# Event -> how the use ended; None: it is about to begin.
_TOOL_EVENTS: dict[str, Outcome | None] = {
    "PreToolUse": None,
    "PermissionRequest": None,
    "PermissionDenied": Outcome.REJECTED,
    "PostToolUse": Outcome.OK,
    "PostToolUseFailure": Outcome.ERROR,
}


class HookPayload:
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._asked: dict[str, Any] = {}  # the payload whose answer may decide

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body = exchange.request_json
        if not isinstance(body, dict):
            return
        yield Facts(_facts(body))
        event = text(body.get("hook_event_name"))
        if event not in _TOOL_EVENTS or not text(body.get("tool_name")):
            return
        seen = slot(exchange, "claude-code-hooks", text(body.get("session_id")) or exchange.id)
        use = text(body.get("tool_use_id"))
        if not use or use not in seen:
            trimmed(seen)[use] = True
            yield self._call(body, use)
        yield from self._sights(body, use, event)
        self._asked = body if event in ("PreToolUse", "PermissionRequest") else {}

    def frame(self, frame: Frame) -> Iterator[Event]:
        """The hook's answer: an explicit word for or against the use it was asked about."""
        state = _decision(frame.data) if self._asked else None
        if state is not None:
            yield ResultSeen(
                ToolResult(
                    id=text(self._asked.get("tool_use_id")) or None,
                    name=text(self._asked.get("tool_name")),
                    outcome=Outcome.REJECTED if state is ApprovalState.REJECTED else Outcome.UNKNOWN,
                    final=False,
                    asserted_by="response",
                    reported_by="hook",
                    approval=Approval(state, asserted_by="response"),
                    thread_id=text(self._asked.get("session_id")) or None,
                )
            )

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - one payload is whole or not there
        return iter(())

    def _call(self, body: dict[str, Any], use: str) -> Event:
        name = text(body.get("tool_name"))
        parts = name.split("__", 2)
        return CallClosed(
            ToolCall(
                name=name,
                id=use or None,
                **arguments_of_value(body.get("tool_input")),
                executed_by=ExecutedBy.CLIENT,
                server=parts[1] if len(parts) == 3 and parts[0] == "mcp" else None,
                subagent_id=text(body.get("agent_id")) or None,
                thread_id=text(body.get("session_id")) or None,
                observed_at=ObservedAt.HOOK,
                asserted_by="hook",
            )
        )

    def _sights(self, body: dict[str, Any], use: str, event: str) -> Iterator[Event]:
        outcome = _TOOL_EVENTS[event]
        if outcome is None and event != "PermissionRequest":
            return
        response = body.get("tool_response")
        stopped = body.get("is_interrupt") is True or (
            isinstance(response, dict) and response.get("interrupted") is True
        )
        content = response if response is not None else body.get("error")
        duration = body.get("duration_ms")
        yield ResultSeen(
            ToolResult(
                id=use or None,
                name=text(body.get("tool_name")),
                outcome=Outcome.CANCELLED if stopped else outcome or Outcome.UNKNOWN,
                final=outcome is not None,
                source="request",
                asserted_by="hook",
                reported_by="hook",
                duration_ms=float(duration) if isinstance(duration, (int, float)) else None,
                approval=Approval(_APPROVALS[event], asserted_by="hook") if event in _APPROVALS else Approval(),
                error=short(body.get("error")),
                thread_id=text(body.get("session_id")) or None,
                **(content_facts(content) if content is not None else {}),
            )
        )


def _decision(answer: Any) -> ApprovalState | None:
    """What the answer to PreToolUse or PermissionRequest decides; None when it leaves that to others."""
    own = fields(fields(answer).get("hookSpecificOutput"))
    said = own.get("permissionDecision") or fields(own.get("decision")).get("behavior")
    word = said or fields(answer).get("decision")
    return _DECISIONS.get(word) if isinstance(word, str) else None


_DECISIONS = {
    "deny": ApprovalState.REJECTED,
    "block": ApprovalState.REJECTED,
    "allow": ApprovalState.APPROVED,
    "approve": ApprovalState.APPROVED,
    "ask": ApprovalState.REQUIRED,
}
_APPROVALS = {"PermissionRequest": ApprovalState.REQUIRED, "PermissionDenied": ApprovalState.REJECTED}


def _facts(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"protocol": "claude-code-hooks", "agent": {"name": "claude-code", "version": None}}
    if text(body.get("session_id")):
        found["session_ids"] = {"claude-code.session_id": body["session_id"]}
    if text(body.get("cwd")):
        found |= {"cwd": body["cwd"], "cwd_source": "hook"}
    if text(body.get("agent_id")):
        found["agent_id"] = body["agent_id"]
    return found


class _Hooks:
    name = "claude-code-hooks-http"
    dialect_of: str | None = None

    def claims(self, exchange: Exchange, first: Frame | None) -> int:  # noqa: ARG002 - everything is in the request
        body = exchange.request_json
        is_hook = isinstance(body, dict) and isinstance(body.get("hook_event_name"), str) and "session_id" in body
        return 120 if is_hook else 0

    def open(self, exchange: Exchange) -> Assembly:
        return HookPayload(exchange)


PROVIDER = _Hooks()
