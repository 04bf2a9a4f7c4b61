"""Actions: the list, its filters, its exports. The address is the question."""

from __future__ import annotations

from typing import Any

from audit.summary import SEVERITIES
from classifiers.effects import Domain, Verb
from policies.verdict import Verdict
from proxy.review.asked import FILTERS, MARKS, asked, misread
from proxy.review.index import Index
from proxy.review.page import Page, Wanted
from proxy.review.search import COUNTED, find
from proxy.review.site import Site

# Filters with a closed list are menus, the others are text.
_MENUS = {
    "domain": tuple(map(str, Domain)),
    "effect": tuple(map(str, Verb)),
    "verdict": tuple(map(str, Verdict)),
    "reversibility": ("read_only", "reversible", "externally_reversible", "irreversible", "unknown"),
    "state": ("read", "in part", "cut off"),
}
_TEXTS = ("agent", "session", "tool", "rule", "objective")


def load(_site: Site, index: Index, wanted: Wanted) -> dict[str, Any]:
    question = asked(wanted.query)
    page = find(index, question)
    known = sum(
        r[0] for r in index.rows("SELECT n FROM keys WHERE text IN ('state:read', 'state:in part', 'state:cut off')")
    )
    return {
        "title": "Actions",
        "asked": question,
        "rows": page.rows,
        "total": page.total,
        "counted": COUNTED,
        "next": question.address(after=page.after) if page.after is not None else "",
        "menus": {name: (question.filters.get(name, ""), values) for name, values in _MENUS.items()},
        "texts": {name: question.filters.get(name, "") for name in _TEXTS},
        "hidden": {n: v for n, v in question.filters.items() if n in FILTERS and n not in _MENUS and n not in _TEXTS},
        "severities": SEVERITIES,
        "marks": MARKS,
        "chips": [(name, value) for name, value in question.pairs() if name not in {"after", "order"}],
        "any": known > 0,
        "misread": misread(wanted.query),
    }


PAGE = Page("/actions", "actions.html", load, nav=(3, "Actions"))
