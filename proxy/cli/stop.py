"""``onlooker stop``: drain the instance of a state and wait until it is gone.

In: ``--state``. Out: exit 0 when it ended and all is recorded; 4 when nothing ran, it did not end in time, or captures
wait in the spool because they could not be recorded (a full disk).
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import click

from proxy.cli._options import configuration, fail, state_option
from proxy.control.counters import running
from proxy.memory import captures_wait
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
    spool = Path(running(Path(config.state)).get("spool_dir") or config.spool.dir)
    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + LONGEST_S
    while alive(pid):
        if time.monotonic() > until:
            fail(f"process {pid} did not end within {LONGEST_S:g} s", 4)
        time.sleep(0.05)
    if captures_wait(spool):
        fail(
            "stopped, but not all that was captured could be recorded (a full disk? too little time?): "
            f"the rest waits in {spool}; the next start with this state records it",
            4,
        )
    click.echo("stopped")
