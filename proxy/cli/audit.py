"""``onlooker audit …``: read, follow, query, report, export, check the log. One file per subcommand in ``_audit``."""

from __future__ import annotations

import importlib
import pkgutil

import click

_FOLDER = "proxy.cli._audit"


class Subcommands(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        found = pkgutil.iter_modules(importlib.import_module(_FOLDER).__path__)
        return sorted(m.name for m in found if not m.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"{_FOLDER}.{cmd_name}").COMMAND
        assert isinstance(command, click.Command)
        return command


@click.command(cls=Subcommands)
def COMMAND() -> None:  # noqa: N802 - the name the folder walk looks for
    """Read, follow, query, report, export and verify the audit log."""
