"""A record in a few words: how bad, what, about whom. Used by the terminal, the report, syslog and the webhook.

In: a record as read from the log. Out: plain strings, not escaped (the place that shows them does that).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Record = dict[str, Any]

SEVERITIES = ("info", "low", "medium", "high", "critical")
RANK = {name: n for n, name in enumerate(SEVERITIES, 1)}
_BAD_VERDICTS = frozenset({"outside_scope", "contradicts"})
_WORSE = {"read_only": 0, "reversible": 1, "externally_reversible": 2, "unknown": 3, "irreversible": 4}


def findings(record: Record) -> list[Record]:
    """Matches of stable rules, worst first: severity, then what names the target itself, then what is lost for good.

    A rule is there once, as its worst match: two policies in force often extend the same library.
    """
    found = [f for p in record.get("policy") or () for f in p["findings"] if f["result"] == "match"]
    once: dict[str, Record] = {}
    for finding in sorted((f for f in found if f["status"] == "stable"), key=lambda f: _urgency(f, record)):
        once.setdefault(finding["rule"], finding)
    return list(once.values())


def _urgency(finding: Record, record: Record) -> tuple[int, bool, int]:
    effects = (record.get("classification") or {}).get("effects") or ()
    lost = [_WORSE.get(effects[i]["reversibility"], 3) for i in finding.get("effects") or () if i < len(effects)]
    return -RANK.get(finding["severity"], 0), bool(finding.get("below")), -max(lost, default=0)


def severity(record: Record) -> str | None:
    """The worst of findings and objective verdict; None: nothing was flagged."""
    said = [f["severity"] for f in findings(record)]
    objective = record.get("objective") or {}
    if objective.get("verdict") in _BAD_VERDICTS:
        said.append(objective["severity"])
    return max(said, key=lambda s: RANK.get(s, 0), default=None)


def rank(record: Record) -> int:
    return RANK.get(severity(record) or "", 0)


def verdict(record: Record) -> str:
    return str((record.get("objective") or {}).get("verdict") or "")


def worst_effect(record: Record) -> Record | None:
    effects = (record.get("classification") or {}).get("effects") or ()
    return max(effects, key=lambda e: (e["destructive"] is True, _WORSE.get(e["reversibility"], 3)), default=None)


def effect_text(effect: Record) -> str:
    target = effect["target"] if effect["target"] is not None else effect["target_raw"]
    return f"{effect['action']} {effect['domain']}" + (f" {target}" if target else "")


def what(record: Record) -> str:
    """One line per kind."""
    say = _SAY.get(record["kind"])
    return say(record) if say else record["kind"]


def _action(r: Record) -> str:
    call, effect = r["call"], worst_effect(r)
    cut = "" if call["complete"] else " (cut off)"
    count = len(r["classification"]["effects"])
    more = f" (+{count - 1})" if count > 1 else ""
    unread = "" if r["classification"]["complete"] else " [not all read]"
    return f"{call['name']}{cut}: {effect_text(effect) if effect else 'no effects read'}{more}{unread}"


def _session(r: Record) -> str:
    if r["event"] != "end":
        objective = (r.get("objective") or {}).get("id")
        return f"session {r['event']}, objective {objective or 'none'}"
    counts = ", ".join(f"{v} {k}" for k, v in r["summary"].items() if isinstance(v, int) and v)
    return f"session end ({r['reason']}): {counts or 'no calls'}"


def _in_force(policies: list[Record]) -> str:
    active = [str(p["id"]) for p in policies if p.get("state", "active") == "active"]
    others = [f"; {p['id']}: not loaded" for p in policies if p.get("state", "active") != "active"]
    return f"active: {', '.join(active) or 'no policy'}" + "".join(others)


_SAY: Mapping[str, Callable[[Record], str]] = {
    "action": _action,
    "outcome": lambda r: f"{r['outcome']} reported by {r['reported_by']} for {r['action'] or 'a call not seen'}",
    "sighting": lambda r: f"{r['leg']} carried {r['action']}",
    "session": _session,
    "gap": lambda r: f"not captured: {r['gap']['exchanges']} exchanges ({r['gap']['reason']})",
    "unread": lambda r: f"{r['unread']['size_bytes']} bytes of {r['unread']['content_type']}: {r['unread']['reason']}",
    "opaque_flow": lambda r: f"tunnel to {r['flow']['host']}, unseen: {r['flow']['reason']}",
    "refusal": lambda r: f"{r['refusal']['status']}: {r['refusal']['reason']}",
    "disposition": lambda r: f"{r['action']} marked {r['disposition']['state']}: {r['disposition']['reason']}",
    "attestation": lambda r: r["attestation"]["statement"],
    "policy_loaded": lambda r: _in_force(r["policies"]),
    "policy_reload_failed": lambda r: (
        f"{r['reload']['file']} refused, "
        + ("the last good policy stays" if r["reload"]["active_hash"] else "nothing of it is in force")
    ),
    "analysis_failed": lambda r: f"{r['failure']['stage']}: {r['failure']['error']}",
    "recovered": lambda r: f"{r['recovery']['reason']}, {r['recovery']['torn_bytes']} torn bytes cut",
    "clock_step": lambda r: f"the clock moved by {r['clock']['delta_ms']} ms",
    "checkpoint": lambda r: f"signed over {r['checkpoint']['size']} records",
    "segment": lambda r: f"file {r['segment']['number']} begins",
    "retention": lambda r: f"file {r['retention']['number']} removed ({r['retention']['reason']})",
    "unsealed": lambda r: f"{r['action']} opened: {r['unsealed']['reason']}",
}
HOUSEKEEPING = frozenset({"checkpoint", "segment"})
