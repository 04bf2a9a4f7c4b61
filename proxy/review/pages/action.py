"""One action: the call, its effects in the text they were read from, how it was judged, what was reported."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson

from audit.chain import line_hash
from audit.summary import effect_text, severity
from proxy.places import Places
from proxy.review.evidence import leaves_of
from proxy.review.exception import DAYS, exception_yaml
from proxy.review.index import Index
from proxy.review.lines import Record, lines_of, number_of_id, records_of
from proxy.review.page import NotThereError, Page, Wanted
from proxy.review.site import Site
from proxy.review.source import source_line

MAX_LATER = 200
_SHOWN = ("match", "undetermined", "excepted", "error")


def load(site: Site, index: Index, wanted: Wanted) -> dict[str, Any]:
    number = number_of_id(index, wanted.parts["id"])
    line = lines_of(index, [number]).get(number) if number is not None else None
    if number is None or line is None:
        raise NotThereError("No record of this id is in the log; it may have been removed by retention.")
    record = orjson.loads(line)
    if record["kind"] != "action":
        raise NotThereError("This record is not a call; its own page shows it.")
    later = _later(index, number)
    marks = [r for r in later if r["kind"] == "disposition"]
    state = site.status()
    return {
        "title": f"{record['call']['name']}: {record['id']}",
        "record": record,
        "severity": severity(record) or "",
        "leaves": leaves_of(record),
        "effects": [
            e | {"text": effect_text(e), "n": n} for n, e in enumerate(record["classification"].get("effects") or ())
        ],
        "objective": _objective(record, site.places),
        "findings": _findings(record, site.places),
        "quiet": sum(f["result"] == "no_match_so_far" for p in record.get("policy") or () for f in p["findings"]),
        "outcomes": [r for r in later if r["kind"] == "outcome"],
        "sightings": [r for r in later if r["kind"] == "sighting"],
        "revisions": [r for r in later if r["kind"] == "action"],
        "marks": marks,
        "yaml": _exception(record, marks),
        "days": DAYS,
        "hashes": _hashes(record, line),
        "running": bool(state),
        "before": _beside(index, record, number, "<", "DESC"),
        "after": _beside(index, record, number, ">", "ASC"),
        "state": site.config.state,
    }


def _effects(record: Record) -> list[dict[str, Any]]:
    effects = record["classification"].get("effects") or ()
    return [e | {"text": effect_text(e), "n": n} for n, e in enumerate(effects)]


def _later(index: Index, number: int) -> list[Record]:
    rows = index.rows("SELECT n FROM records WHERE about = ? ORDER BY n LIMIT ?", (number, MAX_LATER))
    found = records_of(index, [r["n"] for r in rows])
    return [found[n] for n in sorted(found)]


def _objective(record: Record, places: Places) -> dict[str, Any] | None:
    objective = record.get("objective")
    if objective is None:
        return None
    trail = [t | {"text": source_line(t.get("at"), places)} for t in objective["trail"]]
    return {**objective, "trail": trail}


def _findings(record: Record, places: Places) -> list[dict[str, Any]]:
    """Every rule that had something to say, matches first, worst first."""
    order = {"critical": 0, "high": 1, "medium": 2, "low": 3, "info": 4}
    found = [
        f | {"policy": p["id"], "stale": p["stale"], "text": source_line(f["at"], places)}
        for p in record.get("policy") or ()
        for f in p["findings"]
        if f["result"] in _SHOWN
    ]
    return sorted(found, key=lambda f: (_SHOWN.index(f["result"]), order.get(f["severity"], 5), f.get("below", False)))


def _exception(record: Record, marks: list[Record]) -> str:
    if not marks or marks[-1]["disposition"]["state"] != "benign":
        return ""
    said = marks[-1]["disposition"]
    return exception_yaml(record, str(said["reason"]), said.get("by"), datetime.now(UTC))


def _hashes(record: Record, line: bytes) -> list[tuple[str, str]]:
    """What ties this record to the log, and to what was in force then."""
    call, objective = record["call"], record.get("objective") or {}
    definition = call.get("definition") or {}
    rows = [
        ("this line", line_hash(line)),
        ("the line before", record["prev"]),
        ("arguments (keyed)", call.get("arguments_hmac")),
        ("tool schema", definition.get("schema_hash")),
        ("tool description", definition.get("description_hash")),
        ("objective in force", objective.get("hash")),
        *((f"policy {p['id']} {p.get('version') or ''}", p.get("hash")) for p in record.get("policy") or ()),
        ("knowledge", record["classification"].get("knowledge")),
    ]
    return [(name, str(value)) for name, value in rows if value]


def _beside(index: Index, record: Record, number: int, side: str, order: str) -> str:
    """The id of the action before or after this one in its session."""
    s = index.one("SELECT s FROM sessions WHERE id = ?", (str((record.get("session") or {}).get("id") or ""),))
    if s is None:
        return ""
    sql = (
        f"SELECT log, seq FROM records WHERE session = ? AND n {side} ? AND kind = 'action' ORDER BY n {order} LIMIT 1"  # noqa: S608 - two words
    )
    row = index.one(sql, (s["s"], number))
    return f"{row['log']}:{row['seq']}" if row else ""


PAGE = Page("/actions/{id:[^/]+}", "action.html", load)
