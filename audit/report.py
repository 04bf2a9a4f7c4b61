"""What one session's records add up to: flagged calls worst first, what was not seen, spend, whether the log holds.

In: the session's records, the log's verification. Out: ``Report``, plain values for the page and the terminal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from audit.otel_names import look
from audit.summary import RANK, effect_text, findings, rank, severity, verdict

Record = dict[str, Any]

_CHANGES = frozenset({"create", "modify", "delete", "grant"})
MISSES = frozenset({"gap", "unread", "opaque_flow", "refusal", "analysis_failed"})
_OUTSIDE = frozenset({"outside_scope", "contradicts"})


def _destroys(effect: Record, _: Record) -> bool:
    return effect["destructive"] is True and not effect["dry_run"]


def _leaves(effect: Record, _: Record) -> bool:
    return effect["action"] == "send" or "exfiltration" in effect["tags"]


def _stays(effect: Record, _: Record) -> bool:
    installs = effect["domain"] in {"packages", "services", "scheduler"} and effect["action"] in _CHANGES
    return installs or "persistence" in effect["tags"]


def _outside(_: Record, record: Record) -> bool:
    return verdict(record) in _OUTSIDE


# What an auditor asks, in this order: question → does this effect (of this record) answer it.
QUESTIONS: Mapping[str, Callable[[Record, Record], bool]] = {
    "What it asked to destroy": _destroys,
    "What it asked to send away": _leaves,
    "What it asked to install or make persistent": _stays,
    "What was outside its objective": _outside,
}


@dataclass(frozen=True, slots=True)
class Group:
    """Actions flagged for the same reason. ``why``: the rule's id or the objective's verdict."""

    why: str
    severity: str
    at: str
    message: str
    actions: list[Record]


@dataclass(slots=True)
class Report:
    session: str
    agent: str
    first: str
    last: str
    counts: Counter[str] = field(default_factory=Counter)
    objective: Record | None = None
    groups: list[Group] = field(default_factory=list)
    answers: dict[str, list[tuple[str, str, str]]] = field(default_factory=dict)  # question → (effect, tool, id)
    coverage: list[tuple[str, str, bool]] = field(default_factory=list)  # (what, said, is it a gap)
    spend: list[tuple[int, int, int, int]] = field(default_factory=list)  # (turn, input, output, flagged)
    timeline: list[Record] = field(default_factory=list)
    outcomes: dict[str, str] = field(default_factory=dict)  # action id → reported outcome
    verification: list[str] = field(default_factory=list)
    proven: bool = False


def make_report(
    session: str, records: Iterable[Record], verification: Iterable[Any] = (), nearby: Iterable[Record] = ()
) -> Report:
    """``verification``: ``audit.verify.Report`` values of the logs the records are in.

    ``nearby``: records of no session from the same time; what they say was missed may have been this session's.
    """
    timeline = list(records)
    if not timeline:
        raise ValueError(f"no record of session {session}")
    actions = [r for r in timeline if r["kind"] == "action"]
    agent = next((str(a) for r in timeline if (a := look(r, "agent.id"))), "unknown")
    report = Report(session, agent, timeline[0]["ts"], timeline[-1]["ts"], timeline=timeline)
    report.counts = _counts(timeline, actions)
    report.objective = next((r["objective"] for r in reversed(timeline) if _binds(r)), None)
    report.groups = _groups(actions)
    report.answers = {q: _answers(actions, holds) for q, holds in QUESTIONS.items()}
    report.outcomes = {r["action"]: r["outcome"] for r in timeline if r["kind"] == "outcome" and r["action"]}
    report.coverage = _coverage([*timeline, *nearby], actions, report.outcomes)
    report.spend = _spend(actions)
    reports = list(verification)
    report.verification = [str(v) for v in reports]
    report.proven = bool(reports) and all(v.answer == "valid" for v in reports)
    return report


def missed_nearby(records: Iterable[Record]) -> list[Record]:
    """Of these, what tells of something not seen and belongs to no session."""
    return [r for r in records if r["kind"] in MISSES and not look(r, "session.id")]


def _binds(record: Record) -> bool:
    return record["kind"] == "session" and record.get("objective") is not None


def _counts(timeline: list[Record], actions: list[Record]) -> Counter[str]:
    counts = Counter(r["kind"] for r in timeline)
    counts["flagged"] = sum(severity(r) is not None for r in actions)
    counts["cut off"] = sum(not r["call"]["complete"] for r in actions)
    counts["not all read"] = sum(not r["classification"]["complete"] for r in actions)
    return counts


def _groups(actions: list[Record]) -> list[Group]:
    found: dict[str, Group] = {}
    for record in actions:
        for f in findings(record):
            group = found.setdefault(f["rule"], Group(f["rule"], f["severity"], f["at"], f["message"], []))
            group.actions.append(record)
        said = verdict(record)
        if said in _OUTSIDE:
            objective = record["objective"]
            where = next((t["at"] for t in objective["trail"] if t["at"]), "") or ""
            key = f"objective {said.replace('_', ' ')} ({objective['severity']})"
            found.setdefault(key, Group(key, objective["severity"], where, "", [])).actions.append(record)
    for group in found.values():
        group.actions.sort(key=rank, reverse=True)
    return sorted(found.values(), key=lambda g: (-RANK.get(g.severity, 0), -len(g.actions), g.why))


def _answers(actions: list[Record], holds: Callable[[Record, Record], bool]) -> list[tuple[str, str, str]]:
    return [
        (effect_text(e), str(r["call"]["name"]), r["id"])
        for r in actions
        for e in r["classification"]["effects"]
        if holds(e, r)
    ]


def _coverage(
    timeline: list[Record], actions: list[Record], outcomes: Mapping[str, str]
) -> list[tuple[str, str, bool]]:
    """Each thing that could hide something, said also when there was none: silence is not a pass."""
    by_kind = Counter(r["kind"] for r in timeline)
    unread = sum(r["unread"]["size_bytes"] for r in timeline if r["kind"] == "unread")
    lost = sum(r["gap"]["exchanges"] for r in timeline if r["kind"] == "gap")
    opaque = sum(not r["classification"]["complete"] for r in actions)
    cut = sum(not r["call"]["complete"] for r in actions)
    silent = sum(r["id"] not in outcomes for r in actions if r["call"]["complete"])
    strength = next((s for r in timeline if (s := look(r, "session.strength"))), "unknown")
    ended = any(r["kind"] == "session" and r["event"] == "end" for r in timeline)
    rows = [
        ("Exchanges not captured (gaps)", lost),
        ("Bytes that could not be read", unread),
        ("Tunnels forwarded unseen", by_kind["opaque_flow"]),
        ("Calls cut off before they closed", cut),
        ("Calls not read in full", opaque),
        ("Calls without a reported result", silent),
        ("Steps of the analysis that failed", by_kind["analysis_failed"]),
        ("Requests refused", by_kind["refusal"]),
    ]
    said = [(name, str(count), count > 0) for name, count in rows]
    weak = (
        f"Session key ({strength})",
        "sequences and rates undetermined" if strength == "weak" else "ok",
        strength == "weak",
    )
    return [*said, weak, ("Session end", "recorded" if ended else "not seen", not ended)]


def _spend(actions: list[Record]) -> list[tuple[int, int, int, int]]:
    """Reported tokens per turn, each exchange once; how many of the turn's calls were flagged."""
    turns: dict[int, list[int]] = {}
    seen: set[str] = set()
    for record in actions:
        turn = look(record, "session.turn")
        usage = look(record, "exchange.usage")
        if not isinstance(turn, int):
            continue
        row = turns.setdefault(turn, [0, 0, 0])
        row[2] += severity(record) is not None
        exchange = str(look(record, "exchange.id"))
        if isinstance(usage, dict) and exchange not in seen:
            seen.add(exchange)
            row[0] += usage.get("input") or 0
            row[1] += usage.get("output") or 0
    return [(turn, row[0], row[1], row[2]) for turn, row in sorted(turns.items())]
