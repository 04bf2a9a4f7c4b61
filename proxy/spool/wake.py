"""Wakes the analyzer without polling: one shared byte says it sleeps, a FIFO rouses it.

A writer pays one memory read per tick; the FIFO is written only when the byte says somebody sleeps. The sleeper sets
the byte, looks once more for work, then waits: an entry written in between is seen either way.
"""

from __future__ import annotations

import mmap
import os
import select
from pathlib import Path

_PAGE_BYTES = 4096


class Wake:
    """Both ends open the same two files of the spool's root directory."""

    def __init__(self, root: Path) -> None:
        fifo = root / "wake"
        try:
            os.mkfifo(fifo, 0o600)
        except FileExistsError:
            pass
        self._fd = os.open(fifo, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        page = os.open(root / "wake.page", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.ftruncate(page, _PAGE_BYTES)
            self._page = mmap.mmap(page, _PAGE_BYTES)
        finally:
            os.close(page)

    def fileno(self) -> int:
        """Readable when there may be work, for callers with a loop of their own (see ``doze``)."""
        return self._fd

    def ring(self) -> None:
        """The writer's side: rouse a sleeper, if any."""
        if self._page[0]:
            self._page[0] = 0
            try:
                os.write(self._fd, b"\1")
            except BlockingIOError:
                pass  # 64 KiB of unread bells: it will wake

    def doze(self) -> None:
        """Announce sleep. Look for work once more after this, then wait on ``fileno``."""
        self._page[0] = 1

    def wait(self, timeout_s: float) -> bool:
        """Sleep until rung or timed out; True when rung. Call ``doze`` and look for work first."""
        ready, _, _ = select.select([self._fd], [], [], timeout_s)
        self.rouse()
        return bool(ready)

    def rouse(self) -> None:
        """Back to work: no more bells wanted, those that rang are forgotten."""
        self._page[0] = 0
        try:
            while os.read(self._fd, 4096):
                pass
        except BlockingIOError:
            pass

    def close(self) -> None:
        self._page.close()
        os.close(self._fd)
