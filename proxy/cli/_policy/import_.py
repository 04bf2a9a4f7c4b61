"""``onlooker policy import``: permissions of a coding agent as an objective and a policy."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from classifiers import classify
from classifiers.call import ToolCall
from classifiers.context import Context
from classifiers.effects import Action
from policies.importers import SOURCES
from policies.inline import PATIENT_MS
from proxy.cli._policy.show import BAD_FILE


@click.command("import")
@click.argument("source", type=click.Choice(tuple(SOURCES)))
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--objective", type=click.Path(path_type=Path), metavar="FILE", help="Write the objective here.")
@click.option("--policy", type=click.Path(path_type=Path), metavar="FILE", help="Write the policy here.")
@click.option("--id", "ident", help="Id of both; by default from the source.")
def COMMAND(source: str, file: Path, objective: Path | None, policy: Path | None, ident: str | None) -> None:  # noqa: N802 - click names it
    """Turn FILE (settings.json, config.toml) into a scope and rules; what cannot be carried over is listed."""
    try:
        made = SOURCES[source](file.read_text("utf-8"), _classify)
    except (OSError, ValueError) as error:
        click.echo(f"onlooker: {file}: {error}", err=True)
        sys.exit(BAD_FILE)
    name = ident or f"imported.{source}"
    for kind, text, target in (("objective", made.objective(name), objective), ("policy", made.policy(name), policy)):
        if target is not None:
            target.write_text(text, "utf-8")
            click.echo(f"wrote {target}")
        elif objective is None and policy is None:
            click.echo(f"# --- {kind}.yaml\n{text}")
    for lost in made.lost:
        click.echo(f"not carried over: {lost}", err=True)


def _classify(command: str) -> Action:
    return classify(ToolCall("Bash", {"command": command}, arguments_valid=True), Context(max_ms=PATIENT_MS))
