"""The analyzer's word on how it is doing, for the control process and the command line.

In: plain values. Out: one JSON file beside the spool, replaced whole about twice a second. A file that is not fresh
says that the analyzer is not: silence is never health.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import orjson

FRESH_S = 5.0


def status_file(spool_dir: str) -> Path:
    return Path(spool_dir + ".inbox") / "analyzer.json"


def write_status(path: Path, status: dict[str, Any]) -> None:
    """A full memory file system is no reason to stop: the old word then grows stale, and says so by its time."""
    draft = path.with_suffix(".draft")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(orjson.dumps({**status, "at": time.time(), "mono_s": time.monotonic()}, default=str))
        draft.replace(path)
    except OSError:
        return


def read_status(path: Path) -> dict[str, Any] | None:
    """The last word, or None: never said anything."""
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return value if isinstance(value, dict) else None


def is_fresh(status: dict[str, Any] | None, now_s: float | None = None) -> bool:
    """By the monotonic clock, which all processes of a machine share: setting the wall clock makes nobody silent.

    After a reboot that clock begins anew, so a word from before it is old too: it lies ahead.
    """
    if status is None or not isinstance(said_s := status.get("mono_s"), (int, float)):
        return False
    return abs((time.monotonic() if now_s is None else now_s) - said_s) <= FRESH_S


def alive(pid: Any) -> bool:
    """Whether a process of this id exists and is no zombie."""
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True


def read_pids(path: Path) -> dict[str, Any]:
    """``{supervisor, relays, analyzer, control}`` as the supervisor wrote it, or {} when nothing runs here."""
    try:
        value = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return {}
    return value if isinstance(value, dict) else {}
