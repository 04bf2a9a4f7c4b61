"""Policies: what is in force, what was refused, how often each rule matched."""

from __future__ import annotations

from typing import Any

from proxy.review.asked import link
from proxy.review.index import Index
from proxy.review.lines import newest_of
from proxy.review.page import Page, Wanted
from proxy.review.site import Site

_RESULTS = ("rule", "undetermined", "excepted", "error")


def load(site: Site, index: Index, _wanted: Wanted) -> dict[str, Any]:
    judge = site.status().get("judge") or {}
    loaded = newest_of(index, "policy_loaded", 1)
    recorded = loaded[0]["policies"] if loaded else []
    return {
        "title": "Policies",
        "running": bool(judge),
        "policies": judge.get("policies") or recorded,
        "details": {str(p.get("id")): p for p in recorded},
        "broken": judge.get("broken_objectives") or {},
        "errors": newest_of(index, "policy_reload_failed", 20),
        "rules": _rules(index, judge.get("rules") or []),
        "state": site.config.state,
    }


def _rules(index: Index, known: list[str]) -> list[dict[str, Any]]:
    """Every rule in force and every rule that ever matched, most matches first; never-matched ones are listed too."""
    counts: dict[str, dict[str, int]] = {rule: dict.fromkeys(_RESULTS, 0) for rule in known}
    for result in _RESULTS:
        sql = "SELECT text, n FROM keys WHERE text >= ? AND text < ?"
        for row in index.rows(sql, (result + ":", result + ";")):
            rule = row["text"][len(result) + 1 :]
            counts.setdefault(rule, dict.fromkeys(_RESULTS, 0))[result] += row["n"]
    rows = [
        {"id": rule, **n, "link": link(rule=rule), "unclear": link(undetermined=rule), "active": rule in known}
        for rule, n in counts.items()
    ]
    return sorted(rows, key=lambda r: (-r["rule"], -r["undetermined"], r["id"]))


PAGE = Page("/policies", "policies.html", load, nav=(4, "Policies"))
