"""``onlooker install mcp|claude-code|codex|gemini|opencode|service``: what would change in clients' own configurations.

In: the files found. Out: the changes; with ``--apply`` they are written, a backup beside each file.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from proxy.cli._install import (
    apply_option,
    carry_out,
    control_address,
    control_option,
    home_option,
    manager_option,
    whose,
)
from proxy.cli._options import state_option
from proxy.install import claude_code, command_hooks, mcp, opencode, plan_install, service
from proxy.install.own_file import plan_put


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
    file = claude_code.settings_file(*whose(home))
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
    file = opencode.plugin_file(*whose(home))
    text = opencode.plugin(address)
    says = f"plugin that posts tool calls to {address}"
    carry_out([file], lambda p: plan_put(p, text, opencode.MARK, says), apply=apply)


@COMMAND.command("service")
@apply_option
@home_option
@state_option
@click.option("--config", "file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="onlooker.yaml")
@manager_option
def install_service(home: Path | None, state: str | None, file: Path | None, manager: str, *, apply: bool) -> None:
    """Write a service of your own user that runs `onlooker serve`; starting it is left to you."""
    chosen = service.MANAGERS[manager]
    words = [*mcp.own_command(), "serve", *(["--config", str(file.resolve())] if file else [])]
    words += ["--state", str(Path(state).expanduser().absolute())] if state else []
    path, text = chosen.place(*whose(home)), chosen.text(words)
    says = f"{shlex.join(words)}\nstart it: {chosen.start.format(file=path)}"
    carry_out([path], lambda p: plan_put(p, text, service.MARK, says), apply=apply)


def _command_hooks(client: command_hooks.Client, home: Path | None, control: str, *, apply: bool) -> None:
    file = client.path(*whose(home))
    put_in = command_hooks.PutIn(client, control)
    carry_out([file], lambda p: plan_install(p, put_in, create=True), apply=apply)
