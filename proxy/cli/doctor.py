"""``onlooker doctor``: what would keep this machine's onlooker from working, and what each agent here needs.

In: the configuration. Out: one line per check; exit 0 when all is well, 1 when something is not, 4 when ``--live``
finds nothing running. Checks only look: no file but the state folder's probe is written. Only ``--live`` sends
requests: one probe through each listener and each route, followed until it is a record.
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

from proxy.cli._options import configuration, fail, instance_options, json_option
from proxy.doctor.checks import run_checks
from proxy.doctor.live import NotRunningError, run_live
from proxy.run.pointing import profiles


@click.command("doctor")
@instance_options
@click.option("--offline", is_flag=True, help="Do not resolve or reach upstreams.")
@click.option("--live", is_flag=True, help="Send one probe through each listener and route of the running instance.")
@click.option("--probe", "names", multiple=True, metavar="ROUTE", help="With --live: also through this built-in route.")
@json_option
def COMMAND(  # noqa: N802 - the name discovery looks for
    file: Path | None, names: tuple[str, ...], *, offline: bool, live: bool, as_json: bool, **flags: Any
) -> None:
    """Check ports, permissions, clock, policies, upstreams; list the agents found and what they need."""
    config = configuration(file, flags)
    checks = run_checks(config, offline=offline)
    if live:
        try:
            checks += run_live(Path(config.state), names, offline=offline)
        except NotRunningError as error:
            fail(str(error), 4)
        except KeyError as error:
            fail(f"--probe {error.args[0]}", 2)
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
