"""A policy as data: rules, conditions, exceptions and tests, every node knowing its file:line:col.

Built by the checker, read by the compiler, ``explain``, ``replay`` and the linter. A condition is a tree of ``Leaf``,
``Effects``, ``All``, ``Any_`` and ``None_``; nothing here evaluates.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from policies.pattern import Pattern
from policies.verdict import Severity


@dataclass(frozen=True, slots=True)
class Leaf:
    """``field op value``. Operators: eq (any of the tuple), not, comparisons, text tests (see check_match)."""

    field: str
    op: str
    value: Any
    at: str


@dataclass(frozen=True, slots=True)
class Targets:
    """``target:`` or ``not_target:`` of an effect entry: any of the patterns."""

    patterns: tuple[Pattern, ...]
    negated: bool
    at: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of ``effects:``; one effect must satisfy all of it."""

    leaves: tuple[Leaf, ...]
    targets: tuple[Targets, ...]
    domains: frozenset[str] | None
    actions: frozenset[str] | None
    at: str

    @property
    def names_certainty(self) -> bool:
        return any(leaf.field == "effect.certainty" for leaf in self.leaves)


@dataclass(frozen=True, slots=True)
class Effects:
    entries: tuple[Entry, ...]
    at: str


@dataclass(frozen=True, slots=True)
class All:
    conditions: tuple[Condition, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Any_:  # noqa: N801 - typing owns the plain name
    conditions: tuple[Condition, ...]
    at: str


@dataclass(frozen=True, slots=True)
class None_:  # noqa: N801 - beside Any_
    conditions: tuple[Condition, ...]
    at: str


Condition = Leaf | Effects | All | Any_ | None_


@dataclass(frozen=True, slots=True)
class Exception_:  # noqa: N801 - Python owns the plain name
    id: str
    reason: str
    approved_by: str
    until: datetime
    match: All
    at: str


@dataclass(frozen=True, slots=True)
class Sequence:
    by: tuple[str, ...]
    within_s: float
    steps: tuple[str, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Rate:
    by: tuple[str, ...]
    count: str  # calls | effects | distinct
    field: str | None  # of distinct
    more_than: int
    within_s: float
    at: str


@dataclass(frozen=True, slots=True)
class Test:
    """An inline test: the plain steps (``call`` or ``action`` mappings) and what is expected of the last."""

    steps: tuple[dict[str, Any], ...]
    expect: str
    at: str
    because: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    at: str
    description: str = ""
    severity: Severity = Severity.MEDIUM
    status: str = "stable"
    enabled: bool = True
    on_unknown: str = "report"
    owner: str | None = None
    tags: tuple[str, ...] = ()
    match: All | None = None
    sequence: Sequence | None = None
    rate: Rate | None = None
    message: str = ""
    falsepositives: tuple[str, ...] = ()
    exceptions: tuple[Exception_, ...] = ()
    tests: tuple[Test, ...] = ()

    @property
    def effects(self) -> Effects | None:
        """The ``effects:`` at the top of ``match``: what makes the rule about single effects."""
        found = [c for c in self.match.conditions if isinstance(c, Effects)] if self.match else []
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Policy:
    """A checked policy file with everything it extends. ``hash`` covers all bytes it was made from."""

    id: str
    version: str | None
    hash: str
    timezone: str
    rules: tuple[Rule, ...]
    name: str
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
