"""``onlooker import KIND FILE…``: recorded traffic through the same pipeline as live traffic.

In: HAR files, packet captures, a spool's folder, Claude Code transcripts, Codex rollouts. Out: a log below
``<state>/import``, findings worst first. Exit 0 nothing found, 1 findings, 3 a file cannot be read. Nothing given is
changed.
"""

# ruff: noqa: N999 - the command is called import
from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import orjson

from proxy.cli._broken import refuse_broken
from proxy.cli._options import configuration, fail, state_option
from proxy.cli._review import show_review
from proxy.scan.lines import MAX_LINE_BYTES
from proxy.scan.recordings import EXCHANGES, names
from proxy.scan.review import readers, replay, review

_HISTORIES = {"claude-transcript": "claude-code", "codex-rollout": "codex"}


@click.command("import")
@click.argument("kind", type=click.Choice(sorted([*_HISTORIES, *EXCHANGES])))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(1), default=30, show_default=True, help="Lines of the table.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="FILE",
    help="A policy file to judge by; may be given more than once.",
)
@click.option(
    "--objective",
    "objectives",
    multiple=True,
    metavar="FILE",
    help="An objective file: what was asked for; may be given more than once.",
)
@state_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object for programs.")
def COMMAND(kind: str, paths: tuple[Path, ...], limit: int, *, as_json: bool, **flags: Any) -> None:  # noqa: N802
    """Review recorded traffic."""
    for path in paths:
        if not path.exists():
            fail(f"{path}: no such file or folder", 3)
    base = configuration(None, flags)
    refuse_broken(base)
    config = replace(base, state=str(Path(base.state) / "import"))
    if kind in _HISTORIES:
        reader = next(r for r in readers() if r.agent == _HISTORIES[kind])
        strange = [f"{p}: not a history; a file of JSON lines was expected" for p in paths if not _json_lines(p)]
        done = review(config, [(reader, p) for p in paths if _json_lines(p)])
    else:
        strange, read = [], EXCHANGES[kind]
        done = replay(config, [(p, read(p, name, strange)) for p, name in zip(paths, names(paths), strict=True)])
    done.unreadable += strange
    code = show_review(Path(config.state), f"{len(paths)} given", done, limit=limit, as_json=as_json)
    if done.unreadable and as_json:
        click.echo("\n".join(f"onlooker: not read: {p}" for p in done.unreadable), err=True)
    sys.exit(3 if done.unreadable else code)


def _json_lines(path: Path) -> bool:
    """Whether the file begins with a JSON object on a line."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = next((line for line in iter(lambda: file.readline(MAX_LINE_BYTES), b"") if line.strip()), b"{}")
    try:
        return isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return False
