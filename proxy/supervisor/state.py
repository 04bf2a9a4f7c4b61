"""The supervisor's files in the state directory: ``supervisor.lock``, ``pids.json`` and ``running.json``.

In: the directory and what runs. Out: files, 0600, replaced atomically; and what a killed supervisor left in them.
A disk that takes nothing is said on standard error: it is no reason to stop serving.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from proxy.supervisor.errors import StartError

PIDS, RUNNING = "pids.json", "running.json"


@dataclass(frozen=True, slots=True)
class Running:
    """What runs where, as written to running.json."""

    listen: list[str]
    control: str | None
    counters: str
    state: str
    spool_dir: str
    restarts: dict[str, int]
    forward: list[str] = field(default_factory=list)
    transparent: list[str] = field(default_factory=list)


def lock(state: Path) -> int:
    """The descriptor that holds the state for one supervisor. Raises StartError when another has it."""
    fd = os.open(state / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise StartError(f"{state}: another onlooker runs on this state", 4) from None
    return fd


def left_pids(state: Path) -> dict[str, Any]:
    """What a killed supervisor left in ``pids.json``; empty when it left none, or none that can be read."""
    try:
        left: dict[str, Any] = json.loads((state / PIDS).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return left


def write(state: Path, running: Running, pids: dict[str, Any]) -> None:
    """Say what runs where."""
    _replace(state / RUNNING, asdict(running))
    _replace(state / PIDS, pids)


def remove(state: Path) -> None:
    """A disk that became read-only keeps the files; who reads them finds that nothing runs there."""
    for path in (state / PIDS, state / RUNNING):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            say(f"onlooker: {path}: {error.strerror}\n")


def say(text: str) -> None:
    """To standard error; that may be a file on the very disk that failed."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)


def _replace(path: Path, value: object) -> None:
    """Write JSON so that a reader sees the old or the new, never half. A full disk is no reason to stop serving."""
    beside = path.with_suffix(".new")
    try:
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            json.dump(value, out)
        beside.replace(path)
    except OSError as error:
        say(f"onlooker: {path}: {error.strerror}\n")
