"""Sessions: who worked when, under which objective, with how many flagged calls."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from audit.summary import SEVERITIES
from proxy.review.index import Index
from proxy.review.page import Page, Wanted
from proxy.review.site import Site

PAGE_ROWS = 50
_ORDERS = {"worst": "score DESC, last DESC", "newest": "last DESC"}


def load(_site: Site, index: Index, wanted: Wanted) -> dict[str, Any]:
    order = wanted.one("order") if wanted.one("order") in _ORDERS else "newest"
    start = int(wanted.one("from")) if wanted.one("from").isdigit() and len(wanted.one("from")) < 10 else 0
    text = wanted.one("q")[:200]
    test, values = _test(text)
    sql = f"SELECT * FROM sessions WHERE {test} ORDER BY {_ORDERS[order]} LIMIT ? OFFSET ?"  # noqa: S608 - closed lists
    rows = index.rows(sql, (*values, PAGE_ROWS + 1, start))
    total = index.rows(f"SELECT count(*) FROM sessions WHERE {test}", values)[0][0]  # noqa: S608 - closed lists
    return {
        "title": "Sessions",
        "q": text,
        "order": order,
        "rows": [dict(row) | {"worst": severity_of(row["score"])} for row in rows[:PAGE_ROWS]],
        "total": total,
        "start": start,
        "next": _address(text, order, start + PAGE_ROWS) if len(rows) > PAGE_ROWS else "",
        "orders": {name: _address(text, name, 0) for name in _ORDERS},
    }


def severity_of(score: int) -> str:
    return SEVERITIES[score // 5 - 1] if score >= 5 else ""


def _test(text: str) -> tuple[str, tuple[str, ...]]:
    if not text:
        return "1", ()
    like = "%" + "".join("!" + c if c in "!%_" else c for c in text).replace("*", "%") + "%"
    return "(id LIKE ? ESCAPE '!' OR agent LIKE ? ESCAPE '!' OR objective LIKE ? ESCAPE '!')", (like,) * 3


def _address(text: str, order: str, start: int) -> str:
    pairs = [("q", text), ("order", order), ("from", str(start) if start else "")]
    return "?" + urlencode([(k, v) for k, v in pairs if v])


PAGE = Page("/sessions", "sessions.html", load, nav=(2, "Sessions"))
