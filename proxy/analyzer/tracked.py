"""One exchange while the analyzer reads it: its assembler, what its request said, and where its records stand.

In: nothing of its own. Out: state the analyzer's steps share. ``applied`` counts the events that changed any state:
after a restart the capture is read again from the exchange's beginning, and what was applied before is passed over.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from classifiers.call import ToolCall
from proxy.assembly import ExchangeAssembler
from proxy.events import HistorySeen
from proxy.exchange import Exchange
from proxy.sessions.identity import Identity
from proxy.sessions.session import Session

SLOTS = 5  # records one event can give: itself, a session's start, a finding about it, a failure, a declaration


@dataclass(slots=True)
class Tracked:
    writer: str
    number: int | str
    exchange: Exchange
    assembler: ExchangeAssembler
    generation: int = 0
    identity: Identity = field(default_factory=Identity)
    session: Session | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    history: HistorySeen = field(default_factory=HistorySeen)
    stated: dict[str, str] | None = None  # working directories its prompt names, by agent, once the request is let go
    mode: str = ""
    listener: str = ""
    fingerprints: dict[str, str] = field(default_factory=dict)
    events: int = 0
    applied: int = 0
    turned: bool = False
    results: Counter[tuple[str, str]] = field(default_factory=Counter)
    bytes_in: int = 0
    bytes_out: int = 0
    wall_offset_ns: int = 0
    last_mono_ns: int = 0
    over: bool = False
    opened_mono_ns: int = 0
    fed: int = 0  # events of the capture given to it, in all its lives
    skip: int = 0  # of those, how many the capture will show again
    imported_as: str | None = None  # hooks and transcripts have a protocol and no bytes to assemble

    @property
    def protocol(self) -> str | None:
        return self.imported_as or self.assembler.api

    @property
    def place(self) -> str:
        return f"{self.writer}/{self.number}"

    def src(self, slot: int = 0) -> dict[str, Any]:
        """The place of the record the current event gives; the same after every restart."""
        return {"writer": self.writer, "exchange": self.number, "ordinal": self.events * SLOTS + slot}

    @property
    def wall_s(self) -> float:
        return (self.last_mono_ns + self.wall_offset_ns) / 1e9

    def trace(self) -> str | None:
        """The trace id of the caller, from the header or the protocol's own field (W3C traceparent)."""
        value = str(self.facts.get("traceparent") or self.exchange.request.get("traceparent"))
        parts = value.split("-")
        return parts[1] if len(parts) >= 4 and len(parts[1]) == 32 else None


def shown_again(tracked: Tracked, call: ToolCall) -> bool:
    """Whether the request's history, or an API that re-shows objects, makes this a second look at an old call."""
    return call.id is not None and (call.observed_at == "schema_api" or call.id in tracked.history.call_ids)
