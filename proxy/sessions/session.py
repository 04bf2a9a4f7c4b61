"""What is remembered of one session: who, where, its turns, its calls, and what the record of its end will say.

In: updates by the book and the analyzer. Out: the ``session`` part of each record, and the summary at the end.
Plain data without open resources, so a checkpoint can keep it whole.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from proxy.sessions.calls import CallTable
from proxy.sessions.cwd import Cwd

MAX_TOOLS = 2000


@dataclass(slots=True)
class Session:
    """``strength``: strong | inferred | weak. Times are wall-clock seconds of the traffic, not of the analysis."""

    id: str
    source: str
    strength: str
    started_at: float
    last_at: float
    agent: str | None = None
    agent_version: str | None = None
    pid: int | None = None  # the first of its callers whose process was found
    turn: int = 0
    cwd: Cwd = field(default_factory=Cwd)
    calls: CallTable = field(default_factory=CallTable)
    counts: Counter[str] = field(default_factory=Counter)
    tools: dict[str, tuple[str | None, str | None]] = field(default_factory=dict)
    legs: set[str] = field(default_factory=set)
    said: set[str] = field(default_factory=set)  # what is reported once per session
    objective: str | None = None  # id, hash and source of the binding last recorded
    usage: Counter[str] = field(default_factory=Counter)
    started: bool = False  # its start record is written

    def note_tool(self, name: str, schema: str | None, description: str | None) -> bool:
        """Remember how a tool was offered. True when an earlier definition of the same name differs."""
        before = self.tools.get(name)
        if len(self.tools) < MAX_TOOLS or before is not None:
            self.tools[name] = (schema, description)
        return before is not None and before != (schema, description)

    def to_record(self) -> dict[str, Any]:
        """The ``session`` part of a record."""
        return {
            "id": self.id,
            "turn": self.turn,
            "source": self.source,
            "strength": self.strength,
            "cwd": self.cwd.to_json(),
        }

    def summary(self) -> dict[str, Any]:
        """Completeness at the end: what was seen, and what is known to be missing."""
        unanswered = self.calls.open()
        return {
            "calls": self.counts["calls"],
            "unanswered": len(unanswered),
            "incomplete": self.counts["incomplete"],
            "unread": self.counts["unread"],
            "unread_bytes": self.counts["unread_bytes"],
            "opaque_flows": self.counts["opaque_flows"],
            "gaps": self.counts["gaps"],
            "refusals": self.counts["refusals"],
            "analysis_failed": self.counts["analysis_failed"],
            "exchanges": self.counts["exchanges"],
            "turns": self.turn,
            "legs": sorted(self.legs),
            "evicted_calls": self.calls.evicted,
            "tools_offered": {n: {"schema_hash": s, "description_hash": d} for n, (s, d) in sorted(self.tools.items())},
            "usage": dict(self.usage),
        }
