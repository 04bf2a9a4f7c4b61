"""What the index keeps of one action: its line in a list, and the properties it can be found by.

In: an action record. Out: ``Facts``. The five questions are those of the session report (``audit/report.py``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from audit.report import QUESTIONS
from audit.summary import RANK, effect_text, findings, severity, verdict, worst_effect

Record = dict[str, Any]

ASKS = ("destroyed", "left", "stays", "outside", "unread")  # the report's four questions in order, then the fifth
_HOLDS = dict(zip(ASKS, QUESTIONS.values(), strict=False))
_REVERSIBILITY = {"read_only": 0, "reversible": 1, "externally_reversible": 2, "unknown": 3, "irreversible": 4}
_LIMIT = 300  # characters of a text in a list
_OUTSIDE = ("outside_scope", "contradicts")


@dataclass(frozen=True, slots=True)
class Facts:
    """``row``: columns of ``actions`` by name. ``keys``: texts. ``targets``: lower case, for free text."""

    score: int
    row: dict[str, Any]
    keys: tuple[str, ...]
    targets: tuple[str, ...]


def score_of(record: Record) -> int:
    worst = RANK.get(severity(record) or "", 0)
    if not worst or not record["call"]["complete"]:
        return 0
    return worst * 5 + _REVERSIBILITY.get(record["classification"].get("reversibility") or "unknown", 3)


def facts_of(record: Record) -> Facts:
    call, classification = record["call"], record["classification"]
    effects: list[Record] = classification.get("effects") or []
    matched = findings(record)
    state = "cut off" if not call["complete"] else "read" if classification["complete"] else "in part"
    said = severity(record) or ""
    counted = state != "cut off"
    row = {
        "id": record["id"],
        "ts": record["ts"],
        "session": _text((record.get("session") or {}).get("id")),
        "turn": _number((record.get("session") or {}).get("turn")),
        "agent": _text((record.get("agent") or {}).get("id")),
        "sub": _text(call.get("subagent_id") or (record.get("agent") or {}).get("parent")),
        "tool": _text(call["name"]),
        "effect": _headline(record, matched, effects),
        "more": max(0, len(effects) - 1),
        "why": _text(matched[0]["rule"] if matched else _objective_reason(record)),
        "rules": len(matched),
        "verdict": verdict(record),
        "severity": said if counted else "",
        "reversibility": _text(classification.get("reversibility") or "unknown"),
        "state": state,
        "outcome": "none" if counted else "",
    }
    targets = {_text(e["target"] if e["target"] is not None else e["target_raw"]).lower() for e in effects}
    keys = dict.fromkeys(_keys(record, row, effects, matched, counted=counted))
    return Facts(score_of(record), row, tuple(keys), tuple(sorted(targets - {""})))


def _keys(record: Record, row: Record, effects: list[Record], matched: list[Record], *, counted: bool) -> list[str]:
    objective = (record.get("objective") or {}).get("id")
    out = [f"{name}:{row[name]}" for name in ("session", "agent", "tool", "state")]
    out += [f"surface:{record['classification']['surface']}"]
    if not counted:
        return [*out, "ask:unread", f"did:unread:{row['tool']}: cut off"]
    out += ["outcome:none"] + [f"{name}:{row[name] or 'none'}" for name in ("verdict", "severity", "reversibility")]
    bound = _text(objective) or "none"
    out += [f"objective:{bound}", f"judged:{bound}:{row['verdict']}", "counted:yes"]
    for e in effects:
        out += [f"effect:{e['domain']}:{e['action']}", f"domain:{e['domain']}", f"verb:{e['action']}"]
    for ask, said in _answers(record, row, effects):
        out += [f"ask:{ask}", f"did:{ask}:{said}"]
    out += [f"rule:{f['rule']}" for f in matched]
    out += [
        f"{f['result']}:{f['rule']}" for p in record.get("policy") or () for f in p["findings"] if f["result"] in _OTHER
    ]
    return out


def _answers(record: Record, row: Record, effects: list[Record]) -> Iterator[tuple[str, str]]:
    """(question, what answers it) of one call."""
    for ask, holds in _HOLDS.items():
        if ask != "outside":
            yield from ((ask, _text(effect_text(e))) for e in effects if holds(e, record))
    if row["verdict"] in _OUTSIDE:
        trail = [t["effect"] for t in record["objective"]["trail"] if t["verdict"] == row["verdict"]]
        named = [effects[i] for i in trail if isinstance(i, int) and i < len(effects)]
        yield from (("outside", _text(effect_text(e))) for e in named)
        if not named:
            yield "outside", row["effect"]
    if row["state"] == "in part":
        reasons = dict.fromkeys(str(o["reason"]) for o in record["classification"].get("opaque") or ())
        yield "unread", _text(f"{row['tool']}: {', '.join(reasons) or 'not all read'}")


_OTHER = ("undetermined", "excepted", "error")


def _headline(record: Record, matched: list[Record], effects: list[Record]) -> str:
    """The effect a line shows: one the worst finding names, else the least reversible."""
    named = [effects[i] for i in (matched[0]["effects"] if matched else ()) if i < len(effects)]
    worst = max(named, key=lambda e: _REVERSIBILITY.get(e["reversibility"], 3)) if named else worst_effect(record)
    if worst is not None:
        return _text(effect_text(worst))
    opaque = record["classification"].get("opaque") or ()
    return f"not read: {_text(opaque[0]['reason'])}" if opaque else "no effect read"


def _objective_reason(record: Record) -> str:
    objective = record.get("objective") or {}
    if objective.get("verdict") not in _OUTSIDE:
        return ""
    return "objective: " + next((str(t["reason"]) for t in objective["trail"] if t.get("reason")), "outside")


def _text(value: Any) -> str:
    """A wire may put anything where a text belongs; lone surrogates cannot be stored."""
    said = value if isinstance(value, str) else "" if value is None else str(value)
    return said[:_LIMIT].encode("utf-8", "backslashreplace").decode()


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62 else None
