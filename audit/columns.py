"""A record as one flat row for columnar stores: the fields queries filter by, and the whole record beside them.

In: a record. Out: a dict with the keys of ``COLUMNS``; ``record`` is the line's JSON.
"""

from __future__ import annotations

from typing import Any

from audit.json_text import encode
from audit.otel_names import look
from audit.summary import effect_text, findings, severity, verdict, what, worst_effect

Record = dict[str, Any]

# Column → (type: text | number | flag | texts | time, path in the record or None when it is worked out below).
COLUMNS: dict[str, tuple[str, str | None]] = {
    "id": ("text", "id"),
    "log_id": ("text", "log_id"),
    "seq": ("number", "seq"),
    "ts": ("time", "ts"),
    "kind": ("text", "kind"),
    "session": ("text", "session.id"),
    "turn": ("number", "session.turn"),
    "agent": ("text", "agent.id"),
    "protocol": ("text", "exchange.protocol"),
    "model": ("text", "exchange.model"),
    "upstream": ("text", "exchange.upstream"),
    "tool": ("text", "call.name"),
    "call_id": ("text", "call.id"),
    "executed_by": ("text", "call.executed_by"),
    "call_complete": ("flag", "call.complete"),
    "surface": ("text", "classification.surface"),
    "complete": ("flag", "classification.complete"),
    "destructive": ("flag", "classification.destructive"),
    "reversibility": ("text", "classification.reversibility"),
    "verdict": ("text", None),
    "severity": ("text", None),
    "rules": ("texts", None),
    "domains": ("texts", None),
    "actions": ("texts", None),
    "targets": ("texts", None),
    "effect": ("text", None),
    "action_id": ("text", "action"),
    "outcome": ("text", "outcome"),
    "what": ("text", None),
    "record": ("text", None),
}


def row(record: Record) -> dict[str, Any]:
    effects = look(record, "classification.effects") or []
    worst = worst_effect(record)
    out = {name: _plain(look(record, path), kind) for name, (kind, path) in COLUMNS.items() if path is not None}
    return out | {
        "verdict": verdict(record) or None,
        "severity": severity(record),
        "rules": [f["rule"] for f in findings(record)],
        "domains": [e["domain"] for e in effects],
        "actions": [e["action"] for e in effects],
        "targets": [e["target"] if e["target"] is not None else e["target_raw"] or "" for e in effects],
        "effect": effect_text(worst) if worst else None,
        "what": what(record),
        "record": encode(record).decode(),
    }


def _plain(value: Any, kind: str) -> Any:
    """A wire may put anything where a text belongs; a column cannot."""
    if value is None:
        return None
    if kind == "number":
        return value if isinstance(value, int) and not isinstance(value, bool) else None
    if kind == "flag":
        return value if isinstance(value, bool) else None
    return value if isinstance(value, str) else encode(value).decode()
