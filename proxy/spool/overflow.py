"""A spool that fills because its reader lags is emptied to disk: whole segments, by a thread of the reader's process.

In: the spool's root, a directory on disk, both caps. Out: segments below ``<directory>/<writer>/``, 0600, which
``SpoolTail`` finds there. No relay ever waits for it: what the disk does not take (full, read-only, frozen) stays in
memory, and what then does not fit there is a declared gap as before. Only closed segments move, the newest first: the
reader comes to them last.
"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

from proxy.spool.segments import numbers, segment_name, size_of

FROM = 1 / 2  # of the spool's cap: above it segments move
TIMES = 16  # as much may lie on disk as this many spools
FREE_BYTES = 1 << 30  # left free on that disk
LOOK_S = 0.05
RETRY_S = 1.0  # after a disk refused
_PIECE_BYTES = 8 << 20  # a whole segment: beside a busy reader each further piece waits for its turn


class Overflow:
    """``step`` moves one segment if one has to; ``start`` does so from a thread until ``close``."""

    def __init__(self, root: Path, to: Path, cap_bytes: int, free_bytes: int = FREE_BYTES) -> None:
        self._root, self._to, self._cap, self._free = root, to, cap_bytes, free_bytes
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="spool-overflow", daemon=True)
        self.moved = 0  # segments so far
        self.error: str | None = None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """A frozen disk may hold the thread: it is not waited for long."""
        self._stop.set()
        self._thread.join(RETRY_S)

    def step(self) -> bool:
        """Whether a segment was moved. OSError when the disk refuses."""
        if _bytes_in(self._root) <= self._cap * FROM or _bytes_in(self._to) >= self._cap * TIMES:
            return False
        found = self._candidate()
        if found is None:
            return False
        return self._move(*found)

    def _run(self) -> None:
        while not self._stop.wait(RETRY_S if self.error else LOOK_S):
            try:
                while self.step() and not self._stop.is_set():
                    pass
                self.error = None
            except OSError as error:
                self.error = f"{self._to}: {error.strerror}"

    def _candidate(self) -> tuple[str, int] | None:
        """The newest closed segment, but the oldest of a writer: that one is being read."""
        closed = [(d.name, number) for d in _writers(self._root) for number in numbers(d)[1:-1]]
        return max(closed, key=lambda one: one[1], default=None)

    def _move(self, writer: str, number: int) -> bool:
        source, folder = self._root / writer / segment_name(number), self._to / writer
        self._to.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        disk = os.statvfs(folder)
        if disk.f_bavail * disk.f_frsize < self._free:
            raise OSError(0, "too little room left on this disk")
        draft = folder / f".{segment_name(number)}"
        try:
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            with source.open("rb") as read, os.fdopen(fd, "wb") as write:
                shutil.copyfileobj(read, write, _PIECE_BYTES)
            draft.replace(folder / segment_name(number))
            source.unlink()
        except FileNotFoundError:  # read and let go of meanwhile
            (folder / segment_name(number)).unlink(missing_ok=True)
            draft.unlink(missing_ok=True)
            return True
        except OSError:
            draft.unlink(missing_ok=True)
            raise
        self.moved += 1
        return True


def _writers(root: Path) -> list[Path]:
    try:
        return [Path(e.path) for e in os.scandir(root) if e.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def _bytes_in(root: Path) -> int:
    return sum(size_of(d / segment_name(n)) for d in _writers(root) for n in numbers(d))
