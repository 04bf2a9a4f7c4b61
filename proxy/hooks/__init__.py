"""Hooks agents call by themselves, one reader per client: its JSON in, calls and results out.

A reader is one file here exposing ``HOOK``, found by ``discover``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from proxy.events import Event


@dataclass(frozen=True, slots=True)
class HookSeen:
    """``facts`` in the sense of ``proxy.events.Facts``; ``session`` is the client's own id."""

    session: str | None = None
    events: list[Event] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    session_ended: bool = False


class HookReader(Protocol):
    client: str

    def read(self, body: dict[str, Any], shared: dict[str, Any]) -> HookSeen:
        """``shared``: what providers remember across exchanges (``Exchange.shared``), JSON values only."""
