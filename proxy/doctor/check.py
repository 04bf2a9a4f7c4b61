"""What a check of doctor answers with: ok, note (works, with a limit) or bad, in one sentence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    state: str  # ok | note | bad
    said: str
