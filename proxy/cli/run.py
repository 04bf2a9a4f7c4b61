"""``onlooker run -- CMD``: an instance of the command's own, the command untouched, the findings when it ends.

In: a command line. Out: the command's exit code, terminal and signals; at the end, on stderr, coverage then findings.
Exit 125 is our own failure; what is not found is 127, what cannot be started 126, as a shell says it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from policies.objectives import load as load_objectives
from proxy.ca import authority, trust
from proxy.ca.authority import CaError
from proxy.cli._broken import refuse_broken
from proxy.cli._options import configuration, fail, judging_options, state_option
from proxy.cli._pointing import address_of
from proxy.cli._table import print_rows
from proxy.findings import coverage_of, not_looked_into, rows
from proxy.instance import Instance, InstanceError
from proxy.run import Pointing, forwarding
from proxy.run.launch import run_command
from proxy.run.pointing import GENERIC, point, profile_of
from proxy.settings import Config, Launch

OUR_FAILURE = 125
SHOWN = 20
RUN_DAYS = 7  # how long the authority of a run lasts, should the run be killed
PEERS_S = 5.0  # who is behind a connection can only be seen while it stands


@click.command("run", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--config", "file", type=click.Path(path_type=Path), help="onlooker.yaml")
@state_option
@click.option(
    "--route",
    "routes",
    multiple=True,
    metavar="NAME=URL",
    help="A further route, as for serve; may be given more than once.",
)
@judging_options
@click.option("--forward", is_flag=True, help="Through a forward proxy; the command's own addresses stay.")
@click.option("--intercept", multiple=True, metavar="HOST", help="With --forward: look into TLS to HOST.")
@click.option("--quiet", is_flag=True, help="No findings at the end; the log is kept all the same.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def COMMAND(file: Path | None, command: tuple[str, ...], *, forward: bool, quiet: bool, **flags: Any) -> None:  # noqa: N802
    """Run CMD with onlooker in between."""
    if flags["intercept"] and not forward:
        fail("--intercept says what a forward proxy looks into; it needs --forward", 2)
    session = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
    nonce, objective = secrets.token_hex(12), _only_objective(flags["objectives"])
    agent = profile_of(command)["agent"]
    launch = Launch(
        cwd=str(Path.cwd()),
        session=f"run-{session}",
        agent=None if agent == GENERIC else agent,
        nonces={nonce: objective} if objective else {},
    )
    addresses = {"listen": _free(), "control": _free(), "forward_listen": _free() if forward else None}
    base = configuration(file, {**flags, **addresses}, launch)
    refuse_broken(base)
    config = replace(base, state=str(Path(base.state) / "runs" / session))
    config = replace(config, spool=replace(config.spool, dir=f"{config.spool.dir}-{session}"))
    segment = f"{objective}.{nonce}" if objective else None
    sys.exit(_run(config, command, segment, quiet=quiet))


def _run(config: Config, command: tuple[str, ...], segment: str | None, *, quiet: bool) -> int:
    profile = profile_of(command)
    with contextlib.ExitStack() as after:
        try:
            pointing = _pointing(config, profile, segment, after)
        except CaError as error:
            click.echo(f"onlooker: cannot start: {error}", err=True)
            return OUR_FAILURE
        return _with(config, pointing, command, quiet=quiet)


def _pointing(config: Config, profile: Mapping[str, Any], segment: str | None, after: contextlib.ExitStack) -> Pointing:
    """What the command is told. With a forward proxy it gets an authority of its own, which ends with it."""
    if config.forward.listen is None:
        return point(profile, os.environ, Path.home(), address_of(config.listen, segment))
    authority.create(config.ca_dir, config.forward.intercept, RUN_DAYS)
    after.callback(authority.delete, config.ca_dir)
    trust.bundle(config.ca_dir, os.environ)
    return Pointing(variables=forwarding.variables(config.forward.listen, config.ca_dir, os.environ, segment))


def _with(config: Config, pointing: Pointing, command: tuple[str, ...], *, quiet: bool) -> int:
    config = replace(config, routes={**config.routes, **pointing.routes})
    for number in (signal.SIGTERM, signal.SIGHUP):  # before the command runs they end us, our instance with us
        signal.signal(number, _leave)
    hooks = {"ONLOOKER_CONTROL": config.control}  # where the agent's own hooks report to
    environment = {**os.environ, **pointing.variables, **hooks, **_for_mcp_server(config)}
    try:
        instance = Instance.start(config)
    except (InstanceError, OSError) as error:
        click.echo(f"onlooker: cannot start: {error}", err=True)
        return OUR_FAILURE
    try:
        instance.wait_analyzer(PEERS_S)
        code = run_command((command[0], *pointing.arguments, *command[1:]), environment, (instance.lifeline,))
    except OSError as error:
        click.echo(f"onlooker: {command[0]}: {error.strerror}", err=True)
        code, quiet = (127 if isinstance(error, FileNotFoundError) else 126), True  # nothing ran: nothing to report
    finally:
        unrecorded = instance.stop()
    if unrecorded:
        click.echo(f"onlooker: not all was recorded; {instance.stderr} says why", err=True)
    if not quiet:
        _report(instance)
    return code


def _for_mcp_server(config: Config) -> dict[str, str]:
    """Where an ``onlooker mcp-server`` that the command starts finds this instance."""
    if not config.mcp_server:
        return {}
    return {"ONLOOKER_STATE": config.state, **({"ONLOOKER_CONFIG": config.file} if config.file else {})}


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def _report(instance: Instance) -> None:
    records = instance.records()
    coverage, found = coverage_of(records), rows(records)
    click.echo(f"\nonlooker: {coverage.line()}", err=True)
    unseen = list(not_looked_into(records))
    for said in unseen:
        click.echo(f"onlooker: {said}", err=True)
    if coverage.calls == 0 and not unseen:
        click.echo("onlooker: no call crossed this instance; `onlooker doctor` says what the agent needs", err=True)
    print_rows(found, sys.stderr, SHOWN)
    for session in sorted(coverage.sessions):
        click.echo(f"onlooker: session {session}", err=True)
    click.echo(f"onlooker: log {instance.config.state}/audit; onlooker explain ID says why", err=True)


def _only_objective(files: tuple[str, ...]) -> str | None:
    """The id to put in the URL: that of the first objective file given."""
    if not files:
        return None
    found = load_objectives(files)
    return next(iter([*found.by_id, *found.broken]), None)


def _free() -> str:
    """A free loopback port. Another program could take it before we do: then the start says so."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"127.0.0.1:{probe.getsockname()[1]}"
