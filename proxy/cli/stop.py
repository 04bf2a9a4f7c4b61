"""``onlooker stop``: drain the instance of a state and wait until it is gone.

In: ``--state``. Out: exit 0 when it ended and all is recorded; 4 when nothing ran, it did not end in time, or captures
wait in the spool because they could not be recorded (a full disk).
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

import click

from proxy.cli._options import configuration, fail, state_option
from proxy.control.counters import running
from proxy.memory import captures_wait, clear_memory
from proxy.settings import Config
from proxy.status import alive, read_pids

LONGEST_S = 75.0


@click.command("stop")
@state_option
def COMMAND(state: str | None) -> None:  # noqa: N802 - the name discovery looks for
    """Stop what runs with this state: no new connections, running exchanges finish, the log is signed."""
    config = configuration(None, {"state": state})
    pid = read_pids(config.pids_file).get("supervisor")
    spool = Path(running(Path(config.state)).get("spool_dir") or config.spool.dir)
    supervised = isinstance(pid, int) and alive(pid)
    if isinstance(pid, int) and supervised:
        _end(pid)
    elif not _end_orphans(config, spool):
        fail(f"nothing runs with the state {config.state}", 4)
    if captures_wait(spool):
        fail(
            "stopped, but not all that was captured could be recorded (a full disk? too little time?): "
            f"the rest waits in {spool}; the next start with this state records it",
            4,
        )
    if not supervised:  # a supervisor does it itself
        clear_memory(str(spool))
    click.echo("stopped" if supervised else "stopped; its supervisor was gone already")


def _end(*pids: int) -> None:
    """SIGTERM and wait; exit 4 when one does not leave."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + LONGEST_S
    while left := [pid for pid in pids if alive(pid)]:
        if time.monotonic() > until:
            fail(f"process {left[0]} did not end within {LONGEST_S:g} s", 4)
        time.sleep(0.05)


def _end_orphans(config: Config, spool: Path) -> bool:
    """The parts of a supervisor that was killed, in the order it would have ended them; False: there are none."""
    pids, found = read_pids(config.pids_file), False
    file = f"@{Path(config.state) / 'config.json'}"
    parts = (
        ("relays", "proxy.relay", str(spool)),
        ("analyzer", "proxy.analyzer", file),
        ("control", "proxy.control", file),
    )
    for role, module, mine in parts:
        said = pids.get(role)
        numbers = [n for n in (said if isinstance(said, list) else [said]) if isinstance(n, int)]
        ours = [n for n in numbers if alive(n) and _is(n, module, mine)]
        found = found or bool(ours)
        _end(*ours)
    return found


def _is(pid: int, module: str, mine: str) -> bool:
    """Whether the process is still the part it was, by its arguments: its number could be another's by now."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return False
    return module in words and any(mine in word for word in words)
