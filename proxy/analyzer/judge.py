"""What the analyzer asks of policies and objectives, as one seam; ``NoJudge`` answers when nothing is loaded.

In: a Subject and how its session could be bound to an objective. Out: ``Judged``. The real one is
``proxy/analyzer/judging.py`` over the policies package; tests hand in their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from policies.bind import Facts
from policies.verdict import ObjectiveVerdict, PolicyResult, Subject


@dataclass(frozen=True, slots=True)
class Judged:
    """``binding``: the objective in force, for session records; JSON-ready."""

    policy: tuple[PolicyResult, ...] = ()
    objective: ObjectiveVerdict | None = None
    binding: dict[str, Any] | None = None
    attested: dict[str, Any] | None = None  # what became of a declaration of the agent's: fields of an attestation


class Judge(Protocol):
    def judge(self, subject: Subject, facts: Facts, declares: Any = None) -> Judged:
        """``declares``: the arguments of a call by which the agent declares an objective of its own."""

    def judge_result(self, subject: Subject, facts: Facts) -> Sequence[PolicyResult]: ...

    def poll(self) -> list[dict[str, Any]]:
        """Look for changed files; the records (policy_loaded, policy_reload_failed) that are due."""

    def command(self, kind: str, body: Any) -> list[dict[str, Any]]:
        """A message of the admin API (objective, binding); the records that are due."""

    def session_ended(self, session: str) -> dict[str, Any]:
        """What the summary says of the objective: scope lines used and unused."""

    def status(self) -> dict[str, Any]: ...

    def state(self) -> Any:
        """Picklable state of rates, sequences, budgets, bindings."""

    def restore(self, state: Any) -> None: ...


@dataclass(slots=True)
class NoJudge:
    """No policy and no objective at all."""

    said: list[str] = field(default_factory=list)

    def judge(self, subject: Subject, facts: Facts, declares: Any = None) -> Judged:  # noqa: ARG002 - the seam's signature
        return Judged()

    def judge_result(self, subject: Subject, facts: Facts) -> Sequence[PolicyResult]:  # noqa: ARG002 - as above
        return ()

    def poll(self) -> list[dict[str, Any]]:
        return []

    def command(self, kind: str, body: Any) -> list[dict[str, Any]]:  # noqa: ARG002 - as above
        return []

    def session_ended(self, session: str) -> dict[str, Any]:  # noqa: ARG002 - as above
        return {}

    def status(self) -> dict[str, Any]:
        return {"policies": [], "objectives": []}

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None: ...
