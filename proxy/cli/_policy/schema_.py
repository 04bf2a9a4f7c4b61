"""``onlooker policy schema``: the JSON Schema editors complete policy and objective files from."""

from __future__ import annotations

import json

import click

from policies.schema import objective_schema, policy_schema


@click.command("schema")
@click.option("--objective", is_flag=True, help="Of objective files.")
def COMMAND(objective: bool) -> None:  # noqa: N802 - click names it
    """Print it; name it in a file's first line: # yaml-language-server: $schema=./policy.schema.json"""
    click.echo(json.dumps(objective_schema() if objective else policy_schema(), indent=2, ensure_ascii=False))
