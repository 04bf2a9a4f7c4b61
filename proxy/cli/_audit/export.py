"""``audit export --bundle OUT``: records with what proves and what judged them, for somebody without onlooker.

The policy and objective files go along by the hash the records name; what has changed since is named as missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import orjson

from audit.escape import terminal
from audit.export import export
from audit.read import audit_dir, lines
from audit.read import session as session_records
from proxy.cli._audit._show import errors, json_option, place, since_ts, state_option
from proxy.referred import files_by_hash

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("export")
@state_option
@json_option
@click.option("--bundle", type=click.Path(path_type=Path), required=True, help="A new folder, or a .tar.gz.")
@click.option("--session", help="Only this session.")
@click.option("--since", metavar="2h|TIME", help="Only what happened since then: a duration back from now, or a time.")
@click.option("--until", metavar="2h|TIME", help="Only what happened before then: a duration back from now, or a time.")
@click.option("--policy", "policies", type=_FILE, multiple=True, help="One more policy file.")
@click.option("--objective", "objectives", type=_FILE, multiple=True, help="One more objective file.")
@click.option("--whole", is_flag=True, help="The whole log too, so its chain can be checked from first to last.")
def COMMAND(state: Path, as_json: bool, bundle: Path, session: str | None, **asked: Any) -> None:  # noqa: N802
    """Write an evidence pack: `sh check.sh` in it needs python3 and nothing of onlooker."""
    with errors():
        folder = audit_dir(place(state))
        found = lines(folder, since=since_ts(asked["since"]), until=since_ts(asked["until"]))
        if session is not None:
            ids = {r["id"] for r in session_records(folder, session)}
            found = (line for line in found if orjson.loads(line)["id"] in ids)
        known = files_by_hash(folder.parent)
        packed = export(
            folder, found, bundle, known=known, **{k: asked[k] for k in ("policies", "objectives", "whole")}
        )
    if as_json:
        click.echo(orjson.dumps(packed).decode())
        return
    late = f", {packed.unproven} of them newer than the last checkpoint" if packed.unproven else ""
    click.echo(f"{bundle}: {packed.records} records{late}; check with: {_check(bundle)}")
    for reference in packed.missing:
        click.echo(f"onlooker: not in it, no file here is what was in force then: {terminal(reference)}", err=True)


def _check(bundle: Path) -> str:
    """The command line that checks it; a .tar.gz is unpacked first."""
    packed = bundle.name.endswith((".tar.gz", ".tgz"))
    return f"tar xzf {bundle}, then sh check.sh in its folder" if packed else f"sh {bundle}/check.sh"
