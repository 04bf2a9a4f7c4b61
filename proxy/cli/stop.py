"""``onlooker stop``: drain the instance of a state and wait until it is gone.

In: ``--state``. Out: exit 0 when it ended, 4 when nothing ran or it did not end in time.
"""

from __future__ import annotations

import os
import signal
import time

import click

from proxy.cli._options import configuration, fail, state_option
from proxy.status import alive, read_pids

LONGEST_S = 75.0


@click.command("stop")
@state_option
def COMMAND(state: str | None) -> None:  # noqa: N802 - the name discovery looks for
    """Stop what runs with this state: no new connections, running exchanges finish, the log is signed."""
    config = configuration(None, {"state": state})
    pid = read_pids(config.pids_file).get("supervisor")
    if not isinstance(pid, int) or not alive(pid):
        fail(f"nothing runs with the state {config.state}", 4)
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + LONGEST_S
    while alive(pid):
        if time.monotonic() > until:
            fail(f"process {pid} did not end within {LONGEST_S:g} s", 4)
        time.sleep(0.05)
    click.echo("stopped")
