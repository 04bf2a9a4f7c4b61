"""Runs the tests written inside rules and objectives.

In: a test's plain steps. Out: subjects, and for a policy the list of tests that did not come out as expected.
A ``call`` goes through the classifier; an ``action`` says its effects, and what it does not say is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from classifiers.call import ToolCall
from classifiers.context import Context
from classifiers.effects import Action, Breadth, Effect, Flow, FlowKind, Opaque, OpaqueReason, Reversibility, Surface
from policies.check_tests import CALL_KEYS
from policies.evaluate import Compiled
from policies.model import Rule, Test
from policies.outcome import Outcome
from policies.state import SessionState
from policies.verdict import Result, Subject
from policies.view import TIMELESS
from policies.vocab import FIELDS
from policies.words import duration_s, instant

BASE = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
_UNSAID: dict[str, Any] = {
    **{f.name: None for f in fields(Effect)},
    "reversibility": Reversibility.UNKNOWN,
    "breadth": Breadth.UNKNOWN,
    "where": "unknown",
    "filtered": False,
}
LIBRARY = "onlooker:"
SHOWN = 5  # effects in the message of a failing test
PATIENT_MS = 5_000.0  # a test on a busy machine is not a hot path
_NOT_FIELDS = {"tool", "effects", "complete", "flows", "at", "server", "cwd", "home", "surface", "claimed"}


@dataclass(frozen=True, slots=True)
class Failure:
    rule: str
    at: str
    expected: str
    got: str
    detail: str = ""

    def __str__(self) -> str:
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.at}: {self.rule}: expected {self.expected}, got {self.got}{more}"


def subject_of(step: dict[str, Any], base: datetime = BASE, seq: int = 0) -> Subject:
    """One step as a subject. Raises ValueError when an effect's line cannot be read."""
    values: dict[str, Any] = {}
    call = step.get("call") if isinstance(step.get("call"), dict) and "tool" in step["call"] else None
    for key, value in step.items():
        if key not in _NOT_FIELDS and not (key == "call" and call is not None):
            _flatten(key, value, values)
    if call is not None:
        extra = {k: v for k, v in call.items() if k not in CALL_KEYS}
        _flatten("call", extra, values)
    source = call or step
    values.setdefault("call.name", source.get("tool"))
    values.setdefault("call.server", source.get("server"))
    values.setdefault("session.home", source.get("home") or step.get("home"))
    if instant(step.get("at")) is None:
        values[TIMELESS] = True
    action = _classify(call, step) if call is not None else _action(step)
    return Subject(action, {k: v for k, v in values.items() if v is not None}, _at(step.get("at"), base), seq)


def _flatten(name: str, value: Any, out: dict[str, Any]) -> None:
    if isinstance(value, dict) and name not in FIELDS:
        for key, inner in value.items():
            _flatten(f"{name}.{key}", inner, out)
    else:
        out[name] = value


def _at(value: Any, base: datetime) -> datetime:
    seconds = duration_s(value)
    return base + timedelta(seconds=seconds) if seconds is not None else instant(value) or base


def _classify(call: dict[str, Any], step: dict[str, Any]) -> Action:
    from classifiers import classify  # noqa: PLC0415 - parsers and knowledge load only when a test needs them

    wire = ToolCall(name=call["tool"], arguments=call.get("arguments"), arguments_valid=True, server=call.get("server"))
    cwd, home = (call.get(k) or step.get(k) for k in ("cwd", "home"))
    return classify(wire, Context(cwd=cwd, home=home, shell=call.get("shell"), max_ms=PATIENT_MS))


def _action(step: dict[str, Any]) -> Action:
    opaque = () if step.get("complete", True) is not False else (Opaque(OpaqueReason.PAYLOAD_UNREADABLE),)
    return Action(
        surface=step.get("surface", Surface.UNKNOWN),
        effects=tuple(effect_of(e) for e in step.get("effects", ())),
        flows=tuple(Flow(FlowKind(k), None, None) for k in step.get("flows", ())),
        opaque=opaque,
        claimed=step.get("claimed", {}),
    )


def effect_of(value: Any) -> Effect:
    """A line of the notation (defaults as there), or a mapping (what it does not say is unknown)."""
    if isinstance(value, str):
        return Effect.parse(value)
    lists = {k: tuple(v) if isinstance(v, list) else (v,) for k, v in value.items() if k in {"tags", "via"}}
    return Effect(**{**_UNSAID, **value, **lists})


def outcome_of(compiled: Compiled, rule: Rule, test: Test, base: datetime = BASE) -> tuple[Result, Outcome | None]:
    """Run the steps; the last one's outcome for this rule."""
    state = SessionState()
    steps = rule.sequence.steps if rule.sequence else ()
    only = {rule.id, *steps}
    outcome: Outcome | None = None
    missed = Result.NO_MATCH
    for seq, step in enumerate(test.steps):
        subject = state.observe(subject_of(step, base, seq))
        view = compiled.view(subject)
        outcome = compiled.outcomes(view, state, only).get(rule.id)
        missed = Result.NO_MATCH_SO_FAR if view.open else Result.NO_MATCH
    return (outcome.result if outcome else missed), outcome


def agrees(expected: str, got: Result) -> bool:
    """``undetermined`` is also what an incomplete action that did not match so far is."""
    return expected == got or (expected == Result.UNDETERMINED and got is Result.NO_MATCH_SO_FAR)


def failing(compiled: Compiled, only: Iterable[str] | None = None) -> list[Failure]:
    """Every inline test of the policy's own rules (or of these) that does not come out as written."""
    wanted = None if only is None else set(only)
    rules = own_rules(compiled) if wanted is None else [c.rule for c in compiled.rules if c.rule.id in wanted]
    return [f for rule in rules for t in rule.tests if (f := run(compiled, rule, t))]


def own_rules(compiled: Compiled) -> list[Rule]:
    """The policy's rules without the shipped library's: their tests hold with the lists they ship with, not others."""
    rules = [c.rule for c in compiled.rules]
    if compiled.policy.name == LIBRARY + "starter":
        return rules
    return [r for r in rules if not r.at.startswith(LIBRARY)]


def run(compiled: Compiled, rule: Rule, test: Test) -> Failure | None:
    try:
        got, _ = outcome_of(compiled, rule, test)
    except Exception as error:  # a broken test is that test's failure
        return Failure(rule.id, test.at, test.expect, "an error", f"{type(error).__name__}: {error}")
    return None if agrees(test.expect, got) else Failure(rule.id, test.at, test.expect, str(got), _read_as(test))


def _read_as(test: Test) -> str:
    """What the classifier made of a test's ``call``, which its author cannot see in the file."""
    last = test.steps[-1]
    if not isinstance(last.get("call"), dict) or "tool" not in last["call"]:
        return ""
    action = subject_of(last).action
    shown = [str(e) for e in action.effects[:SHOWN]] + ["…"] * (len(action.effects) > SHOWN)
    unread = ["not all of it was read"] if action.opaque else []
    return "the call is: " + "; ".join([*(shown or ["no effect"]), *unread])
