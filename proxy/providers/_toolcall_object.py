"""The vendor ToolCall object, wherever it stands: recognised by its own fields, read into plain values.

Any JSON value in; the ToolCall objects inside it out, each with what the objects around it say (conversation, run).
Spelling follows protobuf-JSON: camelCase or snake_case, enums by name or number, absent ``status`` is not reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from classifiers.call import Approval, ApprovalState, Definition, ExecutedBy, Outcome, Status
from proxy.providers._ag_ui_input import camel
from proxy.providers._calls import definition, text

PREFIX = "TOOL_EXECUTION_STATUS_"
TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.TIMED_OUT})
MAX_DEPTH = 64
MAX_OBJECTS = 100_000
LOOK_AHEAD = 400  # containers looked at to tell whose exchange this is
_DURATION = re.compile(r"-?\d{1,12}(?:\.\d{1,9})?s")
# The schema's own fields. Those of the second group stand in a tool's *definition* as well.
_OF_A_CALL = ("requiresApprovalAt", "clientToolDeadlineAt", "endReason", "executionDuration", "resultJson")
_OF_A_TOOL = ("isClientTool", "serverId", "parametersJsonSchema")
_AROUND = ("conversationKey", "threadId", "runId", "generatedBy", "messageId")


@dataclass(frozen=True, slots=True)
class Sight:
    """One ToolCall object (camelCase) and its surroundings: conversation, thread, run, message ids, nearest first."""

    fields: dict[str, Any]
    around: dict[str, Any]


def is_tool_call(plain: dict[str, Any]) -> bool:
    """A name with an argument object or a status of this schema, or two of its own fields, one of them a call's.

    A tool's definition has a name, a server and a schema too: without anything of a call it counts only with an id.
    """
    named, ident = isinstance(plain.get("name"), str), isinstance(plain.get("id"), str)
    status = plain.get("status")
    marked = isinstance(status, str) and status.startswith(PREFIX)
    if named and (marked or isinstance(plain.get("argumentsJson"), dict)):
        return True
    lived = sum(plain.get(key) is not None for key in _OF_A_CALL) + marked
    told = sum(plain.get(key) is not None for key in _OF_A_TOOL)
    return lived + told >= 2 and (ident or (named and lived > 0))


def sights(value: Any, limit: int = MAX_OBJECTS) -> list[Sight]:
    """Every ToolCall object among the first ``limit`` containers, in order. Arguments and results are not searched."""
    return list(_walk(value, {}, MAX_DEPTH, [limit]))


def _walk(value: Any, around: dict[str, Any], depth: int, budget: list[int]) -> Iterator[Sight]:
    budget[0] -= 1
    if depth <= 0 or budget[0] <= 0:
        return
    if isinstance(value, list):
        for item in value:
            if isinstance(item, (dict, list)):
                yield from _walk(item, around, depth - 1, budget)
    elif isinstance(value, dict):
        plain = camel(value)
        if is_tool_call(plain):
            yield Sight(plain, around)
            return
        said = {key: plain[key] for key in _AROUND if plain.get(key) is not None}
        inner = {**around, **said} if said else around
        for item in plain.values():
            if isinstance(item, (dict, list)):
                yield from _walk(item, inner, depth - 1, budget)


def status_of(plain: dict[str, Any]) -> Status | int | str | None:
    """As reported: a known name or number is the enum, an unknown one stays raw, absent stays None."""
    raw = plain.get("status")
    if isinstance(raw, bool) or not isinstance(raw, (int, str)):
        return None
    if isinstance(raw, int):
        return tuple(Status)[raw] if 0 <= raw < len(Status) else raw
    return Status.__members__.get(raw.removeprefix(PREFIX), raw)


def executed_by(plain: dict[str, Any]) -> ExecutedBy:
    if plain.get("isClientTool") is True:
        return ExecutedBy.CLIENT
    return ExecutedBy.MCP_SERVER if text(plain.get("serverId")) else ExecutedBy.UNKNOWN


def definition_of(plain: dict[str, Any]) -> Definition | None:
    """What the call carries of its tool's definition, captured when it was emitted."""
    said, schema = plain.get("description"), plain.get("parametersJsonSchema")
    if not isinstance(said, str) and not isinstance(schema, dict):
        return None
    return definition(text(plain.get("name")), said, schema)


def duration_ms(plain: dict[str, Any]) -> float | None:
    """protobuf Duration, ``"1.25s"``, in milliseconds."""
    raw = plain.get("executionDuration")
    return float(raw[:-1]) * 1000 if isinstance(raw, str) and _DURATION.fullmatch(raw) else None


def outcome_of(plain: dict[str, Any]) -> Outcome:
    """What the status reports; the end reason tells a decision against the call from a failure of it."""
    reason = text(plain.get("endReason")).lower()
    if _rejected(reason):
        return Outcome.REJECTED
    if _expired(reason):
        return Outcome.EXPIRED
    status = status_of(plain)
    return _OUTCOMES.get(status, Outcome.UNKNOWN) if isinstance(status, Status) else Outcome.UNKNOWN


_OUTCOMES = {
    Status.COMPLETED: Outcome.OK,
    Status.FAILED: Outcome.ERROR,
    Status.CANCELLED: Outcome.CANCELLED,
    Status.TIMED_OUT: Outcome.TIMED_OUT,
}


def approval_of(plain: dict[str, Any], asserted_by: str) -> Approval:
    """Approved only on evidence that it went on: ``approvedAt`` is set on rejections too."""
    deadline, decided_at = plain.get("requiresApprovalAt"), plain.get("approvedAt")
    decided_by = plain.get("approvedBy")
    state = _approval_state(plain, deadline, decided_at)
    if state is ApprovalState.NONE:
        return Approval()
    return Approval(
        state=state,
        deadline=deadline if isinstance(deadline, str) else None,
        decided_at=decided_at if isinstance(decided_at, str) else None,
        decided_by=decided_by if isinstance(decided_by, str) and decided_by else None,
        asserted_by=asserted_by,
    )


def _approval_state(plain: dict[str, Any], deadline: Any, decided_at: Any) -> ApprovalState:
    reason, status = text(plain.get("endReason")).lower(), status_of(plain)
    if _rejected(reason):
        return ApprovalState.REJECTED
    if _later(decided_at, deadline):
        return ApprovalState.LATE
    if _expired(reason):
        return ApprovalState.EXPIRED
    if decided_at or plain.get("approvedBy"):
        went_on = status in (Status.EXECUTING, Status.COMPLETED) or bool(plain.get("executedAt"))
        return ApprovalState.APPROVED if went_on else ApprovalState.UNKNOWN
    if status is Status.REQUIRES_CONFIRMATION or (deadline and status not in TERMINAL):
        return ApprovalState.REQUIRED
    return ApprovalState.UNKNOWN if deadline else ApprovalState.NONE


def _rejected(reason: str) -> bool:
    return "approval" in reason and any(word in reason for word in ("reject", "denied", "declin"))


def _expired(reason: str) -> bool:
    return "approval" in reason and any(word in reason for word in ("timeout", "timed out", "expire"))


def _later(moment: Any, limit: Any) -> bool:
    if not isinstance(moment, str) or not isinstance(limit, str):
        return False
    try:
        return datetime.fromisoformat(moment) > datetime.fromisoformat(limit)
    except (ValueError, TypeError):  # not a time, or only one of the two names its zone
        return False
