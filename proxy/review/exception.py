"""A finding somebody found benign, as an exception for their policy: shown to copy, never applied.

In: a record, the reason, who says so, a time. Out: YAML in the policy language, for 30 days, as narrow as the record
allows: this rule, this agent, these targets. A rule no target narrows gets no exception from here.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

from audit.summary import findings
from proxy.review.lines import Record

DAYS = 30
MAX_TARGETS = 20
_GLOB = frozenset("*?")


def exception_yaml(record: Record, reason: str, by: str | None, now: datetime) -> str:
    """ "" when no rule matched: an objective is changed in its own file."""
    agent = (record.get("agent") or {}).get("id")
    until = f"{now + timedelta(days=DAYS):%Y-%m-%dT%H:%M:%SZ}"
    name = re.sub(r"[^a-z0-9-]+", "-", f"benign-{record['seq']}".lower())
    entries = []
    for finding in findings(record):
        targets = _targets(record, finding)
        if not targets:
            entries.append(f"  # {finding['rule']}: no target of the call narrows an exception; write this one by hand")
            continue
        listed = ", ".join(_text(t) for t in targets)
        wide = "  # '*' stands for anything here: narrow it if you can" if set(listed) & _GLOB else ""
        entries += [
            f"  - id: {_text(finding['rule'])}",
            "    exceptions:",
            f"      - id: {name}",
            f"        reason: {_text(reason)}",
            f"        approved_by: {_text(by or '')}  # name who answers for it",
            f"        until: {_text(until)}  # then it ends by itself",
            "        match:",
            *([f"          agents: [{_text(agent)}]"] if isinstance(agent, str) and agent else []),
            f"          effects: [{{target: [{listed}]}}]{wide}",
        ]
    return "\n".join(["overrides:", *entries, ""]) if any(not e.startswith("  #") for e in entries) else ""


def _targets(record: Record, finding: dict[str, Any]) -> list[str]:
    """What the rule matched on, else what was outside the objective; nothing that would excuse everything."""
    effects = record["classification"].get("effects") or []
    trail = (record.get("objective") or {}).get("trail") or []
    numbers = finding["effects"] or [t["effect"] for t in trail if t["effect"] is not None]
    named = [effects[i]["target"] for i in numbers if i < len(effects)]
    if not named or not all(isinstance(t, str) and set(t) - _GLOB - set("/:.@#~") for t in named):
        return []
    return list(dict.fromkeys(named))[:MAX_TARGETS]


def _text(value: Any) -> str:
    """A double-quoted YAML scalar: JSON's escapes are YAML's."""
    return json.dumps(str(value), ensure_ascii=True)
