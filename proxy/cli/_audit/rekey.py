"""``audit rekey``: a new key for placeholders, pseudonyms and fingerprints; the old ones stay for matching."""

from __future__ import annotations

from pathlib import Path

import click

from audit.keys import rotate_token_keys
from audit.state import State
from proxy.cli._audit._show import errors, place, state_option


@click.command("rekey")
@state_option
def COMMAND(state: Path) -> None:  # noqa: N802 - see cli
    """Make a new redaction key. It counts from the next start; the same secret then has another placeholder."""
    with errors():
        keys = rotate_token_keys(State(place(state)).token_key_file)
    click.echo(f"key {keys.current} is current from the next start; kept for matching: {len(keys.keys) - 1}")
