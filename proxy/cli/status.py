"""``onlooker status``: what runs, and whether it works.

In: ``--state``. Out: addresses, processes, the log's position, what is degraded. Exit 0 all well, 1 degraded, 4 not
running.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click
import orjson

from proxy.cli._options import configuration, json_option, state_option
from proxy.cli._table import words
from proxy.control.counters import running
from proxy.status import alive, is_fresh, read_pids, read_status, status_file


@click.command("status")
@state_option
@json_option
def COMMAND(state: str | None, *, as_json: bool) -> None:  # noqa: N802 - the name discovery looks for
    """Say what runs with this state."""
    config = configuration(None, {"state": state})
    found, pids = running(Path(config.state)), read_pids(config.pids_file)
    status = read_status(status_file(found["spool_dir"])) if found else None
    up = alive(pids.get("supervisor"))
    degraded = list((status or {}).get("degraded", [])) if up else []
    if up and not is_fresh(status):
        degraded.append("the analyzer is silent")
    said = {
        "running": up,
        "listen": found.get("listen"),
        "control": found.get("control"),
        "forward": found.get("forward"),
        "pids": pids,
        "restarts": found.get("restarts"),
        "log": (status or {}).get("log"),
        "behind_bytes": (status or {}).get("behind_bytes"),
        "degraded": degraded,
        "state": config.state,
    }
    if as_json:
        click.echo(orjson.dumps(said).decode())
    elif not up:
        click.echo(_down(config.state, pids))
    else:
        for name, value in said.items():
            click.echo(f"{name}: {words(value)}")
    sys.exit(4 if not up else 1 if degraded else 0)


def _down(state: str, pids: dict[str, Any]) -> str:
    """A supervisor that was killed leaves its parts: they serve on for a while, and the next start takes over."""
    parts = [(role, pid) for role, said in pids.items() for pid in (said if isinstance(said, list) else [said])]
    left = ", ".join(f"{role} {pid}" for role, pid in parts if alive(pid))
    if left:
        return f"the supervisor of {state} is gone, still there: {left}; onlooker serve takes over"
    return f"nothing runs with the state {state}; start it with onlooker serve"
