"""Two policies over the same recorded actions: what one flags and the other does not.

In: audit logs, an old and a new policy (or one alone). Out: a ``Diff``: per rule and agent what is newly flagged, no
longer flagged, or answered differently, with the ids; rules that never matched. Deterministic: record time only, one
fresh state per policy, records in log order. Incomplete actions that did not match count as undetermined.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from classifiers.effects import Action
from policies.evaluate import Compiled
from policies.policy_set import Loaded
from policies.state import SessionState, counted
from policies.stored import subject_of_record
from policies.verdict import Result, Subject

Seen = tuple[int, str]
Records = Iterable[tuple[dict[str, Any] | None, str]]
MAX_IDS = 20  # examples kept per row


@dataclass(slots=True)
class Side:
    """One policy's counts. ``severity``: of each rule, as this side has it."""

    compiled: Compiled
    state: SessionState = field(default_factory=SessionState)
    matched: Counter[str] = field(default_factory=Counter)
    undetermined: Counter[str] = field(default_factory=Counter)
    hidden: int = 0

    def answers(self, subject: Subject, *, redacted: bool) -> dict[str, Result]:
        """rule → match, undetermined or excepted; the rest missed."""
        seen = self.state.observe(subject)
        fields = dict(seen.fields)
        if not fields.get("objective.declared"):
            fields["objective.first_without"] = self._first(fields.get("session.id"))
        seen = replace(seen, fields=fields)
        out: dict[str, Result] = {}
        if not counted(seen):
            return out
        view = self.compiled.view(seen)
        for name, outcome in self.compiled.outcomes(view, self.state).items():
            rule = self.compiled.by_id[name].rule
            if outcome.result is Result.UNDETERMINED and rule.on_unknown == "ignore":
                continue
            flag = outcome.result is Result.UNDETERMINED and rule.on_unknown == "flag"
            out[name] = Result.MATCH if flag else outcome.result
        self.matched.update(n for n, r in out.items() if r is Result.MATCH)
        unsure = [n for n, r in out.items() if r is Result.UNDETERMINED]
        self.undetermined.update(unsure)
        self.hidden += len(unsure) if redacted else 0
        return out

    def _first(self, key: Any) -> bool:
        if not isinstance(key, str):
            return False
        session = self.state.session(key)
        first, session.told_none = not session.told_none, True
        return first

    def never(self) -> list[str]:
        return [c.rule.id for c in self.compiled.rules if not self.matched[c.rule.id]]


@dataclass(slots=True)
class Row:
    """One difference: of which rule and agent, from what to what, how often, and the first ids."""

    rule: str
    agent: str
    before: str
    after: str
    severity: str
    status: str
    count: int = 0
    seen: list[tuple[int, str]] = field(default_factory=list)  # (place in the logs, id), the first MAX_IDS

    @property
    def ids(self) -> list[str]:
        return [ident for _, ident in self.seen]

    @property
    def kind(self) -> str:
        if self.after == Result.MATCH:
            return "newly_flagged"
        return "no_longer_flagged" if self.before == Result.MATCH else "changed"


@dataclass(slots=True)
class Diff:
    old: Side | None
    new: Side
    actions: int = 0
    bad_lines: list[str] = field(default_factory=list)
    rows: dict[tuple[str, str, str, str], Row] = field(default_factory=dict)

    def sorted_rows(self) -> list[Row]:
        order = {s: i for i, s in enumerate(("critical", "high", "medium", "low", "info"))}
        return sorted(self.rows.values(), key=lambda r: (r.kind != "newly_flagged", order[r.severity], r.rule, r.agent))

    def to_json(self) -> dict[str, Any]:
        new = self.new
        rows = [
            {"kind": r.kind, **{k: getattr(r, k) for k in ("rule", "agent", "severity", "status", "count", "ids")},
             "before": r.before, "after": r.after}
            for r in self.sorted_rows()
        ]  # fmt: skip
        return {
            "actions": self.actions,
            "bad_lines": self.bad_lines,
            "differences": rows,
            "matched": dict(sorted(new.matched.items())),
            "undetermined": dict(sorted(new.undetermined.items())),
            "undetermined_by_redaction": new.hidden,
            "never_matched": new.never(),
        }


def replay(
    records: Records,
    old: Loaded | None,
    new: Loaded,
    *,
    reclassify: Callable[[dict[str, Any]], Action | None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Diff:
    """Judge every recorded action by both. ``reclassify`` gives fresh effects (None: keep the recorded ones)."""
    assert new.compiled is not None
    left = Side(old.compiled) if old is not None and old.compiled is not None else None
    diff = Diff(left, Side(new.compiled))
    for subject, redacted, ident in _subjects(records, diff, reclassify):
        diff.actions += 1
        after = diff.new.answers(subject, redacted=redacted)
        if left is not None:
            before = left.answers(subject, redacted=redacted)
            if before != after:
                _compare(diff, before, after, subject, ident)
        if progress is not None and diff.actions % 1000 == 0:
            progress(diff.actions)
    return diff


def share(diff: Diff) -> dict[str, Any]:
    """One process's part as plain values: a compiled policy does not travel."""
    sides = [None if s is None else (s.matched, s.undetermined, s.hidden) for s in (diff.old, diff.new)]
    return {"actions": diff.actions, "bad_lines": diff.bad_lines, "rows": diff.rows, "sides": sides}


def add(whole: Diff, part: dict[str, Any]) -> None:
    """Add the share of other sessions, as if they had been replayed together."""
    whole.actions += part["actions"]
    whole.bad_lines += part["bad_lines"]
    for mine, other in zip((whole.old, whole.new), part["sides"], strict=True):
        if mine is not None:
            mine.matched.update(other[0])
            mine.undetermined.update(other[1])
            mine.hidden += other[2]
    for key, row in part["rows"].items():
        known = whole.rows.setdefault(key, row)
        if known is not row:
            known.count += row.count
            known.seen = sorted(known.seen + row.seen)[:MAX_IDS]


def of_share(records: Records, index: int, count: int) -> Records:
    """Records of the sessions that fall to process ``index``; the others' places stay, empty, so that order is kept."""
    for record, place in records:
        key = (record or {}).get("session") or {}
        mine = zlib.crc32(str(key.get("id")).encode()) % count == index
        yield (record if mine else {}), place


def by_session_only(*loaded: Loaded | None) -> bool:
    """Whether sessions can be replayed apart: no rule counts or chains by anything else."""
    rules = [c.rule for one in loaded if one is not None and one.compiled is not None for c in one.compiled.rules]
    keys = [timed.by for rule in rules if (timed := rule.rate or rule.sequence)]
    return all("session.id" in by for by in keys)


def _subjects(
    records: Records,
    diff: Diff,
    reclassify: Callable[[dict[str, Any]], Action | None] | None,
) -> Iterator[tuple[Subject, bool, Seen]]:
    for number, (record, place) in enumerate(records):
        if record == {}:  # another process's
            continue
        try:
            if record is None:
                raise TypeError("not a JSON object")  # noqa: TRY301 - told like a record of a foreign shape
            subject, redacted = subject_of_record(record)
            fresh = reclassify(record) if reclassify is not None else None
        except (LookupError, TypeError, ValueError) as error:
            if len(diff.bad_lines) < MAX_IDS:
                diff.bad_lines.append(f"{place}: {error}")
            continue
        if fresh is not None:
            subject = replace(subject, action=fresh)
        yield subject, redacted, (number, str(record.get("id") or place))


def _compare(diff: Diff, before: dict[str, Result], after: dict[str, Result], subject: Subject, ident: Seen) -> None:
    assert diff.old is not None
    agent = str(subject.fields.get("agent.id") or "?")
    missed = Result.NO_MATCH
    for rule in {**before, **after}:
        was, now = before.get(rule, missed), after.get(rule, missed)
        if was is now:
            continue
        side = diff.new if rule in diff.new.compiled.by_id else diff.old
        found = side.compiled.by_id[rule].rule
        key = (rule, agent, str(was), str(now))
        row = diff.rows.get(key)
        if row is None:
            row = diff.rows[key] = Row(rule, agent, str(was), str(now), str(found.severity), found.status)
        row.count += 1
        if len(row.seen) < MAX_IDS:
            row.seen.append(ident)


def reclassified(record: dict[str, Any]) -> Action | None:
    """Fresh effects from the recorded arguments; None when they were not kept whole."""
    from classifiers import classify  # noqa: PLC0415 - parsers and knowledge load only when asked for
    from classifiers.call import ToolCall  # noqa: PLC0415
    from classifiers.context import Context  # noqa: PLC0415

    call = record.get("call") or {}
    arguments = call.get("arguments")
    if not isinstance(arguments, dict) or record.get("privacy", {}).get("redactions"):
        return None
    session = record.get("session") or {}
    cwd = session.get("cwd")
    context = Context(cwd=cwd.get("value") if isinstance(cwd, dict) else cwd)
    wire = ToolCall(str(call.get("name")), arguments, arguments_valid=True, server=call.get("server"))
    return classify(wire, context)


def fails(diff: Diff, condition: str) -> bool:
    """``new``, ``new-<severity>`` (that or worse), ``lost``, ``any``."""
    rows = diff.sorted_rows()
    order = ("info", "low", "medium", "high", "critical")
    if condition == "any":
        return bool(rows)
    if condition == "lost":
        return any(r.kind == "no_longer_flagged" for r in rows)
    least = order.index(condition.removeprefix("new-")) if condition != "new" else 0
    return any(r.kind == "newly_flagged" and order.index(r.severity) >= least for r in rows)
