"""The clock a reading is held to: processor time of this thread without the collection of garbage.

In: nothing. Out: seconds. A collection takes tens of milliseconds in a process with much loaded, whatever call happens
to trigger it; counted in, it would make a small program "too long to read".
"""

from __future__ import annotations

import gc
import threading
import time
from typing import Any


class _Collected(threading.local):
    """Seconds this thread has spent in collections."""

    total = 0.0
    since = 0.0


_COLLECTED = _Collected()


def spent() -> float:
    return time.thread_time() - _COLLECTED.total


def _count(phase: str, _info: dict[str, Any]) -> None:
    now = time.thread_time()
    if phase == "start":
        _COLLECTED.since = now
    else:
        _COLLECTED.total += now - _COLLECTED.since


gc.callbacks.append(_count)
