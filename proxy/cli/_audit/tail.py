"""``audit tail``: the newest records, and with ``--follow`` each new one as it is written."""

from __future__ import annotations

import time
from pathlib import Path

import click
import orjson

from audit.cursor import end_of, read_batch
from audit.read import audit_dir, newest
from audit.summary import HOUSEKEEPING
from proxy.cli._audit._show import errors, follow_line, json_option, place, show, state_option

POLL_S = 0.2


@click.command("tail")
@state_option
@json_option
@click.option("-n", "--lines", "count", default=20, show_default=True, help="How many to begin with.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on (Ctrl-C ends).")
@click.option("--all", "everything", is_flag=True, help="Checkpoints and file headers too.")
def COMMAND(state: Path, as_json: bool, count: int, follow: bool, everything: bool) -> None:  # noqa: N802 - see cli
    """The newest records."""
    with errors():
        folder = audit_dir(place(state))
        cursor = end_of(folder)
        show(newest(folder, max(count, 0), lambda r: everything or r["kind"] not in HOUSEKEEPING), as_json=as_json)
        while follow:
            batch, cursor = read_batch(folder, cursor)
            for record in map(orjson.loads, batch):
                if everything or record["kind"] not in HOUSEKEEPING:
                    follow_line(record, as_json=as_json)
            if not batch:
                time.sleep(POLL_S)
