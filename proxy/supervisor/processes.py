"""Processes the supervisor is no parent of, or knows only by pid, as /proc shows them.

In: a pid. Out: whether it is a relay of ours, whether it handles a signal; ``dismiss`` ends one that was left over.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

LEFTOVER_S = 5.0  # how long a part of a killed supervisor may take to leave


def catches(pid: int | None, number: int) -> bool:
    """Whether the process handles the signal; True where that cannot be seen."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return not Path("/proc/self/status").exists()
    return bool(int(text.partition("SigCgt:")[2].split()[0], 16) >> (number - 1) & 1)


def is_relay(pid: int) -> bool:
    """Whether the process was started as a relay."""
    return b"proxy.relay" in _command_line(pid)


def dismiss(pid: int, argv: Sequence[str]) -> None:
    """End a process left over from a killed supervisor, if it is still the one that was started."""
    command = b"\0".join(os.fsencode(a) for a in argv) + b"\0"
    until = time.monotonic() + LEFTOVER_S
    number = signal.SIGTERM
    while _command_line(pid) == command:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        if time.monotonic() > until:
            number = signal.SIGKILL
        time.sleep(0.05)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
