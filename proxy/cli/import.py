"""``onlooker import KIND FILE…``: recorded traffic through the same pipeline as live traffic.

In: HAR files, a spool's folder, Claude Code transcripts, Codex rollouts. Out: a log below ``<state>/import``, findings
worst first. Exit 0 nothing found, 1 findings, 3 a file cannot be read. Nothing given is changed.
"""

# ruff: noqa: N999 - the command is called import
from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from proxy.cli._options import configuration, fail, state_option
from proxy.cli._review import show_review
from proxy.scan.har import HarError, har_events
from proxy.scan.review import Reviewed, readers, replay, review
from proxy.spool.events import SpoolEvent
from proxy.spool.tail import SpoolTail

_HISTORIES = {"claude-transcript": "claude-code", "codex-rollout": "codex"}


def _spool_events(folder: Path) -> Iterator[SpoolEvent]:
    """From a copy: reading a spool puts its bell beside it."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, Path(copy) / "spool", ignore=shutil.ignore_patterns("wake*"))
        tail = SpoolTail(Path(copy) / "spool")
        while events := tail.poll():
            yield from events
        tail.close()


_EXCHANGES: dict[str, Callable[[Path], Iterator[SpoolEvent]]] = {"har": har_events, "spool": _spool_events}


@click.command("import")
@click.argument("kind", type=click.Choice(sorted([*_HISTORIES, *_EXCHANGES])))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(1), default=30, show_default=True, help="Lines of the table.")
@click.option("--policy", "policies", multiple=True, metavar="FILE")
@click.option("--objective", "objectives", multiple=True, metavar="FILE")
@state_option
@click.option("--json", "as_json", is_flag=True)
def COMMAND(kind: str, paths: tuple[Path, ...], limit: int, *, as_json: bool, **flags: Any) -> None:  # noqa: N802
    """Review recorded traffic."""
    for path in paths:
        if not path.exists():
            fail(f"{path}: no such file or folder", 3)
    base = configuration(None, flags)
    config = replace(base, state=str(Path(base.state) / "import"))
    if kind in _HISTORIES:
        reader = next(r for r in readers() if r.agent == _HISTORIES[kind])
        done = review(config, [(reader, p) for p in paths])
    else:
        done = Reviewed()
        try:
            replay(config, (e for p in paths for e in _EXCHANGES[kind](p)))
        except HarError as error:
            fail(str(error), 3)
    sys.exit(show_review(Path(config.state), f"{len(paths)} imported", done, limit=limit, as_json=as_json))
