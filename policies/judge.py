"""The objective verdict of one action: deterministic, three-valued, from the structured scope alone.

In: a subject, its binding, the session state (budgets). Out: ``ObjectiveVerdict`` with a trail that says, per effect,
which line decided. F = any forbidden entry matches, S = any scope entry covers:
F true → contradicts; else S false → outside_scope; else S or F unknown → undetermined; else consistent.
"""

from __future__ import annotations

from collections.abc import Iterable

from classifiers.effects import Domain, Effect, Reversibility, Verb
from policies.bind import Binding
from policies.compile import Test, compile_entry
from policies.glob import text_glob
from policies.objective import Forbidden, Objective
from policies.state import SessionState, counted
from policies.target import strip_port
from policies.unknowns import entry_unknowns
from policies.verdict import ObjectiveVerdict, Reason, Severity, Subject, TrailEntry, Verdict
from policies.view import EffectView, View, canonical_tool

_RANK = {v: i for i, v in enumerate(Verdict)}
_READS = {Verb.READ, Verb.RECEIVE}
_BUDGETED = {
    Verb.CREATE: "creates",
    Verb.MODIFY: "modifies",
    Verb.DELETE: "deletes",
    Verb.EXECUTE: "executes",
    Verb.SEND: "sends",
}


class _Scope:
    """One objective, compiled."""

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        entries = objective.entries
        self.scope: list[tuple[Test, str]] | None = (
            None if entries is None else [(compile_entry(e, scope=True), e.at) for e in entries]
        )
        self.forbidden = [(f, [(compile_entry(e, sure=True), e.at) for e in f.entries]) for f in objective.forbidden]
        self.tools = None if objective.tools is None else [text_glob(t) for t in objective.tools]

    def tool(self, subject: Subject) -> TrailEntry | None:
        """The tool's own line of the trail: forbidden, not in scope, unknown, or nothing to say."""
        name = subject.fields.get("call.name")
        names = [n for n in (name, canonical_tool(name, subject.fields.get("call.server"))) if isinstance(n, str)]
        for entry, _ in self.forbidden:
            if any(text_glob(t)(n) for t in entry.tools for n in names):
                return TrailEntry(None, Verdict.CONTRADICTS, Reason.FORBIDDEN, entry.at, _because(entry))
        if self.tools is None:
            return None
        if not names:
            return TrailEntry(None, Verdict.UNDETERMINED, Reason.KIND_UNKNOWN, self.objective.scope_at, "call.name")
        if any(glob(n) for glob in self.tools for n in names):
            return None
        return TrailEntry(None, Verdict.OUTSIDE_SCOPE, Reason.TOOL_NOT_IN_SCOPE, self.objective.scope_at, names[0])

    def effect(self, view: View, item: EffectView) -> TrailEntry:
        entry = self._effect(view, item)
        if item.possible and entry.verdict in {Verdict.CONTRADICTS, Verdict.OUTSIDE_SCOPE}:
            note = f"would be {entry.verdict}" + (f": {entry.note}" if entry.note else "")
            return TrailEntry(entry.effect, Verdict.UNDETERMINED, Reason.ONLY_POSSIBLE, entry.at, note)
        return entry

    def _effect(self, view: View, item: EffectView) -> TrailEntry:
        i = item.index
        maybe_at: str | None = None
        for forbidden, tests in self.forbidden:
            for test, at in tests:
                value = test(view, item)
                if value:
                    return TrailEntry(i, Verdict.CONTRADICTS, Reason.FORBIDDEN, at, _because(forbidden))
                if value is None:
                    maybe_at = maybe_at or at
        if self.objective.delegation == "none" and _hands_on(item.effect):
            at = self.objective.delegation_at
            return TrailEntry(i, Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, at, "delegation: none")
        covered, at = (True, self.objective.scope_at) if self.scope is None else _any(self.scope, view, item)
        if covered is False:
            return TrailEntry(i, Verdict.OUTSIDE_SCOPE, Reason.NOT_IN_SCOPE, self.objective.scope_at)
        if covered is None or maybe_at is not None:
            where = at if covered is None else maybe_at
            return TrailEntry(i, Verdict.UNDETERMINED, _unknown(item.effect), where, self._names(view, item))
        return TrailEntry(i, Verdict.CONSISTENT, None, at)

    def _names(self, view: View, item: EffectView) -> str:
        lists = [f.entries for f in self.objective.forbidden] + [self.objective.entries or ()]
        names = [n for entries in lists for e in entries for n in entry_unknowns(e, view, item)]
        return ", ".join(dict.fromkeys(names))


def _any(tests: list[tuple[Test, str]], view: View, item: EffectView) -> tuple[bool | None, str]:
    answer: bool | None = False
    where = ""
    for test, at in tests:
        value = test(view, item)
        if value:
            return True, at
        if value is None:
            answer, where = None, where or at
    return answer, where


def _because(forbidden: Forbidden) -> str:
    return f"{forbidden.id}: {forbidden.because}" if forbidden.because else forbidden.id


def _hands_on(effect: Effect) -> bool:
    """Work goes to another agent: a sub-agent is started, or an agent is written to."""
    return effect.domain == Domain.AGENT and effect.action in {Verb.EXECUTE, Verb.SEND}


def _unknown(effect: Effect) -> Reason:
    unknown = effect.domain == Domain.UNKNOWN or effect.action == Verb.UNKNOWN
    return Reason.KIND_UNKNOWN if unknown else Reason.TARGET_UNKNOWN


def judge(subject: Subject, binding: Binding, state: SessionState) -> ObjectiveVerdict:
    """The verdict. Moves budgets on: call once per action, in record order."""
    objective = binding.objective
    if objective is None:
        return _without(binding, binding.reason or Reason.NO_OBJECTIVE)
    if objective.valid_from is not None and subject.at < objective.valid_from:
        return _without(binding, Reason.NOT_YET_VALID, objective)
    if objective.valid_until is not None and subject.at >= objective.valid_until:
        return _without(binding, Reason.EXPIRED, objective)
    if not counted(subject):
        return _without(binding, Reason.INCOMPLETE, objective)
    trail = trail_of(objective, subject)
    if binding.declared is not None and binding.trust != "agent":
        own = [*trail_of(binding.declared, subject), *_budget(binding.declared, subject, state)]
        trail += [_narrowed(t) for t in own if t.verdict is not Verdict.CONSISTENT]
    trail += _budget(objective, subject, state)
    if subject.action.opaque:
        trail.append(TrailEntry(None, Verdict.UNDETERMINED, Reason.INCOMPLETE))
    worst = max((t.verdict for t in trail), key=_RANK.__getitem__, default=Verdict.CONSISTENT)
    severity = _severity(worst, trail, subject)
    return ObjectiveVerdict(
        worst, severity, objective.id, objective.hash, binding.trust, binding.bound_by, tuple(trail)
    )


def widened(subject: Subject, binding: Binding) -> bool | None:
    """The agent's own declaration would cover an effect that the objective it works under does not."""
    own, objective = binding.declared, binding.objective
    if own is None or objective is None or binding.trust == "agent":
        return False if own is None else None
    wider = {t.effect for t in trail_of(own, subject) if t.verdict is Verdict.CONSISTENT}
    outside = {Verdict.OUTSIDE_SCOPE, Verdict.CONTRADICTS}
    return any(t.effect in wider for t in trail_of(objective, subject) if t.effect is not None and t.verdict in outside)


def trail_of(objective: Objective, subject: Subject) -> list[TrailEntry]:
    """The tool's and each effect's line; budgets and completeness left out."""
    scope = _scope(objective)
    from_zone = subject.at.tzinfo
    assert from_zone is not None
    view = View(subject, from_zone)
    tool = scope.tool(subject)
    return [*([tool] if tool else []), *(scope.effect(view, e) for e in view.effects)]


_SCOPES: dict[str, _Scope] = {}


def _scope(objective: Objective) -> _Scope:
    """Compiled once per text; the few objectives of an installation stay, a flood of declared ones does not."""
    found = _SCOPES.get(objective.hash)
    if found is None or found.objective is not objective:
        if len(_SCOPES) >= 1024:
            _SCOPES.clear()
        found = _SCOPES[objective.hash] = _Scope(objective)
    return found


def _narrowed(entry: TrailEntry) -> TrailEntry:
    note = "the agent's own declaration" + (f": {entry.note}" if entry.note else "")
    return TrailEntry(entry.effect, entry.verdict, entry.reason, entry.at, note)


def _without(binding: Binding, reason: Reason, objective: Objective | None = None) -> ObjectiveVerdict:
    digest = objective.hash if objective else None
    note = _hits(binding) if reason is Reason.AMBIGUOUS_BINDING else ""
    entry = TrailEntry(None, Verdict.UNDETERMINED, reason, None, note)
    return ObjectiveVerdict(
        Verdict.UNDETERMINED, Severity.INFO, binding.id, digest, binding.trust, binding.bound_by, (entry,)
    )


def _hits(binding: Binding) -> str:
    return ", ".join(f"{h.source}={h.objective}" for h in binding.hits)


def _budget(objective: Objective, subject: Subject, state: SessionState) -> Iterable[TrailEntry]:
    """What this objective has used in this session, this action included; one line per budget that is over."""
    if not objective.budget:
        return []
    key, weak = subject.fields.get("session.id"), subject.fields.get("session.strength") == "weak"
    track = state.track("budget", objective.id, str(key))
    _spend(track, subject)
    hosts = {"hosts": len(track["host_names"])}
    over = [n for n, limit in objective.budget.items() if {**track, **hosts}.get(n, 0) > limit]
    verdict = Verdict.UNDETERMINED if weak or key is None else Verdict.OUTSIDE_SCOPE
    more = " (weak session key)" if weak else ""
    return [TrailEntry(None, verdict, Reason.BUDGET, None, f"{n} over {objective.budget[n]}{more}") for n in over]


def _spend(track: dict[str, object], subject: Subject) -> None:
    """Add one action. Bytes come as a running total of the session, to upstreams that are not models."""
    names = track.setdefault("host_names", [])
    assert isinstance(names, list)
    _add(track, "calls", 1)
    _add(track, "effects", len(subject.action.effects))
    for effect in subject.action.effects:
        name = _BUDGETED.get(effect.action)
        if name is not None:
            _add(track, name, 1)
        host = strip_port(effect.target.casefold()) if effect.domain == Domain.NETWORK and effect.target else None
        if host and host not in names and len(names) < 4096:
            names.append(host)
    total = subject.fields.get("session.counts.bytes_out")
    if isinstance(total, int):
        track["bytes_out"] = total


def _add(track: dict[str, object], name: str, more: int) -> None:
    before = track.get(name, 0)
    assert isinstance(before, int)
    track[name] = before + more


def _severity(verdict: Verdict, trail: list[TrailEntry], subject: Subject) -> Severity:
    """Reads outside scope are info; changes are worse, and worse still when nothing brings them back."""
    effects = subject.action.effects
    concerned = [effects[t.effect] for t in trail if t.verdict is verdict and t.effect is not None]
    lost = any(e.destructive or e.reversibility == Reversibility.IRREVERSIBLE for e in concerned)
    if verdict is Verdict.CONTRADICTS:
        return Severity.CRITICAL if lost else Severity.HIGH
    if verdict is Verdict.OUTSIDE_SCOPE:
        if lost:
            return Severity.HIGH
        changes = any(e.action not in _READS for e in concerned)
        whole = not concerned and any(e.action not in _READS for e in effects)
        return Severity.MEDIUM if changes or whole else Severity.INFO
    return Severity.INFO
