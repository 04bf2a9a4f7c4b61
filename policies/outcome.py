"""What one rule says of one action, before it becomes a finding."""

from __future__ import annotations

from dataclasses import dataclass

from policies.verdict import Result


@dataclass(frozen=True, slots=True)
class Outcome:
    """``effects``: indexes that matched; ``unsure``: that might have; ``weak``: the key counted by is not sure."""

    result: Result
    effects: tuple[int, ...] = ()
    unsure: tuple[int, ...] = ()
    excepted_by: str | None = None
    weak: bool = False
