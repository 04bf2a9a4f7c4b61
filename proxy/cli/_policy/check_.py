"""``onlooker policy check``: every mistake of a file in one run, with line, column and what was probably meant."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from policies.source import check_text, gather
from proxy.cli._policy.show import FORMATS, exit_code, show


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How the answer is printed."
)
@click.option("--strict", is_flag=True, help="Exit 1 on warnings too.")
def COMMAND(files: tuple[str, ...], form: str, strict: bool) -> None:  # noqa: N802 - click names it
    """Check policy files, folders of rules, or onlooker:starter. A dash reads standard input."""
    now = datetime.now(UTC)
    found = []
    for file in files:
        found += (check_text(sys.stdin.read(), "-", now) if file == "-" else gather(file, now)).found
    show(found, form)
    if form == "text" and not found:
        click.echo(f"{len(files)} ok")
    sys.exit(exit_code(found, strict=strict))
