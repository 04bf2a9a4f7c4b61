"""``onlooker uninstall …``: what ``install`` put in is taken out again; ``--apply`` writes it.

In: the files found. Out: the file as it was, byte for byte, when nobody changed it since; else only our part is gone.
"""

from __future__ import annotations

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
from proxy.install import claude_code, command_hooks, mcp, opencode, plan_uninstall, service
from proxy.install.own_file import plan_remove


@click.group("uninstall")
def COMMAND() -> None:  # noqa: N802 - the name discovery looks for
    """Take out what install put into clients' configuration files."""


@COMMAND.command("mcp")
@apply_option
@home_option
@state_option
def uninstall_mcp(home: Path | None, state: str | None, *, apply: bool) -> None:
    """Take `onlooker mcp` away from in front of each stdio server."""
    put_in = mcp.Wrap(mcp.watcher(str(Path(state).absolute()) if state else None))
    carry_out(mcp.files(home or Path.home(), Path.cwd()), lambda p: plan_uninstall(p, put_in, mcp.unwrap), apply=apply)


@COMMAND.command("claude-code")
@apply_option
@home_option
@state_option
@control_option
def uninstall_claude_code(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Take the http hook out of Claude Code's settings."""
    file = claude_code.settings_file(*whose(home))
    put_in = claude_code.PutIn(control_address(state, control))
    carry_out([file], lambda p: plan_uninstall(p, put_in, claude_code.take_out), apply=apply)


@COMMAND.command("codex")
@apply_option
@home_option
@state_option
@control_option
def uninstall_codex(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Take the command hook out of Codex's hooks.json."""
    _command_hooks(command_hooks.CODEX, home, control_address(state, control), apply=apply)


@COMMAND.command("gemini")
@apply_option
@home_option
@state_option
@control_option
def uninstall_gemini(home: Path | None, state: str | None, control: str | None, *, apply: bool) -> None:
    """Take the command hook out of Gemini CLI's settings."""
    _command_hooks(command_hooks.GEMINI, home, control_address(state, control), apply=apply)


@COMMAND.command("opencode")
@apply_option
@home_option
def uninstall_opencode(home: Path | None, *, apply: bool) -> None:
    """Take the plugin out of OpenCode's plugin folder."""
    file = opencode.plugin_file(*whose(home))
    carry_out([file], lambda p: plan_remove(p, opencode.MARK, "plugin of onlooker"), apply=apply)


@COMMAND.command("service")
@apply_option
@home_option
@manager_option
def uninstall_service(home: Path | None, manager: str, *, apply: bool) -> None:
    """Take the service's file away; stop it first."""
    chosen = service.MANAGERS[manager]
    file = chosen.place(*whose(home))
    carry_out([file], lambda p: plan_remove(p, service.MARK, f"service; stop it first: {chosen.stop}"), apply=apply)


def _command_hooks(client: command_hooks.Client, home: Path | None, control: str, *, apply: bool) -> None:
    file = client.path(*whose(home))
    put_in, take_out = command_hooks.PutIn(client, control), command_hooks.TakeOut(client)
    carry_out([file], lambda p: plan_uninstall(p, put_in, take_out), apply=apply)
