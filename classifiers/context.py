"""What is known around a call when it is classified: where it runs, whose home, which extra tool mappings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Context:
    """``cwd`` and ``home`` are absolute paths or None (unknown: relative targets then stay relative)."""

    cwd: str | None = None
    home: str | None = None
    workspace: str | None = None  # root of the project; falls back to cwd
    user: str | None = None
    shell: str | None = None  # bash | powershell | cmd, when the caller knows
    tools: dict[str, Any] = field(default_factory=dict)  # user mappings, same format as classifiers/tools/*.yaml
    agent: str | None = None
    max_ms: float = 50.0


NOWHERE = Context()
