"""``audit sessions``: one line per session, newest last."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import orjson
from rich.console import Console
from rich.text import Text

from audit.escape import terminal
from audit.read import records
from audit.summary import SEVERITIES, severity
from proxy.cli._audit._show import NARROW, columns, errors, json_option, place, short_time, since_ts, state_option

COLUMNS = ("session", "agent", "from", "to", "calls", "flagged", "worst", "incomplete", "ended")
NARROW_COLUMNS = ("session", "agent", "calls", "flagged", "worst")


@dataclass(slots=True)
class SessionLine:
    id: str
    agent: str = ""
    first: str = ""
    last: str = ""
    ended: str = ""
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, record: dict[str, Any]) -> None:
        self.first = self.first or record["ts"]
        self.last = record["ts"]
        self.agent = self.agent or str((record.get("agent") or {}).get("id") or "")
        self.counts[record["kind"]] += 1
        if record["kind"] == "action":
            self.counts["incomplete"] += not record["call"]["complete"]
            if (worst := severity(record)) is not None:
                self.counts.update(("flagged", worst))
        elif record["kind"] == "session" and record["event"] == "end":
            self.ended = record["reason"]

    def to_json(self) -> dict[str, Any]:
        worst = next((s for s in reversed(SEVERITIES) if self.counts[s]), "")
        counts = {"calls": self.counts["action"], "flagged": self.counts["flagged"], "worst": worst}
        said = {"session": self.id, "agent": self.agent, "from": self.first, "to": self.last}
        return {**said, **counts, "incomplete": self.counts["incomplete"], "ended": self.ended}


def collect(found: Iterable[dict[str, Any]]) -> list[SessionLine]:
    sessions: dict[str, SessionLine] = {}
    for record in found:
        identity = (record.get("session") or {}).get("id")
        if identity is not None:
            sessions.setdefault(identity, SessionLine(identity)).add(record)
    return list(sessions.values())


@click.command("sessions")
@state_option
@json_option
@click.option("--since", metavar="2h|TIME", help="Only what happened since then: a duration back from now, or a time.")
def COMMAND(state: Path, as_json: bool, since: str | None) -> None:  # noqa: N802 - see cli
    """Sessions with their counts and the worst that was flagged."""
    with errors():
        rows = [s.to_json() for s in collect(records(place(state), since=since_ts(since)))]
        if as_json:
            for row in rows:
                click.echo(orjson.dumps(row).decode())
            return
        table = [[terminal(row[c], 60) for c in COLUMNS] for row in rows]
        if not sys.stdout.isatty():
            for cells in table:
                click.echo("\t".join(cells))
            return
        console = Console()
        kept = NARROW_COLUMNS if console.width < NARROW else COLUMNS
        shown = columns(kept)
        for cells in table:
            by_name = dict(zip(COLUMNS, cells, strict=True))
            times = {c: short_time(by_name[c]) for c in ("from", "to")}
            shown.add_row(*(Text((by_name | times)[c]) for c in kept))
        console.print(shown)
