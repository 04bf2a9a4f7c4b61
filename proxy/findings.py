"""Records into the few lines a person reads first: coverage, then findings worst first, grouped.

In: records as the log holds them. Out: ``Row`` values and ``Coverage`` counts; no printing here. What changes things
ranks above what only reads, a rule's severity above an objective's, and equal rows are one row with a count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from audit.summary import findings

_SEVERITY = {"info": 0, "low": 1, "medium": 2, "high": 3, "critical": 4}
_REVERSIBILITY = {"read_only": 0, "reversible": 1, "externally_reversible": 2, "unknown": 3, "irreversible": 4}
_QUIET = {"info"}  # recorded, not worth a line of a summary
_READS = {"read", "receive"}

_HELP = {
    "not_listed": " (--intercept HOST looks into it)",
    "upstream-tls": " (its certificate is not trusted; upstream_ca in onlooker.yaml adds an authority)",
}

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``ids``: the records it stands for, newest last."""

    severity: str
    reversibility: str
    effect: str
    verdict: str
    reason: str
    tool: str
    agent: str
    ids: tuple[str, ...]

    @property
    def rank(self) -> tuple[int, int, int]:
        return (-_SEVERITY.get(self.severity, 0), -_REVERSIBILITY.get(self.reversibility, 0), -len(self.ids))


@dataclass(slots=True)
class Coverage:
    """What was seen, and what is known not to be."""

    calls: int = 0
    flagged: int = 0
    incomplete: int = 0
    not_read: int = 0
    unread: int = 0
    unread_bytes: int = 0
    gaps: int = 0
    opaque_flows: int = 0
    refusals: int = 0
    failures: int = 0
    outcomes: int = 0
    unanswered: int = 0
    sessions: set[str] = field(default_factory=set)
    legs: Counter[str] = field(default_factory=Counter)

    def line(self) -> str:
        """One sentence; every kind of "not seen" is in it, zero or not."""
        return (
            f"{self.calls} calls in {len(self.sessions)} session(s), {self.outcomes} answered; not read: "
            f"{self.not_read} call(s) in part, {self.unread} bodies ({self.unread_bytes} bytes), "
            f"{self.incomplete} cut off, {self.opaque_flows} tunnels, {self.gaps} exchanges lost, "
            f"{self.failures} analysis failures, {self.refusals} refused requests"
            + (f"; seen on: {', '.join(f'{leg} {n}' for leg, n in sorted(self.legs.items()))}" if self.legs else "")
        )


def coverage_of(records: Iterable[Record]) -> Coverage:
    out = Coverage()
    for record in records:
        _add(out, record)
    return out


def _add(out: Coverage, record: Record) -> None:
    match record["kind"]:
        case "action":
            call = record["call"]
            out.sessions.add((record.get("session") or {}).get("id") or "?")
            out.legs[call["observed_at"]] += 1
            if call["complete"]:
                out.calls += 1
                out.not_read += not record["classification"]["complete"]
                out.flagged += bool(reasons(record))
            else:
                out.incomplete += 1
        case "sighting":
            out.legs[record["leg"]] += 1
        case "outcome":
            out.outcomes += bool(record["final"])
        case "unread":
            out.unread += 1
            out.unread_bytes += record["unread"]["size_bytes"]
        case "gap":
            out.gaps += record["gap"]["exchanges"]
        case "opaque_flow":
            out.opaque_flows += 1
        case "refusal":
            out.refusals += 1
        case "analysis_failed":
            out.failures += 1
        case _:
            pass


def reasons(record: Record) -> list[tuple[str, str, list[int]]]:
    """(severity, why, effects) of every stable rule that matched and of an objective verdict that is no consent."""
    found = [
        (f["severity"], f"rule {f['rule']}", list(f.get("effects") or ()))
        for f in findings(record)
        if f["severity"] not in _QUIET
    ]
    objective = record.get("objective") or {}
    if objective.get("verdict") in {"contradicts", "outside_scope"} and objective["severity"] not in _QUIET:
        trail = [t for t in objective["trail"] if t["verdict"] == objective["verdict"]]
        first = trail[0] if trail else {}
        where = f" ({_short(first['at'])})" if first.get("at") else ""
        effects = [t["effect"] for t in trail if t["effect"] is not None]
        found.append((objective["severity"], f"objective: {first.get('note') or first.get('reason')}{where}", effects))
    return sorted(found, key=lambda r: -_SEVERITY.get(r[0], 0))


def not_looked_into(records: Iterable[Record]) -> list[str]:
    """What crossed and was not read, or was refused: one line for each place and reason, with what can be done."""
    counts: Counter[tuple[str, str]] = Counter()
    for record in records:
        if record["kind"] == "opaque_flow":
            counts["tunnelled to " + record["flow"]["host"], record["flow"]["reason"]] += 1
        elif record["kind"] == "refusal":
            counts[f"answered {record['refusal']['status']} by onlooker", record["refusal"]["reason"]] += 1
    return [f"{n} {what}: {why}{_HELP.get(why, '')}" for (what, why), n in sorted(counts.items())]


def rows(records: Iterable[Record]) -> list[Row]:
    """Flagged calls, worst first; the same effect for the same reason is one row."""
    grouped: dict[Row, list[str]] = {}
    for record in records:
        if record["kind"] != "action" or not record["call"]["complete"]:
            continue
        found = reasons(record)
        if not found:
            continue
        severity, why, effects = found[0]
        effect = _worst(record["classification"]["effects"], effects)
        row = Row(
            severity=severity,
            reversibility=str((effect or {}).get("reversibility", "unknown")),
            effect=_effect_text(effect, record),
            verdict=str((record.get("objective") or {}).get("verdict") or "-"),
            reason=why + (f" and {len(found) - 1} more" if len(found) > 1 else ""),
            tool=record["call"]["name"],
            agent=str((record.get("agent") or {}).get("id") or "-"),
            ids=(),
        )
        grouped.setdefault(row, []).append(record["id"])
    return sorted((replace(row, ids=tuple(ids)) for row, ids in grouped.items()), key=lambda r: r.rank)


def _worst(effects: list[Record], named: list[int]) -> Record | None:
    """The effect a line shows: one the finding names, else the least reversible change."""
    pool = [effects[i] for i in named if i < len(effects)] or effects
    return max(
        pool,
        key=lambda e: (e["action"] not in _READS, _REVERSIBILITY.get(e["reversibility"], 0)),
        default=None,
    )


def _effect_text(effect: Record | None, record: Record) -> str:
    if effect is None:
        opaque = record["classification"]["opaque"]
        return f"not read ({opaque[0]['reason']})" if opaque else "no effect read"
    target = effect["target"] or effect["target_raw"] or "?"
    return f"{effect['action']} {effect['domain']} {target}"


def _short(at: str) -> str:
    return at.rpartition("/")[2]
