"""Agents' own histories on this machine, read where they lie: one reader per agent, found by ``discover``.

A reader is one file here exposing ``READER``. It opens files for reading only, yields what they say in order, and
skips what it cannot read with a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from proxy.events import Event


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a history: ``events`` at wall-clock second ``at``. ``problem``: why a line could not be read."""

    session: str
    at: float
    events: tuple[Event, ...] = ()
    version: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    turn: bool = False
    problem: str | None = None
    size_bytes: int = 0


class Reader(Protocol):
    agent: str

    def files(self, home: Path, environment: Mapping[str, str]) -> list[Path]:
        """Histories of this agent, oldest first."""

    def read(self, path: Path) -> Iterator[Entry]: ...
