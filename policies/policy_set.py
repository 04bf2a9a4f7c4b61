"""The policies in force, side by side: each action is asked of all of them, none blocks, none hides another.

In: files. Out: ``PolicySet``. Loading never raises: a policy that cannot be loaded is ``not_loaded`` with its first
error and answers every action so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from policies.bundle import Bundle
from policies.cache import load_cached
from policies.diagnostic import Diagnostic
from policies.evaluate import Compiled, CompiledRule
from policies.outcome import Outcome
from policies.source import Gathered
from policies.state import SessionState, counted
from policies.unknowns import unknown_fields
from policies.verdict import Finding, PolicyResult, Result, Subject
from policies.view import View
from policies.vocab import FIELDS


@dataclass(frozen=True, slots=True)
class Loaded:
    """One policy: in force (``compiled``), or not loaded, with the error. ``stale``: the files say something newer."""

    id: str
    source: str
    compiled: Compiled | None
    hash: str
    error: str | None = None
    stale: bool = False
    found: tuple[Diagnostic, ...] = ()
    files: tuple[Path, ...] = ()
    bundle: Bundle | None = None
    again: datetime | None = None  # not loaded, and that could be otherwise by itself from then on
    quiet: PolicyResult = field(init=False, compare=False)  # what an action gets that no rule has anything to say of

    def __post_init__(self) -> None:
        policy = self.compiled.policy if self.compiled else None
        version, digest = (policy.version, policy.hash) if policy else (None, None)
        quiet = PolicyResult(self.id, self.state, version, digest, self.stale, self.error)
        object.__setattr__(self, "quiet", quiet)

    @property
    def state(self) -> str:
        return "active" if self.compiled else "not_loaded"


@dataclass(frozen=True, slots=True)
class PolicySet:
    policies: tuple[Loaded, ...] = ()

    def evaluate(self, subject: Subject, state: SessionState) -> tuple[PolicyResult, ...]:
        """Ask every rule of every policy. Call once per action, after ``state.observe``, in record order.

        Moves sequences and rates on. A call that was cut off, or that only shapes an answer, gets no findings.
        """
        return tuple(_result(loaded, subject, state) for loaded in self.policies)

    def replace(self, old: Loaded, new: Loaded) -> PolicySet:
        return PolicySet(tuple(new if p is old else p for p in self.policies))

    def describe(self) -> list[dict[str, Any]]:
        """What a record or a status page says of each policy."""
        keys = ("id", "source", "state", "hash", "error", "stale")
        return [{**{k: getattr(p, k) for k in keys}, "bundle": bundle_of(p)} for p in self.policies]


def load(paths: Iterable[str | Path], *, now: datetime | None = None, cache: Path | None = None) -> PolicySet:
    """Load policies from files, folders of bare rules, or ``onlooker:starter``, whoever wrote them. Never raises.

    ``now`` (default: the clock) decides which exceptions ran out in the lints; ``cache`` is a folder for checked
    policies, keyed by the hash of their bytes. What is to be in force goes through ``policies.trust``.
    """
    moment = now or datetime.now(UTC)
    return PolicySet(tuple(load_one(p, moment, cache) for p in paths))


def load_one(source: str | Path, now: datetime, cache: Path | None = None) -> Loaded:
    return loaded(str(source), load_cached(source, now, cache))


def loaded(source: str, gathered: Gathered) -> Loaded:
    policy = gathered.policy
    found, files = tuple(gathered.found), gathered.files
    if policy is None:
        errors = gathered.errors
        said = str(errors[0]) + (f" (and {len(errors) - 1} more)" if len(errors) > 1 else "")
        return Loaded(Path(source).stem, source, None, gathered.hash, said, found=found, files=files)
    return Loaded(policy.id, source, Compiled(policy), policy.hash, found=found, files=files)


def bundle_of(loaded: Loaded) -> dict[str, Any] | None:
    """Which bundle a policy came in, JSON-ready; None: in none."""
    bundle = loaded.bundle
    return None if bundle is None else {"id": bundle.id, "revision": bundle.revision, "signed_by": bundle.signed_by}


def not_loaded(source: str, error: str, again: datetime | None = None) -> Loaded:
    return Loaded(Path(source).stem, source, None, "", error, again=again)


def _result(loaded: Loaded, subject: Subject, state: SessionState) -> PolicyResult:
    compiled, base = loaded.compiled, loaded.quiet
    if compiled is None or not counted(subject):
        return base
    view = compiled.view(subject)
    outcomes = compiled.outcomes(view, state)
    if not outcomes and not view.open:
        return base
    rules = sorted((compiled.by_id[name] for name in outcomes), key=lambda r: r.order)
    found = (finding(rule, outcomes[rule.rule.id], view) for rule in rules)
    return replace(base, effects_open=view.open, findings=tuple(f for f in found if f is not None))


def finding(compiled: CompiledRule, outcome: Outcome, view: View) -> Finding | None:
    """An outcome as a finding; None when the rule says to keep silent about the unknown."""
    rule, result = compiled.rule, outcome.result
    unknown: tuple[str, ...] = ()
    if result is Result.UNDETERMINED:
        if rule.on_unknown == "ignore":
            return None
        unknown = undetermined_by(rule, outcome, view)
        result = Result.MATCH if rule.on_unknown == "flag" else result
    indexes = outcome.effects or outcome.unsure
    return Finding(
        rule=rule.id,
        result=result,
        severity=rule.severity,
        at=rule.at,
        message=_message(rule.message, view, indexes),
        status=rule.status,
        effects=indexes,
        unknown=unknown,
        excepted_by=outcome.excepted_by,
        tags=rule.tags,
        below=result is Result.MATCH and compiled.below(view, outcome.effects),
    )


def undetermined_by(rule: Any, outcome: Outcome, view: View) -> tuple[str, ...]:
    """The fields the answer depends on. A rate or sequence on an unsure key depends on that key."""
    timed = rule.rate or rule.sequence
    if outcome.weak and timed is not None:
        strength = view.get("session.strength") == "weak"
        return ("session.strength",) if strength else tuple(n for n in timed.by if view.get(n) is None)
    if rule.match is None:
        return ()
    unsure = [view.effects[i] for i in outcome.unsure if i < len(view.effects)]
    names = unknown_fields(rule.match, view, unsure)
    for exception in () if names else rule.exceptions:
        names += unknown_fields(exception.match, view, unsure)
    return tuple(names)


def _message(template: str, view: View, indexes: tuple[int, ...]) -> str:
    """Fill ``{field}``; what is not known is ``?``. ``effect.*`` is of the first effect concerned."""
    if "{" not in template:
        return template
    parts = template.split("{")
    out = [parts[0]]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        out += [_show(name, view, indexes), rest]
    return "".join(out)


def _show(name: str, view: View, indexes: tuple[int, ...]) -> str:
    if name not in FIELDS:
        return "{" + name + "}"
    if name.startswith("effect."):
        effect = view.effects[indexes[0]].effect if indexes and view.effects else None
        value = getattr(effect, name.removeprefix("effect."), None)
    else:
        value = view.get(name)
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return "?" if value is None else str(value)
