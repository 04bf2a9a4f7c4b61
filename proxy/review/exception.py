"""A finding somebody found benign, as an exception for their policy: shown to copy, never applied.

In: a record, the reason, who says so, a time. Out: YAML in the policy language, for 30 days, as narrow as the record
allows: this rule, this agent, these targets.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import Any

from audit.summary import findings
from proxy.review.lines import Record

DAYS = 30


def exception_yaml(record: Record, reason: str, by: str | None, now: datetime) -> str:
    """ "" when no rule matched: an objective is changed in its own file."""
    agent = (record.get("agent") or {}).get("id")
    until = f"{now + timedelta(days=DAYS):%Y-%m-%dT%H:%M:%SZ}"
    name = re.sub(r"[^a-z0-9-]+", "-", f"benign-{record['seq']}".lower())
    entries = []
    for finding in findings(record):
        match = _match(record, finding, agent)
        if not match:
            continue
        entries += [
            f"  - id: {_text(finding['rule'])}",
            "    exceptions:",
            f"      - id: {name}",
            f"        reason: {_text(reason)}",
            f"        approved_by: {_text(by or '')}  # name who answers for it",
            f"        until: {_text(until)}  # then it ends by itself",
            "        match:",
            *match,
        ]
    return "\n".join(["overrides:", *entries, ""]) if entries else ""


def _match(record: Record, finding: dict[str, Any], agent: Any) -> list[str]:
    effects = record["classification"].get("effects") or []
    named = [effects[i] for i in finding["effects"] if i < len(effects)]
    targets = list(dict.fromkeys(e["target"] for e in named if e["target"]))
    lines = [f"          agents: [{_text(agent)}]"] if isinstance(agent, str) and agent else []
    if targets and len(targets) <= 20:
        listed = ", ".join(_text(t) for t in targets)
        lines.append(f"          effects: [{{target: [{listed}]}}]")
    return lines


def _text(value: Any) -> str:
    """A double-quoted YAML scalar: JSON's escapes are YAML's."""
    return json.dumps(str(value), ensure_ascii=True)
