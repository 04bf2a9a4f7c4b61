"""``audit stats``: what the log holds, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import orjson

from audit.escape import terminal
from audit.read import records
from audit.summary import findings, severity, verdict
from proxy.cli._audit._show import errors, json_option, place, since_ts, state_option

TOP = 10


def count(found: Iterable[dict[str, Any]]) -> dict[str, dict[str, int]]:
    tables: dict[str, Counter[str]] = {}

    def add(table: str, value: object, by: int = 1) -> None:
        tables.setdefault(table, Counter())[str(value)] += by

    for record in found:
        add("kind", record["kind"])
        if record["kind"] == "outcome":
            add("outcome", record["outcome"])
        elif record["kind"] == "gap":
            add("gap", "exchanges", record["gap"]["exchanges"])
        elif record["kind"] == "action":
            _add_action(record, add)
    return {
        name: dict(counter.most_common(TOP if name in {"tool", "rule"} else None)) for name, counter in tables.items()
    }


def _add_action(record: dict[str, Any], add: Any) -> None:
    classification = record["classification"]
    add("tool", record["call"]["name"])
    add("surface", classification["surface"])
    add("reversibility", classification["reversibility"])
    add("call", "complete" if record["call"]["complete"] else "cut off")
    add("classification", "complete" if classification["complete"] else "not all read")
    add("verdict", verdict(record) or "none")
    add("severity", severity(record) or "none")
    for effect in classification["effects"]:
        add("effect", f"{effect['action']} {effect['domain']}")
    for finding in findings(record):
        add("rule", finding["rule"])


@click.command("stats")
@state_option
@json_option
@click.option("--since", metavar="2h|TIME", help="Only what happened since then: a duration back from now, or a time.")
def COMMAND(state: Path, as_json: bool, since: str | None) -> None:  # noqa: N802 - see cli
    """Records by kind; actions by tool, effect, verdict, severity and rule."""
    with errors():
        tables = count(records(place(state), since=since_ts(since)))
    if as_json:
        click.echo(orjson.dumps(tables).decode())
        return
    for name, values in tables.items():
        for value, number in values.items():
            click.echo(f"{name}\t{terminal(value, 80)}\t{number}")
