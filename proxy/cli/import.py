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
from proxy.cli._options import configuration, fail, json_option, judging_options, state_option
from proxy.cli._review import show_review
from proxy.scan.lines import MAX_LINE_BYTES
from proxy.scan.recordings import EXCHANGES, names
from proxy.scan.review import readers, replay, review

_HISTORIES = {"claude-transcript": "claude-code", "codex-rollout": "codex"}


@click.command("import")
@click.argument("kind", type=click.Choice(sorted([*_HISTORIES, *EXCHANGES])))
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--limit", type=click.IntRange(1), default=30, show_default=True, help="Lines of the table.")
@judging_options
@state_option
@json_option
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
        histories = {p: _json_lines(p) for p in paths}
        strange = [f"{p}: not a history; a file of JSON lines was expected" for p in paths if not histories[p]]
        done = review(config, [(reader, p) for p in paths if histories[p]])
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
