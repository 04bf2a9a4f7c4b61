"""``onlooker assemble``: case folders in, one JSON line each out, with their calls, results and what was not read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from proxy.assembly.case import assemble_case
from proxy.assembly.folder import BadCaseError


@click.command("assemble")
@click.argument("folders", nargs=-1, metavar="CASE_DIR...", type=click.Path(path_type=Path))
@click.option("--detect", is_flag=True, help="Work out the api from the bytes; ignore what meta.json says it is.")
@click.option("--jsonl", is_flag=True, help='Read {"dir": ...} lines from standard input.')
def COMMAND(folders: tuple[Path, ...], detect: bool, jsonl: bool) -> None:  # noqa: N802 - the folder walk looks for it
    """Assemble the tool calls of recorded exchanges.

    A folder holds response.body, meta.json (endpoint, content_type, status, stream) and maybe request.json or
    requests.jsonl.
    """
    if not folders and not jsonl:
        raise click.UsageError("name a case folder, or give --jsonl and folders on standard input")
    bad = False
    for line in _answers(folders, detect=detect, jsonl=jsonl):
        bad = bad or "error" in line
        click.echo(json.dumps(line, ensure_ascii=True))
    if bad and not jsonl:
        raise SystemExit(3)


def _answers(folders: tuple[Path, ...], *, detect: bool, jsonl: bool) -> Iterator[dict[str, Any]]:
    for folder in folders:
        yield _answer({"dir": str(folder)}, folder, detect=detect)
    for line in sys.stdin if jsonl else ():
        if line.strip():
            yield _line(line, detect=detect)


def _line(line: str, *, detect: bool) -> dict[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError as error:
        return {"dir": None, "error": f"not JSON: {error}"}
    said = {k: entry[k] for k in ("dir", "id") if k in entry} if isinstance(entry, dict) else {}
    if not isinstance(said.get("dir"), str):
        return {"dir": said.get("dir"), **said, "error": 'expected {"dir": "path of a case folder"}'}
    return _answer(said, Path(said["dir"]), detect=detect)


def _answer(said: dict[str, Any], folder: Path, *, detect: bool) -> dict[str, Any]:
    try:
        return {**said, **assemble_case(folder, detect=detect)}
    except (BadCaseError, OSError, ValueError) as error:
        return {**said, "error": str(error)}
