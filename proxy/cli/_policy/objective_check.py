"""``onlooker objective check`` and ``objective test``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from policies.objectives import failing, read
from proxy.cli._policy.show import BAD_FILE, FORMATS, exit_code, show


@click.command("check")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How the answer is printed."
)
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
def COMMAND(files: tuple[Path, ...], form: str, strict: bool) -> None:  # noqa: N802 - click names it
    """Check objective files: every mistake of a file in one run."""
    found = [d for file in files for d in read(file)[1]]
    show(found, form)
    if form == "text" and not found:
        click.echo(f"{len(files)} ok")
    sys.exit(exit_code(found, strict=strict))


@click.command("test")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
def TEST(files: tuple[Path, ...]) -> None:  # noqa: N802 - beside COMMAND
    """Run the tests written inside objectives. Exit 1 when an expectation fails, 3 when a file is wrong."""
    failures = ran = 0
    for file in files:
        objective, found = read(file)
        errors = [d for d in found if d.level == "error"]
        if objective is None or errors:
            show(errors, "text")
            sys.exit(BAD_FILE)
        bad = failing(objective)
        for failure in bad:
            click.echo(str(failure))
        failures, ran = failures + len(bad), ran + len(objective.tests)
    click.echo(f"{ran - failures} passed, {failures} failed")
    sys.exit(1 if failures else 0)
