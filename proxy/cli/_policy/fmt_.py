"""``onlooker policy fmt``: line ends, trailing blanks, empty lines and the schema line of policy files."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from classifiers.strict_yaml import StrictYamlError
from policies.layout import tidy
from proxy.cli._policy.show import BAD_FILE


@click.command("fmt")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE…")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 when a file would change.")
@click.option("--schema", metavar="PATH", help="Add the editors' schema line for this path.")
def COMMAND(files: tuple[Path, ...], check: bool, schema: str | None) -> None:  # noqa: N802 - click names it
    """Tidy files in place. What they say is never changed."""
    changed = 0
    for file in files:
        try:
            before = file.read_bytes().decode("utf-8")
            after = tidy(before, str(file), schema)
        except (OSError, UnicodeDecodeError, StrictYamlError, ValueError) as error:
            click.echo(str(error), err=True)
            sys.exit(BAD_FILE)
        if after != before:
            changed += 1
            click.echo(f"{'would change' if check else 'changed'} {file}")
            if not check:
                file.write_text(after, "utf-8")
    sys.exit(1 if check and changed else 0)
