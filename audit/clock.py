"""The two clocks a record carries, and the boot they belong to. A test hands in its own."""

from __future__ import annotations

import time
import uuid
from datetime import UTC, datetime
from pathlib import Path


class Clock:
    def wall_ns(self) -> int:
        return time.time_ns()

    def mono_ns(self) -> int:
        return time.monotonic_ns()


def stamp(wall_ns: int) -> str:
    """RFC 3339 with milliseconds, UTC."""
    seconds, rest = divmod(wall_ns, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest // 1_000_000:03d}Z"


def boot_id() -> str:
    """The kernel's, else one for the life of this process."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return str(uuid.uuid4())
