"""``audit report SESSION``: the session as a page (``--html``) or as text, worst first."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import click
import orjson

from audit.escape import terminal
from audit.read import audit_dir, records, session
from audit.report import MISSES, Report, make_report, missed_nearby
from audit.report_page import page
from audit.summary import what
from audit.verify import verify
from proxy.cli._audit._show import errors, fail, json_option, place, state_option


@click.command("report")
@click.argument("session_id", metavar="SESSION")
@state_option
@json_option
@click.option("--html", "as_html", is_flag=True, help="One self-contained page.")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Write there instead of to standard output.")
def COMMAND(session_id: str, state: Path, as_json: bool, as_html: bool, output: Path | None) -> None:  # noqa: N802
    """What a session did that was flagged, what was not seen, and whether the log holds. Exit 1 when flagged."""
    with errors():
        folder = audit_dir(place(state))
        found = session(folder, session_id)
        if not found:
            fail(f"no record of session {session_id}; 'onlooker audit sessions' lists them", 3)
        here = {r["log_id"] for r in found}
        then = records(folder, since=found[0]["ts"], until=found[-1]["ts"], kinds=MISSES)
        checked = [v for v in verify(folder) if v.log_id in here]
        made = make_report(session_id, found, checked, missed_nearby(then))
        text = page(made) if as_html else orjson.dumps(made).decode() if as_json else "\n".join(_lines(made))
        if output is None:
            click.echo(text)
        else:
            fd = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                file.write(text)
    raise SystemExit(1 if made.groups else 0)


def _lines(report: Report) -> Iterator[str]:
    counts = report.counts
    yield _row("session", report.session, report.agent, report.first, report.last)
    yield f"{counts['action']} calls, {counts['flagged']} flagged, {counts['not all read']} not all read"
    for group in report.groups:
        yield _row(group.severity, group.why, f"{len(group.actions)} call(s)", group.at)
        for record in group.actions:
            yield _row("", record["id"], what(record))
    for question, rows in report.answers.items():
        yield f"{question}: {len(rows) or 'nothing seen'}"
        for row in rows:
            yield _row("", *row)
    yield "What was not seen:"
    for name, said, is_gap in report.coverage:
        yield _row("", f"{'!' if is_gap else ' '} {name}: {said}")
    for line in report.verification:
        yield _row("log", line)


def _row(*cells: str) -> str:
    return "\t".join(terminal(c, 200) for c in cells)
