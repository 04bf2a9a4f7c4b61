"""``onlooker install mcp|claude-code``: show what would change in clients' own configurations; ``--apply`` writes it.

In: the files found. Out: the changes, a backup beside each file written. ``uninstall`` takes it back.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from proxy.cli._install import apply_option, carry_out, control_address, home_option
from proxy.cli._options import state_option
from proxy.install import claude_code, mcp, plan_install


@click.group("install")
def COMMAND() -> None:  # noqa: N802 - the name discovery looks for
    """Point clients at onlooker by their own configuration files."""


@COMMAND.command("mcp")
@apply_option
@home_option
@state_option
def install_mcp(home: Path | None, state: str | None, *, apply: bool) -> None:
    """Put `onlooker mcp` in front of each stdio server of the MCP clients found here."""
    change = mcp.Wrap(mcp.watcher(str(Path(state).absolute()) if state else None))
    carry_out(mcp.files(home or Path.home(), Path.cwd()), lambda p: plan_install(p, change), apply=apply)


@COMMAND.command("claude-code")
@apply_option
@home_option
@state_option
@click.option("--control", metavar="HOST:PORT", help="Control plane (default: the running one, or 127.0.0.1:8791).")
def install_claude_code(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Put the http hook into Claude Code's settings."""
    file = claude_code.settings_file(home or Path.home(), {} if home else os.environ)
    change = claude_code.PutIn(control_address(state, control))
    carry_out([file], lambda p: plan_install(p, change, create=True), apply=apply)
