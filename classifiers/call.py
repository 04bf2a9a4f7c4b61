"""A closed tool call and a reported result, whatever wire they came from.

The providers build these (``proxy/providers``), the surfaces read them, the record keeps them.
Every field a wire may leave out is None here: absent is "not reported", never a default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class ExecutedBy(StrEnum):
    CLIENT = "client"
    PROVIDER = "provider"
    MCP_SERVER = "mcp_server"
    AGENT = "agent"
    UNKNOWN = "unknown"


class Advertised(StrEnum):
    YES = "yes"
    NO = "no"
    NOT_NEEDED = "not_needed"
    UNKNOWN = "unknown"


class Status(StrEnum):
    """The vendor ToolCall schema's lifecycle, used for every protocol; the integer on the wire is the index."""

    PENDING = "PENDING"
    EXECUTING = "EXECUTING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    REQUIRES_CONFIRMATION = "REQUIRES_CONFIRMATION"
    CANCELLED = "CANCELLED"
    TIMED_OUT = "TIMED_OUT"


class ObservedAt(StrEnum):
    MODEL_RESPONSE = "model_response"
    MCP_REQUEST = "mcp_request"
    AGUI_EVENT = "agui_event"
    SCHEMA_API = "schema_api"
    HOOK = "hook"
    TEXT = "text"
    IMPORT = "import"


class ApprovalState(StrEnum):
    NONE = "none"
    REQUIRED = "required"
    APPROVED = "approved"
    REJECTED = "rejected"
    EXPIRED = "expired"
    LATE = "late"
    UNKNOWN = "unknown"


class Outcome(StrEnum):
    """What was *reported* of a call. UNKNOWN: something came back and nothing marks it."""

    OK = "ok"
    ERROR = "error"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    TIMED_OUT = "timed_out"
    ANSWERED_EMPTY = "answered_empty"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Approval:
    state: ApprovalState = ApprovalState.NONE
    deadline: str | None = None
    decided_at: str | None = None
    decided_by: str | None = None
    asserted_by: str | None = None  # request | response | hook


@dataclass(frozen=True, slots=True)
class Definition:
    """How the tool was advertised. Claims of the other side: recorded, hashed, never trusted."""

    name: str
    description: str | None = None
    schema: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    schema_hash: str | None = None
    description_hash: str | None = None


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. ``arguments`` is the parsed JSON value (any type), or None when ``arguments_valid`` is not True.

    ``complete`` False: the call never closed on the wire; its arguments are a prefix.
    """

    name: str
    arguments: Any = None
    arguments_text: str = ""
    id: str | int | None = None
    kind: str = "function"  # the wire's own word
    executed_by: ExecutedBy = ExecutedBy.UNKNOWN
    advertised: Advertised = Advertised.UNKNOWN
    arguments_valid: bool | None = None
    arguments_error: str | None = None
    schema_valid: bool | str | None = None  # True | False | None | "not_checked"
    complete: bool = True
    status: Status | int | str | None = None  # reported; unknown numbers and names are kept raw
    end_reason: str | None = None
    approval: Approval = field(default_factory=Approval)
    definition: Definition | None = None
    server: str | None = None
    batch: int = 0  # response or turn ordinal in the exchange
    ordinal: int = 0  # place within the batch
    parent_message: str | None = None
    run_id: str | None = None
    thread_id: str | None = None
    subagent_id: str | None = None
    stream_id: str | None = None  # several conversations on one socket
    observed_at: ObservedAt = ObservedAt.MODEL_RESPONSE
    asserted_by: str = "response"
    purpose: str = "action"  # action | structured_output | context | question
    caller: str | None = None  # a program that made the call (code execution), by id
    client_would_reject: bool = False
    reopened: bool = False  # supersedes the earlier closing of the same id
    conflicts: tuple[str, ...] = ()  # readings that disagree, e.g. "name: a | b"
    extra: dict[str, Any] = field(default_factory=dict)  # wire facts with no field of their own, JSON values only


@dataclass(frozen=True, slots=True)
class ToolResult:
    """One reported result, or (``final`` False) a later sight of the call's status or approval."""

    id: str | int | None = None
    name: str | None = None
    outcome: Outcome = Outcome.UNKNOWN
    final: bool = True
    source: str = "stream"  # stream | request | reply (answers the request that held the call)
    asserted_by: str = "response"  # request | response | hook
    reported_by: str = "harness"  # harness | tool_server | provider | agent | hook
    size_bytes: int = 0
    digest: str | None = None  # sha256 hex of the content's JSON text; the content itself is not kept
    parts: tuple[dict[str, Any], ...] = ()  # {type, source, mime, bytes, digest}
    lossy: bool = False
    duration_ms: float | None = None
    status: Status | int | str | None = None
    end_reason: str | None = None
    approval: Approval = field(default_factory=Approval)
    error: str | None = None  # short, as reported
    run_id: str | None = None
    thread_id: str | None = None
    stream_id: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
