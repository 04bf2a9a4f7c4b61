"""What keeps one bad record from taking the analyzer with it: a time cap per stage, and a note of what is in hand.

In: a stage to run and the place in the capture it works on. Out: its value, or ``StageFailed`` with the stage's name.
The note lives in a memory-backed file: after a crash it tells the next life what it died of. Twice at the same place
and that place is quarantined.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TypeVar

import orjson

CRASHES_ALLOWED = 2
STAGE_S = 2.0  # of CPU time, so that neither a busy machine nor a stopped process looks like a slow stage
HANG_S = 20.0  # a loop in C code hears no signal: the process leaves and the supervisor starts another

T = TypeVar("T")


class StageFailedError(Exception):
    """Stage ``stage`` raised or ran out of time. ``error`` is short and has no content of the call."""

    def __init__(self, stage: str, error: str) -> None:
        super().__init__(f"{stage}: {error}")
        self.stage, self.error = stage, error


class _OutOfTimeError(BaseException):
    """Not an Exception: a stage's own ``except Exception`` must not swallow it."""


class Guard:
    """``path`` holds what is in hand and how often each place crashed. Signals only work in the main thread."""

    def __init__(self, path: Path, stage_s: float = STAGE_S) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._stage_s = stage_s
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.crashes = self._read_crashes()
        self._in_hand = ""
        self._timed = threading.current_thread() is threading.main_thread()
        if self._timed:
            signal.signal(signal.SIGPROF, self._ring)

    def quarantined(self, place: str) -> bool:
        return self.crashes.get(place, 0) >= CRASHES_ALLOWED

    @contextlib.contextmanager
    def holding(self, place: str) -> Iterator[None]:
        """``place`` is being worked on: if the process dies in here, the next life counts a crash for it."""
        self._note(place)
        yield
        self._note("")

    def run(self, stage: str, work: Callable[[], T]) -> T:
        """The stage's value. Raises StageFailedError, whatever went wrong."""
        if self._timed:
            signal.setitimer(signal.ITIMER_PROF, self._stage_s)
        try:
            return work()
        except _OutOfTimeError:
            raise StageFailedError(stage, f"took more than {self._stage_s:g} s of CPU") from None
        except (Exception, RecursionError) as error:
            raise StageFailedError(stage, f"{type(error).__name__}") from error
        finally:
            if self._timed:
                signal.setitimer(signal.ITIMER_PROF, 0)

    def forget(self, place: str) -> None:
        """The place is dealt with."""
        if self.crashes.pop(place, None) is not None:
            self._write()

    def close(self) -> None:
        os.close(self._fd)

    def _note(self, place: str) -> None:
        self._in_hand = place
        data = place.encode()[:200].ljust(200, b"\0")
        os.pwrite(self._fd, data, 0)

    def _read_crashes(self) -> dict[str, int]:
        raw = os.pread(self._fd, 1 << 20, 0)
        place = raw[:200].rstrip(b"\0").decode("utf-8", "replace")
        try:
            crashes = {str(k): int(v) for k, v in orjson.loads(raw[200:]).items()} if len(raw) > 200 else {}
        except (ValueError, AttributeError):
            crashes = {}
        if place:
            crashes[place] = crashes.get(place, 0) + 1
        self.crashes, self._in_hand = dict(list(crashes.items())[-100:]), ""
        self._write()
        return self.crashes

    def _write(self) -> None:
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, self._in_hand.encode()[:200].ljust(200, b"\0") + orjson.dumps(self.crashes), 0)

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        raise _OutOfTimeError


def still_alive(seconds: float = HANG_S) -> None:
    """A wait that is meant (for a full disk) starts the watchdog's time anew."""
    faulthandler.dump_traceback_later(seconds, exit=True)


@contextlib.contextmanager
def leaves_when_stuck(seconds: float = HANG_S) -> Iterator[None]:
    """End the whole process if the body hangs where no signal is heard (a C loop)."""
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
