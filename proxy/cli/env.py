"""``onlooker env``: the variables that point a shell's programs at a running instance.

In: ``--state`` of the instance, perhaps an agent's or objective's name. Out: export lines for ``eval``, or JSON.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
import orjson

from proxy.cli._options import configuration, fail, state_option
from proxy.cli._pointing import address_of
from proxy.control.counters import running
from proxy.run.pointing import point, profiles


@click.command("env")
@state_option
@click.option("--agent", type=click.Choice(sorted(profiles())), default="generic", show_default=True)
@click.option("--objective", "objective", metavar="ID", help="Bind what these programs do to this objective.")
@click.option("--json", "as_json", is_flag=True)
def COMMAND(state: str | None, agent: str, objective: str | None, *, as_json: bool) -> None:  # noqa: N802
    """Print the variables that point programs at the running instance."""
    config = configuration(None, {"state": state})
    found = running(Path(config.state))
    if not found:
        fail(f"nothing runs with the state {config.state}; start it with onlooker serve", 4)
    clean = {k: v for k, v in os.environ.items() if found["listen"][0] not in v}
    pointing = point(profiles()[agent], clean, Path.home(), address_of(found["listen"][0], objective))
    if as_json:
        click.echo(orjson.dumps({"variables": pointing.variables, "arguments": pointing.arguments}).decode())
        return
    for name, value in pointing.variables.items():
        click.echo(f"export {name}={shlex.quote(value)}")
    if pointing.arguments:
        click.echo(f"# and these arguments: {shlex.join(pointing.arguments)}")
    for route, spec in pointing.routes.items():
        click.echo(f"# {route} went to {spec['url']}: serve with --route {route}={spec['url']}")
