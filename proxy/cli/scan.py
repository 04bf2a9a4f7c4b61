"""``onlooker scan``: the agent history already on this machine, reviewed; nothing to set up, nothing sent anywhere.

In: Claude Code's transcripts and Codex's rollouts; or what is named: those, HAR files, captures, spools. Out: findings
worst first, then what was read and what was not. Exit 0 nothing found, 1 findings, 3 a named file cannot be read.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from proxy.cli._broken import refuse_broken
from proxy.cli._options import configuration, fail, json_option, judging_options, state_option
from proxy.cli._review import show_review
from proxy.config_values import WrongValueError, duration_s
from proxy.scan import Reader
from proxy.scan.recordings import EXCHANGES, kind_of, names
from proxy.scan.review import found, readers, review


@click.command("scan")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--since", default="30d", show_default=True, metavar="AGE", help="Only histories touched since (30d, 12h)."
)
@click.option("--home", type=click.Path(path_type=Path, file_okay=False), help="Whose histories (default: yours).")
@click.option("--limit", type=click.IntRange(1), default=30, show_default=True, help="Lines of the table.")
@judging_options
@state_option
@json_option
def COMMAND(  # noqa: N802 - the name discovery looks for
    paths: tuple[Path, ...], since: str, home: Path | None, limit: int, *, as_json: bool, **flags: Any
) -> None:
    """Review what agents on this machine have asked for; read-only and local."""
    recorded = [p for p in paths if kind_of(p)]
    work = _named(tuple(p for p in paths if not kind_of(p))) if paths else _everything(home, since)
    base = configuration(None, {**flags, "privacy": {"identities": "clear"}})
    refuse_broken(base)
    config = replace(base, state=str(Path(base.state) / "scan"))
    shown = sys.stderr.isatty() and not as_json
    strange: list[str] = []
    done = review(
        config,
        work,
        lambda p: click.echo(f"\rreading {p.name[:60]:60}", nl=False, err=True) if shown else None,
        [
            (kind, p, EXCHANGES[kind](p, name, strange))
            for p, name in zip(recorded, names(recorded), strict=True)
            if (kind := kind_of(p))
        ],
    )
    done.unreadable += strange
    if shown:
        click.echo("\r" + " " * 70 + "\r", nl=False, err=True)
    said = ", ".join(f"{n} of {agent}" for agent, n in done.files.items()) or "none"
    sys.exit(show_review(Path(config.state), f"histories read: {said}", done, limit=limit, as_json=as_json))


def _everything(home: Path | None, since: str) -> list[tuple[Reader, Path]]:
    try:
        oldest = time.time() - duration_s(since)
    except WrongValueError as error:
        fail(f"--since: {error}", 2)
    return found(home or Path.home(), {} if home else os.environ, oldest)


def _named(paths: tuple[Path, ...]) -> list[tuple[Reader, Path]]:
    """Files of the command line; a rollout is known by its name, everything else is a transcript."""
    by_agent = {r.agent: r for r in readers()}
    files = [f for p in paths for f in (sorted(p.rglob("*.jsonl")) if p.is_dir() else [p])]
    for file in files:
        if not file.is_file():
            fail(f"{file}: no such file", 3)
    return [(by_agent["codex" if f.name.startswith("rollout-") else "claude-code"], f) for f in files]
