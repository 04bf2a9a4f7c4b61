"""``onlooker env``: the variables that point a shell's programs at a running instance.

In: ``--state`` of the instance, perhaps an agent's or objective's name. Out: export lines for ``eval``, or JSON; with
``--forward`` those of its forward proxy.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click
import orjson

from proxy.ca import trust
from proxy.ca.authority import CERTIFICATE, CaError
from proxy.cli._options import configuration, fail, json_option, state_option
from proxy.cli._pointing import address_of
from proxy.control.counters import running
from proxy.run import Pointing, forwarding
from proxy.run.pointing import point, profiles
from proxy.settings import Config


@click.command("env")
@state_option
@click.option(
    "--agent",
    type=click.Choice(sorted(profiles())),
    default="generic",
    show_default=True,
    help="Whose variables: a client profile.",
)
@click.option("--objective", "objective", metavar="ID", help="Bind what these programs do to this objective.")
@click.option("--forward", is_flag=True, help="Variables of its forward proxy instead of base URLs.")
@json_option
def COMMAND(state: str | None, agent: str, objective: str | None, *, forward: bool, as_json: bool) -> None:  # noqa: N802
    """Print the variables that point programs at the running instance."""
    config = configuration(None, {"state": state})
    found = running(Path(config.state))
    if not found:
        fail(f"nothing runs with the state {config.state}; start it with onlooker serve", 4)
    if forward:
        pointing = _forward(config, found.get("forward"), objective)
        _print(pointing, as_json=as_json)
        return
    clean = {k: v for k, v in os.environ.items() if found["listen"][0] not in v}
    pointing = point(profiles()[agent], clean, Path.home(), address_of(found["listen"][0], objective))
    _print(pointing, as_json=as_json)


def _forward(config: Config, listening: list[str] | None, objective: str | None) -> Pointing:
    if not listening:
        fail(
            f"the instance of {config.state} has no forward proxy; start it with onlooker serve --forward HOST:PORT", 4
        )
    trusted = (config.ca_dir / CERTIFICATE).exists()
    try:
        if trusted:
            trust.bundle(config.ca_dir, os.environ)
    except CaError as error:
        fail(str(error), error.code)
    made = forwarding.variables(listening[0], config.ca_dir, os.environ, objective, trusted=trusted)
    none = () if trusted else ("no local authority: TLS is tunnelled unread; onlooker ca create makes one",)
    return Pointing(variables=made, notes=none)


def _print(pointing: Pointing, *, as_json: bool) -> None:
    if as_json:
        click.echo(orjson.dumps({"variables": pointing.variables, "arguments": pointing.arguments}).decode())
        return
    for name, value in pointing.variables.items():
        click.echo(f"export {name}={shlex.quote(value)}")
    if pointing.arguments:
        click.echo(f"# and these arguments: {shlex.join(pointing.arguments)}")
    for note in filter(None, pointing.notes):
        click.echo(f"# {note}")
    for route, spec in pointing.routes.items():
        click.echo(f"# {route} went to {spec['url']}: serve with --route {route}={spec['url']}")
