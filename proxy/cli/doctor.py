"""``onlooker doctor``: what would keep this machine's onlooker from working, and what each agent here needs.

In: the configuration. Out: one line per check, worst named last; exit 0 when all is well, 1 when something is not.
Checks only look: no file but the state folder's probe is written, no upstream gets a request.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import orjson

from proxy.cli._options import configuration, instance_options
from proxy.doctor.checks import run_checks
from proxy.run.pointing import profiles


@click.command("doctor")
@instance_options
@click.option("--offline", is_flag=True, help="Do not resolve or reach upstreams.")
@click.option("--json", "as_json", is_flag=True)
def COMMAND(file: Path | None, *, offline: bool, as_json: bool, **flags: Any) -> None:  # noqa: N802
    """Check ports, permissions, clock, policies, upstreams; list the agents found and what they need."""
    config = configuration(file, flags)
    checks = run_checks(config, offline=offline)
    agents = _agents()
    if as_json:
        click.echo(orjson.dumps({"checks": [asdict(c) for c in checks], "agents": agents}).decode())
    else:
        for check in checks:
            click.echo(f"{_MARK[check.state]} {check.name}: {check.said}")
        click.echo("\nagents on this machine:" if agents else "\nno known agent is on this machine's PATH")
        for agent in agents:
            click.echo(f"  {agent['agent']} ({agent['path']}): onlooker run -- {Path(agent['path']).name}")
            click.echo(f"      {agent['says']}")
    sys.exit(1 if any(c.state == "bad" for c in checks) else 0)


_MARK: dict[str, str] = {"ok": "ok  ", "note": "note", "bad": "BAD "}


def _agents() -> list[dict[str, str]]:
    named = ((p, c) for p in profiles().values() for c in p["commands"])
    return [
        {"agent": p["agent"], "path": path, "says": p["says"]}
        for p, command in named
        if (path := shutil.which(command, path=os.environ.get("PATH")))
    ]
