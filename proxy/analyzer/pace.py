"""When the analyzer's state is saved: seldom in quiet times, at once when what was read holds the room relays need.

In: the time, how much was read since the last save, what saves cost. Out: whether one is due. Only a save lets go of
spool segments: a capture that is read and kept counts against the spool's cap like one nobody has read.
"""

from __future__ import annotations

from dataclasses import dataclass

SAVE_S = 1.0
SHARE = 50  # saving takes at most a 50th of the time,
PRESSED_SHARE = 8  # or an 8th while what was read and not let go of
PRESSED_PART = 8  # is an 8th of the spool


@dataclass(slots=True)
class Pace:
    cap_bytes: int
    _began: float = 0.0
    _took: float = 0.0

    def due(self, now: float, read_bytes: int) -> bool:
        since = now - self._began
        if read_bytes > self.cap_bytes // PRESSED_PART:
            return since >= PRESSED_SHARE * self._took
        return since >= max(SAVE_S, SHARE * self._took)

    def saved(self, began: float, ended: float) -> None:
        self._began, self._took = began, ended - began
