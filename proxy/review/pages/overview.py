"""Overview: the five questions, worst first; what kinds of effects; what was not seen; whether the log holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from classifiers.effects import Domain, Verb
from proxy.review.asked import ASKS, Asked, link
from proxy.review.index import Index
from proxy.review.page import Page, Wanted
from proxy.review.search import find
from proxy.review.site import Site
from proxy.review.verification import checkpoints

WINDOWS = {"1": "today and yesterday", "7": "7 days", "30": "30 days", "": "all that is kept"}
SHOWN, LOOKED_AT = 5, 60  # groups of a question; actions they are made from
_QUESTIONS = {
    "destroyed": ("What was asked to be destroyed", "No call asked to delete or overwrite anything."),
    "left": ("What was asked to leave the machine", "No call asked to send anything out."),
    "stays": (
        "What was asked to be installed or to stay",
        "No call asked to install, schedule or persist anything.",
    ),
    "outside": ("What was asked outside its objective", "No call was outside a declared objective."),
    "unread": ("What could not be read", "Every call was read in full."),
}
# Row → (tally key, address of the records behind it, what a number above zero means)
_COVERAGE: tuple[tuple[str, str, str, str], ...] = (
    ("Calls not read in full", "state:in part", "/review/actions?state=in+part", "their other effects are unknown"),
    ("Calls cut off before they closed", "state:cut off", "/review/actions?state=cut+off", "a prefix is not judged"),
    ("Calls without a reported result", "outcome:none", "/review/actions?outcome=none", "no result crossed here"),
    ("Bodies nobody could read", "kind:unread", "/review/records?kind=unread", "calls in them are not in this list"),
    ("Exchanges not captured (gaps)", "sum:gap", "/review/records?kind=gap", "their calls are missing"),
    ("Tunnels forwarded unseen", "kind:opaque_flow", "/review/records?kind=opaque_flow", "nothing inside was seen"),
    ("Steps of the analysis that failed", "kind:analysis_failed", "/review/records?kind=analysis_failed", "see each"),
    ("Requests refused", "kind:refusal", "/review/records?kind=refusal", "onlooker answered them itself"),
    ("Policy files not accepted", "kind:policy_reload_failed", "/review/policies#errors", "the last good one judged"),
)


def load(site: Site, index: Index, wanted: Wanted) -> dict[str, Any]:
    window = wanted.one("days") if wanted.one("days") in WINDOWS else ""
    since = f"{datetime.now(UTC) - timedelta(days=int(window)):%Y-%m-%d}" if window else ""
    sql = "SELECT key, sum(n) AS n FROM tally WHERE day >= ? OR day = '' GROUP BY key"
    tally = {row["key"]: row["n"] for row in index.rows(sql, (since,))}
    return {
        "title": "Overview",
        "window": window,
        "windows": WINDOWS,
        "since": since,
        "calls": tally.get("counted:yes", 0),
        "severities": [
            (s, tally.get(f"severity:{s}", 0), link(only=s, marked="open", since=since))
            for s in ("critical", "high", "medium", "low")
        ],
        "questions": [_question(index, ask, since, tally) for ask in ASKS],
        "matrix": _matrix(tally, since),
        "verbs": [str(v) for v in Verb if any(f"effect:{d}:{v}" in tally for d in Domain)],
        "coverage": [_row(row, tally, since) for row in _COVERAGE],
        "unread_bytes": tally.get("sum:unread", 0),
        "unreadable": tally.get("kind:unreadable", 0),
        "records": sum(n for k, n in tally.items() if k.startswith("kind:")),
        "checkpoints": checkpoints(site.config.audit_dir),
        "verification": site.verification,
    }


def _question(index: Index, ask: str, since: str, tally: Mapping[str, int]) -> dict[str, Any]:
    title, nothing = _QUESTIONS[ask]
    count = tally.get(f"ask:{ask}", 0)
    asked = Asked(filters={"ask": ask}, marked="open", since=since)
    rows = find(index, asked, LOOKED_AT, counted=False).rows if count else []
    groups: dict[str, dict[str, Any]] = {}
    texts = _answers(index, rows, ask)
    for row in rows:
        for text in texts.get(row["w"], ()):
            group = groups.setdefault(text, {"text": text, "row": row, "count": 0, "link": ""})
            group["count"] += 1
    shown = list(groups.values())[:SHOWN]
    for group in shown:
        exact = replace(asked, filters={"did": f"{ask}:{group['text']}"})
        group["count"] = find(index, exact, 1).total
        group["link"] = "/review/actions" + exact.address()
    return {"ask": ask, "title": title, "nothing": nothing, "count": count, "groups": shown,
            "link": "/review/actions" + asked.address()}  # fmt: skip


def _answers(index: Index, rows: list[Any], ask: str) -> dict[int, list[str]]:
    """What in each action answers the question."""
    numbers = {int(k) for row in rows for k in row["keys"].split()}
    if not numbers:
        return {}
    prefix = f"did:{ask}:"
    listed = ", ".join(map(str, numbers))
    sql = f"SELECT k, text FROM keys WHERE k IN ({listed}) AND substr(text, 1, ?) = ?"  # noqa: S608 - numbers
    texts = {r["k"]: r["text"][len(prefix) :] for r in index.rows(sql, (len(prefix), prefix))}
    return {row["w"]: [texts[int(k)] for k in row["keys"].split() if int(k) in texts] for row in rows}


def _matrix(tally: Mapping[str, int], since: str) -> list[dict[str, Any]]:
    """Rows of the table effect by domain: only what was seen. ``level`` 1 to 5 by order of magnitude."""
    verbs = [str(v) for v in Verb if any(f"effect:{d}:{v}" in tally for d in Domain)]
    rows = []
    for domain in map(str, Domain):
        counts = [tally.get(f"effect:{domain}:{verb}", 0) for verb in verbs]
        if any(counts):
            cells = [
                {"n": n, "level": min(5, 1 + int(math.log10(n))) if n > 0 else 0,
                 "link": link(domain=domain, effect=verb, since=since), "verb": verb}
                for verb, n in zip(verbs, counts, strict=True)
            ]  # fmt: skip
            rows.append({"domain": domain, "cells": cells})
    return rows


def _row(row: tuple[str, str, str, str], tally: Mapping[str, int], since: str) -> dict[str, Any]:
    name, key, address, means = row
    join = "&" if "?" in address else "?"
    place, _, fragment = address.partition("#")
    dated = f"{place}{join}since={since}" if since and not fragment else address
    return {"name": name, "n": tally.get(key, 0), "link": dated, "means": means}


PAGE = Page("", "overview.html", load, nav=(1, "Overview"))
