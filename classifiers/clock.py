"""The clock a reading is held to: processor time of this thread, less collections of garbage and what loading took.

In: nothing. Out: seconds. A collection takes tens of milliseconds in a process with much loaded, whatever call happens
to trigger it; tables, grammars and parsers are loaded when the first call needs them. Counted in, either would make a
small program "too long to read", and a cold process answer otherwise than a warm one.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

READING = 0.93  # of a budget; the rest is for telling what was read so far


class _Aside(threading.local):
    """Seconds this thread has spent in collections and loading; how deep in ``loading`` it is; since when."""

    total = 0.0
    depth = 0
    since = 0.0


_ASIDE = _Aside()


def spent() -> float:
    """Only differences mean anything."""
    return time.thread_time() - _ASIDE.total


@contextmanager
def loading() -> Iterator[None]:
    """What is done inside is not a reading's time. Nested, it counts once."""
    _ASIDE.depth += 1
    started = time.thread_time()
    try:
        yield
    finally:
        _ASIDE.depth -= 1
        if not _ASIDE.depth:
            _ASIDE.total += time.thread_time() - started


def _count(phase: str, _info: dict[str, Any]) -> None:
    if _ASIDE.depth:  # counted with the loading it happens in
        return
    now = time.thread_time()
    if phase == "start":
        _ASIDE.since = now
    else:
        _ASIDE.total += now - _ASIDE.since


gc.callbacks.append(_count)
