"""``onlooker policy docs``: the vocabulary, or the rules of a policy, as Markdown."""

from __future__ import annotations

import sys
from datetime import UTC, datetime

import click

from policies.docs import rules, vocabulary
from policies.source import gather
from proxy.cli._policy.show import BAD_FILE, show


@click.command("docs")
@click.argument("file", required=False)
def COMMAND(file: str | None) -> None:  # noqa: N802 - click names it
    """Without FILE: every field a rule may name. With FILE: its rules."""
    if file is None:
        click.echo(vocabulary(), nl=False)
        return
    made = gather(file, datetime.now(UTC))
    if made.policy is None:
        show(made.errors, "text")
        sys.exit(BAD_FILE)
    click.echo(rules(made.policy), nl=False)
