"""``onlooker logs``: what onlooker's own processes wrote on standard error, kept below the state folder.

In: ``--state``. Out: the last lines of each log there, control characters shown as escapes. ``serve`` in the foreground
writes to its own standard error instead. Exit 0, or 4 when there is no log. Records are ``onlooker audit``'s business.
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

import click

from proxy.cli._options import configuration, fail, state_option

READ_BYTES = 1 << 20  # of each log's end


@click.command("logs")
@state_option
@click.option("-n", "--lines", "count", type=click.IntRange(1), default=50, show_default=True, help="Of each log.")
def COMMAND(state: str | None, count: int) -> None:  # noqa: N802 - the name discovery looks for
    """Show what onlooker's own processes had to say."""
    folder = Path(configuration(None, {"state": state}).state)
    logs = sorted(folder.rglob("*.log")) if folder.is_dir() else []
    if not logs:
        fail(f"{folder}: no log of onlooker's own processes; serve writes to its standard error", 4)
    for path in logs:
        click.echo(f"{path}:")
        for line in deque(_end(path).splitlines(), count):
            click.echo("  " + line.encode("unicode_escape").decode("ascii"))


def _end(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - READ_BYTES))
        return file.read().decode("utf-8", "replace")
