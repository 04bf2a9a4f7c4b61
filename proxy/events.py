"""What assembly yields: plain values, in wire order, each call and each result exactly once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from classifiers.call import Definition, ToolCall, ToolResult


@dataclass(frozen=True, slots=True)
class CallClosed:
    """A call closed (or, with ``call.complete`` False, will never close)."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ResultSeen:
    """A result, or a later sight of a call's status or approval."""

    result: ToolResult


@dataclass(frozen=True, slots=True)
class HistorySeen:
    """The request re-sent earlier turns: ids and names that are claims, never new calls.

    ``prefix_hashes``: one per message, cache marks ignored, oldest first (session joining).
    """

    call_ids: tuple[str | int | None, ...] = ()
    prefix_hashes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolsOffered:
    """The tool list of this request or session (``present`` False: the request carried none).

    ``forced``: the tool the request insists on, ``*`` for "one of them", None for a free choice.
    """

    definitions: tuple[Definition, ...] = ()
    present: bool = True
    forced: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Protocol facts as they become known; later values win, absent keys change nothing.

    Keys used: protocol, model, response_id, previous_response_id, conversation_id, session_ids {source: value},
    usage {input, output, cached, reasoning}, agent {name, version}, agent_id, parent_agent_id, cwd, cwd_source,
    mcp_session, mcp_protocol_version, traceparent, thread_id, run_id, finish_reason, error,
    pending {declared, derived},
    client_would_reject (the first reason), parent_run_id, interrupt {id, reason, deadline} and decision {interrupt,
    state} of an AG-UI interrupt that names no call.
    """

    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unread:
    """Bytes that could not be read. Never silence. ``reason`` is a sentence, ``label`` one word of a closed list."""

    content_type: str
    size_bytes: int
    reason: str
    side: str = "response"

    @property
    def label(self) -> str:
        return next((label for part, label in _LABELS if part in self.reason), "other")


# what a reason says -> its label; the first that fits
_LABELS = (
    ("no_provider", "no_provider"),
    ("no framing", "no_framing"),
    ("failed:", "provider_failed"),
    ("over the cap", "over_cap"),
    ("cut off", "cut_off"),
    ("before its end", "cut_off"),
    ("labelled", "coding"),
    ("content-encoding", "coding"),
    ("damaged", "damaged"),
    ("checksum", "damaged"),
    ("JSON", "not_json"),
)
UNREAD_LABELS = (*dict.fromkeys(label for _, label in _LABELS), "other")


Event = CallClosed | ResultSeen | HistorySeen | ToolsOffered | Facts | Unread
