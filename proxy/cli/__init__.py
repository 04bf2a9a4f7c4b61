"""The ``onlooker`` command. Each subcommand is one file here exposing ``COMMAND`` (a click command or group).

Only the module of the command asked for is imported, so ``onlooker classify`` does not pay for the rest.
Exit codes: 0 ok, 1 findings or differences, 2 usage, 3 bad file or unproven, 4 broken or not running,
125 our own failure; 130 ended by Ctrl-C.
"""

from __future__ import annotations

import errno
import importlib
import os
import pkgutil
import signal
import sys
from importlib.metadata import version
from typing import Any

import click


class Folder(click.Group):
    """A group whose subcommands are the modules of this folder (underscores become dashes)."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        names = (m.name for m in pkgutil.iter_modules(__path__))
        return sorted(n.replace("_", "-") for n in names if not n.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = importlib.import_module(f"{__name__}.{cmd_name.replace('-', '_')}").COMMAND
        assert isinstance(command, click.Command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Ctrl-C ends a command as a shell would say it (130), not with click's 1, which means findings here.

        A full disk or a folder nobody may read can meet any command anywhere: one sentence, and exit 3.
        """
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(128 + signal.SIGINT)
        except OSError as error:
            if error.errno == errno.EPIPE:  # a reader that went away is click's to end
                raise
            where = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
            click.echo(f"onlooker: {where}{error.strerror or str(error) or type(error).__name__}", err=True)
            sys.exit(3)


@click.command(cls=Folder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("onlooker"), prog_name="onlooker")
def cli() -> None:
    """See every tool call that crosses the hops you point at it, and what it could do."""
