"""Records of one kind that are no calls: what was missed, what was loaded, what people said."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from audit.summary import what
from proxy.review.index import Index
from proxy.review.lines import Record, newest_of
from proxy.review.page import Page, Wanted
from proxy.review.site import Site

PAGE_ROWS = 100


def load(_site: Site, index: Index, wanted: Wanted) -> dict[str, Any]:
    kind, since = wanted.one("kind", "disposition")[:40], wanted.one("since")[:30]
    before = int(wanted.one("before")) if wanted.one("before").isdigit() and len(wanted.one("before")) < 16 else 1 << 60
    found = newest_of(index, kind, PAGE_ROWS + 1, before=before, since=since)
    kinds = index.rows(
        "SELECT substr(key, 6) AS kind, sum(n) AS n FROM tally WHERE key LIKE 'kind:%' GROUP BY key ORDER BY key"
    )
    rows = [_row(record) for record in found[:PAGE_ROWS]]
    return {
        "title": "Records",
        "kind": kind,
        "kinds": [k for k in kinds if k["kind"] not in {"action", "outcome", "unreadable"}],
        "rows": rows,
        "next": _address(kind, since, found[PAGE_ROWS - 1]["n"]) if len(found) > PAGE_ROWS else "",
    }


def _row(record: Record) -> dict[str, Any]:
    session = (record.get("session") or {}).get("id") or ""
    return {
        "id": record["id"],
        "ts": record["ts"],
        "what": what(record),
        "session": session,
        "action": record.get("action") or "",
    }


def _address(kind: str, since: str, before: int) -> str:
    pairs = (("kind", kind), ("since", since), ("before", str(before)))
    return "?" + urlencode([(k, v) for k, v in pairs if v])


PAGE = Page("/records", "records.html", load, nav=(6, "Records"))
