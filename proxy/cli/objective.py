"""``onlooker objective``: write, check, test and show objectives, or draft one from observed traffic."""

from __future__ import annotations

import importlib

import click

_COMMANDS = {
    "check": "objective_check",
    "new": "objective_new",
    "show": "objective_show",
    "suggest": "suggest_",
    "test": "objective_check",
}


class _Group(click.Group):
    """Each subcommand is in a module of ``proxy.cli._policy``, imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        module = importlib.import_module(f"proxy.cli._policy.{_COMMANDS[cmd_name]}")
        command = getattr(module, "TEST" if cmd_name == "test" else "COMMAND")
        assert isinstance(command, click.Command)
        return command


@click.command(cls=_Group)
def COMMAND() -> None:  # noqa: N802 - click names it
    """Say what was asked, and what may be done for it. Verdicts come from the scope, never from the words."""
