"""A candidate policy over what is recorded: the form, and what the last trial found."""

from __future__ import annotations

from typing import Any

from proxy.review.candidate import DAYS, Trial
from proxy.review.index import Index
from proxy.review.page import Page, Wanted
from proxy.review.site import Site

_KINDS = {"newly_flagged": "new", "no_longer_flagged": "gone", "changed": "changed"}
_PERIODS = {"1": "the last day", "7": "the last 7 days", "30": "the last 30 days", "": "all that is kept"}
_START = """\
policy: 1
id: candidate
extends: [onlooker:starter]
"""


def load(site: Site, _index: Index, _wanted: Wanted) -> dict[str, Any]:
    trial = site.trial if isinstance(site.trial, Trial) else None
    found = trial.found if trial is not None else None
    return {
        "title": "Try a policy",
        "policies": site.config.policies,
        "periods": {d: _PERIODS[d] for d in DAYS},
        "trial": trial,
        "text": trial.text if trial is not None else _START,
        "against": trial.against if trial is not None else next(iter(site.config.policies), ""),
        "days": trial.days if trial is not None else "7",
        "rows": [r | {"word": _KINDS[r["kind"]]} for r in found["differences"]] if found is not None else [],
        "matched": sorted(found["matched"].items(), key=lambda m: (-m[1], m[0])) if found is not None else [],
        "actions": found["actions"] if found is not None else 0,
        "never": found["never_matched"] if found is not None else [],
        "state": site.config.state,
    }


PAGE = Page("/policies/candidate", "candidate.html", load)
