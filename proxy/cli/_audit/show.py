"""``audit show SESSION``: the timeline of one session."""

from __future__ import annotations

from pathlib import Path

import click

from audit.read import session
from proxy.cli._audit._show import errors, fail, json_option, place, show, state_option


@click.command("show")
@click.argument("session_id", metavar="SESSION")
@state_option
@json_option
def COMMAND(session_id: str, state: Path, as_json: bool) -> None:  # noqa: N802 - see cli
    """Everything of one session, in order."""
    with errors():
        found = session(place(state), session_id)
        if not found:
            fail(f"no record of session {session_id}; 'onlooker audit sessions' lists them", 3)
        show(found, as_json=as_json)
