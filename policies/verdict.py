"""What judging an action gives: findings per policy, and one objective verdict. Values only, JSON-ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from classifiers.effects import Action


class Result(StrEnum):
    """A rule's answer. NO_MATCH_SO_FAR: the action is incomplete, what was read does not match (09-contracts 30)."""

    MATCH = "match"
    NO_MATCH = "no_match"
    NO_MATCH_SO_FAR = "no_match_so_far"
    UNDETERMINED = "undetermined"
    EXCEPTED = "excepted"
    ERROR = "error"


class Severity(StrEnum):
    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Verdict(StrEnum):
    """Mildest first. CONSISTENT means "inside what was declared", never "authorised"."""

    CONSISTENT = "consistent"
    UNDETERMINED = "undetermined"
    OUTSIDE_SCOPE = "outside_scope"
    CONTRADICTS = "contradicts"


class Reason(StrEnum):
    FORBIDDEN = "forbidden"
    NOT_IN_SCOPE = "not_in_scope"
    TOOL_NOT_IN_SCOPE = "tool_not_in_scope"
    BUDGET = "budget"
    TARGET_UNKNOWN = "target_unknown"
    KIND_UNKNOWN = "kind_unknown"
    INCOMPLETE = "incomplete"
    ONLY_POSSIBLE = "only_possible"
    NO_OBJECTIVE = "no_objective"
    EXPIRED = "expired"
    NOT_YET_VALID = "not_yet_valid"
    AMBIGUOUS_BINDING = "ambiguous_binding"
    UNKNOWN_OBJECTIVE_ID = "unknown_objective_id"
    NOT_LOADED = "not_loaded"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is judged: an action and the vocabulary fields known about it.

    ``fields`` maps dotted vocabulary names (``agent.id``, ``session.counts.deletes``, ``call.advertised``) to values;
    a name that is absent, or maps to None, is *unknown*. ``at`` is record time, timezone-aware.
    """

    action: Action
    fields: Mapping[str, Any]
    at: datetime
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    rule: str
    result: Result
    severity: Severity
    at: str  # file:line:col of the rule
    message: str = ""
    status: str = "stable"  # experimental | test | stable | deprecated: only stable alerts
    effects: tuple[int, ...] = ()  # indexes of the effects that matched
    unknown: tuple[str, ...] = ()  # fields an undetermined result depends on
    excepted_by: str | None = None
    tags: tuple[str, ...] = ()
    below: bool = False  # matches only something below a recursive target, not what the call names itself

    @property
    def alerts(self) -> bool:
        """Only what a stable rule surely matched is worth waking somebody."""
        return self.result is Result.MATCH and self.status == "stable"

    def to_json(self) -> dict[str, Any]:
        return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class PolicyResult:
    """One policy's view of one action. ``findings`` holds every result but plain no_match."""

    id: str
    state: str  # active | not_loaded
    version: str | None = None
    hash: str | None = None
    stale: bool = False
    error: str | None = None
    effects_open: bool = False
    findings: tuple[Finding, ...] = ()

    def to_json(self) -> dict[str, Any]:
        out = {k: getattr(self, k) for k in ("id", "state", "version", "hash", "stale", "error", "effects_open")}
        return {**out, "findings": [f.to_json() for f in self.findings]}


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """Why one effect (index, or None for the whole action) got its verdict; ``at`` names the objective's line."""

    effect: int | None
    verdict: Verdict
    reason: Reason | None
    at: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ObjectiveVerdict:
    verdict: Verdict
    severity: Severity
    id: str | None = None
    hash: str | None = None
    trust: str | None = None  # operator | launcher | claimed | agent
    bound_by: str | None = None
    trail: tuple[TrailEntry, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        out = {k: getattr(self, k) for k in ("id", "hash", "trust", "bound_by", "verdict", "severity")}
        return {**out, "trail": [asdict(t) for t in self.trail]}
