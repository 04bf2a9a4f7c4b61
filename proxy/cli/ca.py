"""``onlooker ca create|show|trust|rotate|delete``: the local authority the forward proxy intercepts with.

In: ``--state``, perhaps hosts. Out: files below ``<state>/ca``, or what they hold; exit 0, 2 for a wrong flag, 3 when
a file cannot be used, 4 when a command of ``trust --apply`` failed. Only ``trust --system NAME --apply`` changes
anything outside that folder.
"""

from __future__ import annotations

import datetime as dt
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click
import orjson

from proxy.ca import authority, trust
from proxy.ca.authority import Authority, CaError
from proxy.cli._options import configuration, fail, json_option, state_option
from proxy.cli._table import words
from proxy.settings import Config

STORES = ("debian", "fedora", "arch", "macos", "windows", "java", "nss")


@click.group("ca")
def COMMAND() -> None:  # noqa: N802 - the name discovery looks for
    """The local certificate authority of the forward proxy."""


def _making(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option("--days", default=authority.MAX_DAYS, show_default=True, help="How long it is valid, at most 90."),
        click.option(
            "--intercept", multiple=True, metavar="HOST", help="Hosts it may sign for (default: as configured)."
        ),
        click.option("--config", "file", type=click.Path(path_type=Path), help="onlooker.yaml"),
        state_option,
    ):
        command = option(command)
    return command


@COMMAND.command("create")
@_making
def create(file: Path | None, days: int, **flags: Any) -> None:
    """Make an authority that can sign for the intercepted hosts and nothing else."""
    _make(authority.create, configuration(file, flags), days)


@COMMAND.command("rotate")
@_making
def rotate(file: Path | None, days: int, **flags: Any) -> None:
    """Replace it; the old certificate stays readable, the old key is removed."""
    _make(authority.rotate, configuration(file, flags), days)
    click.echo("a running onlooker signs with the old one until it is restarted; both are in the bundle until then")


@COMMAND.command("show")
@state_option
@json_option
@click.option("--pem", "as_pem", is_flag=True, help="The certificate itself.")
def show(state: str | None, *, as_json: bool, as_pem: bool) -> None:
    """Say what there is: hosts, validity, fingerprint. Exit 3 when it cannot be used."""
    folder = configuration(None, {"state": state}).ca_dir
    try:
        found = Authority(authority.read_certificate(folder / authority.CERTIFICATE))
    except CaError as error:
        _fail(error)
    if as_pem:
        click.echo(authority.pem(found.certificate).decode(), nl=False)
        return
    trouble = _trouble(folder)
    said = {
        "certificate": str(folder / authority.CERTIFICATE),
        "name": found.certificate.subject.rfc4514_string(),
        "fingerprint": found.fingerprint,
        "until": found.until.isoformat(),
        "days_left": max(0, (found.until - dt.datetime.now(dt.UTC)).days),
        "hosts": list(found.listed.entries),
        "usable": trouble is None,
        "trouble": trouble,
        "retired": [{"fingerprint": a.fingerprint, "until": a.until.isoformat()} for a in authority.retired(folder)],
    }
    if as_json:
        click.echo(orjson.dumps(said).decode())
    else:
        for name, value in said.items():
            click.echo(f"{name}: {words(value)}")
    sys.exit(3 if trouble else 0)


@COMMAND.command("trust")
@state_option
@click.option("--export", "target", type=click.Path(path_type=Path), help="Write the certificate to this file.")
@click.option("--system", "store", type=click.Choice(STORES), help="Commands that put it into this store.")
@click.option("--apply", is_flag=True, help="Run the commands of --system.")
def trust_(state: str | None, target: Path | None, store: str | None, *, apply: bool) -> None:
    """Print what makes programs trust it: variables for a shell, or a store's own commands."""
    folder = configuration(None, {"state": state}).ca_dir
    if apply and not store:
        fail("--apply needs --system: variables are for your shell to set", 2)
    try:
        trust.bundle(folder, os.environ)
        commands = trust.system_commands(folder)
    except CaError as error:
        _fail(error)
    if target:
        _export(folder, target)
    elif not store:
        for name, value in trust.variables(folder).items():
            click.echo(f"export {name}={shlex.quote(value)}")
    for command in commands[store] if store else ():
        click.echo(shlex.join(command))
        if apply:
            _run(command)


@COMMAND.command("delete")
@state_option
def delete(state: str | None) -> None:
    """Remove the authority, its key and what was retired. System stores keep what was put into them."""
    folder = configuration(None, {"state": state}).ca_dir
    try:
        gone = authority.delete(folder)
    except CaError as error:
        _fail(error)
    for file in gone:
        click.echo(f"{file}: removed")


def _make(make: Callable[[Path, tuple[str, ...], int], Authority], config: Config, days: int) -> None:
    try:
        made = make(config.ca_dir, config.forward.intercept, days)
        trust.bundle(config.ca_dir, os.environ)
    except CaError as error:
        _fail(error)
    hosts = len(config.forward.intercept)
    click.echo(f"{config.ca_dir / authority.CERTIFICATE}: for {hosts} hosts, until {made.until:%Y-%m-%d}")
    click.echo("nothing trusts it yet; onlooker ca trust or onlooker env --forward prints how")


def _trouble(folder: Path) -> str | None:
    try:
        Authority.load(folder)
    except CaError as error:
        return str(error)
    return None


def _export(folder: Path, target: Path) -> None:
    try:
        target.write_bytes((folder / authority.CERTIFICATE).read_bytes())
    except OSError as error:
        fail(f"{target}: {error.strerror}", 3)
    click.echo(f"{target}: written")


def _run(command: list[str]) -> None:
    try:
        code = subprocess.run(command, check=False).returncode
    except OSError as error:
        fail(f"{command[0]}: {error.strerror}", 4)
    if code:
        fail(f"{shlex.join(command)} ended with {code}", 4)


def _fail(error: CaError) -> NoReturn:
    fail(str(error), error.code)
