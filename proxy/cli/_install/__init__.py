"""``install`` and ``uninstall`` share what they show, and what their exit codes mean.

Exit 0 nothing to change or it was written, 1 there is something to change and ``--apply`` was not given, 3 a file
cannot be changed safely (it is left alone; the others are handled).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import click

from proxy.cli._options import fail
from proxy.install import ConfigFileError, Plan, backup_of, write
from proxy.install.service import MANAGERS, default_manager

apply_option = click.option("--apply", "apply", is_flag=True, help="Write it; without this it is only shown.")
home_option = click.option(
    "--home", type=click.Path(path_type=Path, file_okay=False), help="Whose configurations (default: yours)."
)
control_option = click.option(
    "--control", metavar="HOST:PORT", help="Control plane (default: the running one, or 127.0.0.1:8791)."
)
manager_option = click.option(
    "--manager",
    type=click.Choice(list(MANAGERS)),
    default=default_manager,
    help="Who runs it (default: this system's).",
)


def whose(home: Path | None) -> tuple[Path, Mapping[str, str]]:
    """The home whose configurations are meant, and the variables that may move them: ours say nothing of another's."""
    return (Path.home(), os.environ) if home is None else (home, {})


def carry_out(files: Iterable[Path], plan: Callable[[Path], Plan | None], *, apply: bool) -> None:
    changes, bad, seen = 0, 0, 0
    for path in files:
        seen += 1
        try:
            found = plan(path)
            if found is None:
                click.echo(f"{path}: nothing to change")
                continue
            changes += 1
            click.echo("\n".join((f"{path}:", *found.lines)))
            if apply:
                write(found)
                click.echo(_written(found))
        except (ConfigFileError, OSError) as error:
            bad += 1
            click.echo(f"onlooker: {error}", err=True)
    if not seen:
        click.echo("no configuration file was found")
    if changes and not apply:
        click.echo("nothing was written; --apply writes it")
    sys.exit(3 if bad else 1 if changes and not apply else 0)


def _written(plan: Plan) -> str:
    if plan.ends_backup:
        return "written" if plan.after is not None else "removed"
    return "written; there was no such file" if plan.before is None else f"written; before: {backup_of(plan.path)}"


def control_address(state: str | None, given: str | None) -> str:
    """The one given, the running instance's, or the default."""
    from proxy.cli._options import configuration  # noqa: PLC0415 - the state is only looked at by one of the two
    from proxy.config_values import WrongValueError, address  # noqa: PLC0415
    from proxy.control.counters import running  # noqa: PLC0415

    config = configuration(None, {"state": state})
    try:
        return address(given or running(Path(config.state)).get("control") or config.control)
    except WrongValueError as error:
        fail(f"--control: {error}", 2)
