"""Objectives: what was declared, what is bound to it, which scope lines are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proxy.places import Places
from proxy.review.asked import link
from proxy.review.index import Index
from proxy.review.lines import newest_of
from proxy.review.page import Page, Wanted
from proxy.review.site import Site
from proxy.review.source import source_line

MAX_OBJECTIVES = 200
_VERDICTS = ("consistent", "undetermined", "outside_scope", "contradicts")


def load(site: Site, index: Index, _wanted: Wanted) -> dict[str, Any]:
    judge = site.status().get("judge") or {}
    recorded = [o for r in newest_of(index, "policy_loaded", 1) for o in r.get("objectives") or ()]
    declared = {str(o["id"]): o for o in [*recorded, *(judge.get("objectives") or [])]}
    seen = index.rows("SELECT DISTINCT objective FROM sessions WHERE objective != '' LIMIT ?", (MAX_OBJECTIVES,))
    names = list(dict.fromkeys([*declared, *(r["objective"] for r in seen)]))[:MAX_OBJECTIVES]
    none = index.one("SELECT count(*) AS n, coalesce(sum(calls), 0) AS calls FROM sessions WHERE objective = ''")
    return {
        "title": "Objectives",
        "running": bool(judge),
        "objectives": [_one(index, name, declared.get(name), site.places) for name in names],
        "broken": judge.get("broken_objectives") or {},
        "none": none,
        "none_link": link(objective="none"),
    }


def _one(index: Index, name: str, declared: dict[str, Any] | None, places: Places) -> dict[str, Any]:
    sessions = index.rows(
        "SELECT id, trust, calls, flagged, last FROM sessions WHERE objective = ? ORDER BY last DESC LIMIT 20", (name,)
    )
    total = index.rows("SELECT count(*) FROM sessions WHERE objective = ?", (name,))[0][0]
    lines = index.rows("SELECT line, used, unused FROM scope WHERE objective = ? ORDER BY line LIMIT 500", (name,))
    verdicts = [(v, _judged(index, name, v), link(objective=name, verdict=v)) for v in _VERDICTS]
    return {
        "id": name,
        "declared": declared,
        "verdicts": verdicts,
        "sessions": sessions,
        "total": total,
        "lines": sorted((_line(dict(r), places) for r in lines), key=lambda r: (r["number"], r["line"])),
    }


def _line(row: dict[str, Any], places: Places) -> dict[str, Any]:
    """A scope line with its text, when the file is still there, and its place without the folder."""
    place = row["line"].rpartition("/")[2]
    parts = row["line"].rsplit(":", 2)
    number = int(parts[1]) if len(parts) == 3 and parts[1].isdigit() else 0
    return row | {
        "place": place,
        "number": number,
        "text": source_line(row["line"], places),
        "file": str(Path(parts[0]).name),
    }


def _judged(index: Index, name: str, verdict: str) -> int:
    row = index.one("SELECT n FROM keys WHERE text = ?", (f"judged:{name}:{verdict}",))
    return int(row[0]) if row else 0


PAGE = Page("/objectives", "objectives.html", load, nav=(5, "Objectives"))
