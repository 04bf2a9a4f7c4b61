"""Find a record by its id in the logs of a state: its own, those of ``run``, the last ``scan`` and ``import``.

In: the state folder and an id. Out: the record, the later lines about it, the folder it lies in; or None.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.read import about, by_id


@dataclass(frozen=True, slots=True)
class Found:
    record: dict[str, Any]
    later: list[dict[str, Any]]
    state: Path


def states_below(state: Path) -> list[Path]:
    """``state`` itself, its runs newest first, its last scan and import."""
    runs = sorted((state / "runs").glob("*"), reverse=True) if (state / "runs").is_dir() else []
    return [state, *runs, state / "scan", state / "import"]


def find(state: Path, identity: str) -> Found | None:
    for folder in states_below(state):
        try:
            record = by_id(folder, identity)
        except FileNotFoundError:
            continue
        if record is not None:
            return Found(record, about(folder, record["id"]), folder)
    return None
