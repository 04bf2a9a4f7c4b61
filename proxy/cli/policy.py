"""``onlooker policy``: check, test, explain, replay, suggest, import, and the schema, format and docs of policies."""

from __future__ import annotations

import importlib

import click

_COMMANDS = ("check", "docs", "explain", "fmt", "import", "replay", "schema", "sign", "suggest", "test")


class _Group(click.Group):
    """Each subcommand is a module of ``proxy.cli._policy``, imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        if cmd_name not in _COMMANDS:
            return None
        command = importlib.import_module(f"proxy.cli._policy.{cmd_name}_").COMMAND
        assert isinstance(command, click.Command)
        return command


@click.command(cls=_Group)
def COMMAND() -> None:  # noqa: N802 - click names it
    """Write, check, test and replay policies. Policies only flag; nothing is ever stopped."""
