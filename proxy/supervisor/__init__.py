"""Keeps the parts running: owns the listening sockets, starts relays, analyzer and control, restarts what dies.

``run(config)`` returns the exit code after SIGTERM or SIGINT (0; 4 when not all that was captured could be recorded and
the spool keeps the rest for the next start), or at once: 3 when an address or directory cannot be
used, 4 when another supervisor already runs on this state. Keys of ``config`` (JSON-safe; the first four are needed):

  state           directory, 0700: pids.json, running.json, supervisor.lock
  spool_dir       this instance's spool root, on a memory-backed filesystem
  listen          "127.0.0.1:8790" or a list of them: the data listeners; port 0 picks a free one
  routes          {name: {"url": …, "ca": file?, "agui": true?}}; "/" is the root route
  control_listen  "127.0.0.1:8791": bound here, handed to the control process as descriptor $ONLOOKER_CONTROL_FD
  spool_cap       bytes (268435456)
  workers         number of relays (1)
  commands        {"analyzer": argv, "control": argv}; a part without a command is not run
  key_file        the fingerprint key (<state>/keys/fingerprint.key)
  drain_s         how long SIGTERM lets exchanges finish (30)
  starter         true: whoever started it holds the other end of its standard input; it drains when that is closed
  loop            "uvloop", "asyncio" or "auto"

Written: ``<state>/pids.json`` {supervisor, relays, analyzer, control}; ``<state>/running.json`` {listen, control,
counters, restarts, spool_dir, state}, with the ports really bound. Both 0600, replaced atomically. SIGHUP is passed
on to the analyzer and control.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from proxy.memory import clear_memory
from proxy.supervisor.errors import StartError
from proxy.supervisor.state import Running
from proxy.supervisor.supervisor import Supervisor

__all__ = ["run"]


def run(config: dict[str, Any], on_ready: Callable[[Running], None] = lambda _running: None) -> int:
    """Supervise until told to stop. ``on_ready`` is called once, when every relay accepts and the parts are started."""
    try:
        supervisor = Supervisor(config)
    except StartError as error:
        sys.stderr.write(f"onlooker: {error}\n")
        return error.code
    code = supervisor.run(on_ready)
    if supervisor.abandoned and code == 0:  # nobody is left to do it
        clear_memory(config["spool_dir"])
    return code
