"""Policies and objectives in force, behind the analyzer's ``Judge`` seam.

In: the configuration's files. Out: verdicts per action, records of what was loaded and what was refused. A file that
changes is loaded again; one that does not load leaves the last good in force and says so, on every record.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit import record
from policies import objectives as objective_files
from policies.assess import assess
from policies.bind import Facts
from policies.declaration import Why
from policies.objective import Objective
from policies.state import SessionState
from policies.verdict import PolicyResult, Subject, Verdict
from proxy.analyzer.declared import Declared, attested
from proxy.analyzer.in_force import InForce, stamp
from proxy.analyzer.in_force_records import binding, broken_records, loaded_record, reload_failed, shown
from proxy.analyzer.judge import Judged
from proxy.analyzer.result_rules import about_results
from proxy.settings import Config
from proxy.trust import trust_of

KEPT_SESSIONS = 10_000


class FileJudge:
    """``now`` is the clock exceptions run out by. The admin API's objectives lie in ``<state>/objectives``."""

    def __init__(self, config: Config, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._now = now
        own = Path(config.state) / "objectives"
        self._objective_paths = [*map(Path, config.objectives), *([own] if own.is_dir() else [])]
        self._own_objectives = own
        trust, wrong = trust_of(config)
        self._in_force = InForce(config.policies, trust, now(), Path(config.state) / "cache" / "policies")
        self.policies = self._in_force.policies
        self.objectives = objective_files.load(p for p in self._objective_paths if p.exists() or p != own)
        self._results = about_results(self.policies)
        self._state, self._result_state = SessionState(), SessionState()
        self._declared = Declared()
        self._used: OrderedDict[str, tuple[str, set[str]]] = OrderedDict()
        self._objective_stamp = stamp(self._objective_paths)
        self._due = [loaded_record(self.policies, self.objectives), *broken_records(self.policies, self.objectives)]
        self._wrong = wrong
        if wrong:
            self._due.append(record.policy_reload_failed(file=config.file or "", errors=wrong, active_hash=None))

    def judge(self, subject: Subject, facts: Facts, declares: Any = None) -> Judged:
        session = subject.fields.get("session.id")
        facts = replace(facts, declared=self._declared.of(session))
        offer, said = None, None
        if declares is not None:
            home = subject.fields.get("session.home")
            offer = self._declared.weigh(declares, session, self.objectives.bind(facts), home)
            facts = replace(facts, widening=offer.refused in _WIDENING)
        made = assess(subject, facts, self.policies, self.objectives, self._state)
        if offer is not None and (offer.taken is None or offer.taken.hash != _hash(facts.declared)):
            self._declared.take(offer, session)  # nothing is retroactive: this call was judged without it
            said = attested(offer, session, "call")
        objective = made.binding.objective
        if objective is not None:
            lines = {t.at for t in made.verdict.trail if t.verdict is Verdict.CONSISTENT and t.at}
            self._note_used(str(subject.fields.get("session.id")), objective.id, lines)
        return Judged(made.results, made.verdict, binding(made), said)

    def judge_result(self, subject: Subject, facts: Facts) -> Sequence[PolicyResult]:  # noqa: ARG002 - the seam
        """Only rules over ``result.*`` look at an outcome; the others have looked at the action."""
        if not self._results.policies:
            return ()
        return tuple(r for r in self._results.evaluate(subject, self._result_state) if r.findings)

    def poll(self) -> list[dict[str, Any]]:
        due, self._due = self._due, []
        refused, changed = self._in_force.poll(self._now())
        if refused or changed:
            self.policies = self._in_force.policies
            self._results = about_results(self.policies)
        due += [reload_failed(r.loaded, r.active) for r in refused]
        due += [loaded_record(self.policies, self.objectives)] if changed else []
        if (seen := stamp(self._objective_paths)) != self._objective_stamp:
            self._objective_stamp = seen
            due += self._objectives_again()
        return due

    def command(self, kind: str, body: Any) -> list[dict[str, Any]]:
        if kind == "objective":
            if self._own_objectives not in self._objective_paths:
                self._objective_paths.append(self._own_objectives)
            return self._objectives_again()
        if kind == "binding":
            ((by, value),) = body["bind"].items()
            self.objectives = self.objectives.with_binding(by, str(value), str(body["id"]))
            said = f"objective {body['id']} is bound by {by}"
            return [
                record.attestation(statement=said, by="admin-api", detail={"objective": body["id"], **body["bind"]})
            ]
        if kind == "declared":
            return self._told(body.get("session"), body.get("arguments"))
        return []

    def _told(self, session: str | None, arguments: Any) -> list[dict[str, Any]]:
        """A declaration through our MCP server. Without a session it waits for its call to be seen in one."""
        bound = self.objectives.bind(Facts(session=session))
        offer = self._declared.weigh(arguments, session, bound)
        if session and offer.taken is not None and offer.taken.hash == _hash(self._declared.of(session)):
            return []
        self._declared.take(offer, session)
        return [record.attestation(**attested(offer, session, "mcp-server"))]

    def session_ended(self, session: str) -> dict[str, Any]:
        self._state.end(session)
        self._declared.end(session)
        self._result_state.end(session)
        name, used = self._used.pop(session, ("", set()))
        objective = self.objectives.by_id.get(name)
        entries = {e.at for e in (objective.entries or ())} if objective is not None else set()
        return {"objective": name or None, "scope_used": sorted(used), "scope_unused": sorted(entries - used)}

    def status(self) -> dict[str, Any]:
        policies = self.policies.describe()
        degraded = [f"policy {p['id']}: {p['state']}" for p in policies if p["state"] != "active"]
        degraded += [f"policy {p['id']}: disk differs" for p in policies if p["stale"]]
        degraded += self._wrong
        degraded += [f"objective {name}: not_loaded" for name in self.objectives.broken]
        return {
            "policies": policies,
            "objectives": shown(self.objectives),
            "broken_objectives": dict(self.objectives.broken),
            "evictions": self._state.evictions,
            "rules": [r.rule.id for p in self.policies.policies if p.compiled for r in p.compiled.rules],
            "degraded": degraded,
        }

    def state(self) -> Any:
        return {
            "policy": self._state.snapshot(),
            "result": self._result_state.snapshot(),
            "admin": dict(self.objectives.admin),
            "used": self._used,
            "declared": self._declared.by_session,
        }

    def restore(self, state: Any) -> None:
        if state is None:
            return
        self._state = SessionState.restore(state["policy"])
        self._result_state = SessionState.restore(state["result"])
        self._used = state["used"]
        self._declared.by_session = state.get("declared", OrderedDict())
        self.objectives = replace(self.objectives, admin=state["admin"])

    def _objectives_again(self) -> list[dict[str, Any]]:
        new = objective_files.load(p for p in self._objective_paths if p.exists())
        kept = {n: o for n, o in self.objectives.by_id.items() if n in new.broken}  # the last good stays
        self.objectives = replace(new, by_id={**new.by_id, **kept}, admin=self.objectives.admin)
        return [loaded_record(self.policies, self.objectives), *broken_records(self.policies, self.objectives)]

    def _note_used(self, session: str, objective: str, lines: set[str]) -> None:
        _, used = self._used.setdefault(session, (objective, set()))
        used |= lines
        self._used.move_to_end(session)
        while len(self._used) > KEPT_SESSIONS:
            self._used.popitem(last=False)


_WIDENING = {Why.WIDER, Why.WIDER_THAN_DECLARED}


def _hash(objective: Objective | None) -> str | None:
    return objective.hash if objective else None


def load_judge(config: Config) -> FileJudge:
    return FileJudge(config)
