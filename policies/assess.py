"""One action, judged: the objective first, then the policies, which may ask about its verdict.

In: a subject with the fields the caller knows, the facts of its connection, policies, objectives, session state.
Out: ``Assessment``. This is the one call the analyzer makes, once per action, in record order.

    judged = assess(Subject(action, fields, at), Facts(path_segment="obj-1"), policies, objectives, state)
    judged.verdict.to_json(); [r.to_json() for r in judged.results]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from policies.bind import Binding, Facts
from policies.judge import judge, widened
from policies.objectives import Objectives
from policies.policy_set import PolicySet
from policies.state import SessionState, counted
from policies.verdict import ObjectiveVerdict, PolicyResult, Reason, Subject


@dataclass(frozen=True, slots=True)
class Assessment:
    """``subject`` is the one handed in with every derived field filled; ``say_none``: no objective, said first now."""

    subject: Subject
    binding: Binding
    verdict: ObjectiveVerdict
    results: tuple[PolicyResult, ...]
    say_none: bool = False


def assess(
    subject: Subject, facts: Facts, policies: PolicySet, objectives: Objectives, state: SessionState
) -> Assessment:
    """Judge one action. Never raises for a broken policy or objective: those are states of the answer."""
    bound = objectives.bind(facts)
    return assess_bound(subject, bound, policies, state, widening=facts.widening)


def assess_bound(
    subject: Subject, bound: Binding, policies: PolicySet, state: SessionState, *, widening: bool = False
) -> Assessment:
    """The same for a binding that is already known (replay, tests)."""
    seen = state.observe(subject)
    verdict = judge(seen, bound, state)
    none = verdict.trail[:1] and verdict.trail[0].reason is Reason.NO_OBJECTIVE
    first = bool(none) and counted(subject) and _first(subject, state)
    fields = {
        **seen.fields,
        "objective.declared": bound.objective is not None,
        "objective.verdict": str(verdict.verdict),
        "objective.severity": str(verdict.severity),
        "objective.reasons": [str(t.reason) for t in verdict.trail if t.reason],
        "objective.widened": widening or widened(seen, bound),
        "objective.first_without": first,
    }
    fields |= {"objective.id": bound.id, "objective.trust": bound.trust} if bound.id else {}
    full = replace(seen, fields=fields)
    return Assessment(full, bound, verdict, policies.evaluate(full, state), first)


def _first(subject: Subject, state: SessionState) -> bool:
    """Whether this session has not been told yet that it has no objective."""
    key = subject.fields.get("session.id")
    if not isinstance(key, str):
        return False
    session = state.session(key)
    first, session.told_none = not session.told_none, True
    return first
