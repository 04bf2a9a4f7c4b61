"""What a review of recorded traffic says at its end: findings worst first, then what was read and what was not.

In: the folder whose log the review wrote. Out: text or one JSON object; the exit code, 0 nothing
found, 1 findings, 3 nothing found but a file could not be read.
"""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from proxy.cli._table import print_rows
from proxy.findings import coverage_of, rows
from proxy.instance import read_records
from proxy.scan.review import Reviewed


def show_review(state: Path, said: str, done: Reviewed, *, limit: int, as_json: bool) -> int:
    records = read_records(state)
    table, coverage = rows(records), coverage_of(records)
    if as_json:
        lines = [{k: getattr(r, k) for k in r.__dataclass_fields__} for r in table]
        click.echo(orjson.dumps({"files": done.files, "calls": coverage.calls, "rows": lines}).decode())
        return 1 if table else 3 if done.unreadable else 0
    print_rows(table, limit=limit)
    click.echo(f"\n{said}; {coverage.line()}")
    for problem in done.unreadable:
        click.echo(f"not read: {problem}")
    if table:
        click.echo("onlooker explain ID says why")
    return 1 if table else 3 if done.unreadable else 0
