"""``onlooker install mcp|claude-code|codex|gemini|opencode``: what would change in clients' own configurations.

In: the files found. Out: the changes; with ``--apply`` they are written, a backup beside each file.
"""

from __future__ import annotations

import os
from pathlib import Path

import click

from proxy.cli._install import apply_option, carry_out, control_address, control_option, home_option
from proxy.cli._options import state_option
from proxy.install import claude_code, command_hooks, mcp, opencode, plan_install


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
@control_option
def install_claude_code(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Put the http hook into Claude Code's settings."""
    file = claude_code.settings_file(home or Path.home(), {} if home else os.environ)
    change = claude_code.PutIn(control_address(state, control))
    carry_out([file], lambda p: plan_install(p, change, create=True), apply=apply)


@COMMAND.command("codex")
@apply_option
@home_option
@state_option
@control_option
def install_codex(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Put a command hook into Codex's hooks.json; Codex asks once whether to trust it."""
    _command_hooks(command_hooks.CODEX, home, control_address(state, control), apply=apply)


@COMMAND.command("gemini")
@apply_option
@home_option
@state_option
@control_option
def install_gemini(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Put a command hook into Gemini CLI's settings."""
    _command_hooks(command_hooks.GEMINI, home, control_address(state, control), apply=apply)


@COMMAND.command("opencode")
@apply_option
@home_option
@state_option
@control_option
def install_opencode(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Put a plugin into OpenCode's plugin folder."""
    address = control_address(state, control)
    file = opencode.plugin_file(home or Path.home(), {} if home else os.environ)
    carry_out([file], lambda p: opencode.plan_install(p, address), apply=apply)


def _command_hooks(client: command_hooks.Client, home: Path | None, control: str, *, apply: bool) -> None:
    file = client.path(home or Path.home(), {} if home else os.environ)
    put_in = command_hooks.PutIn(client, control)
    carry_out([file], lambda p: plan_install(p, put_in, create=True), apply=apply)
