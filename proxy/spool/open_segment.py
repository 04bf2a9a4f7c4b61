"""The segment a writer appends to: whole writes or none, within the spool's cap.

In: the parts of one tick. Out: bytes in a segment file, 0600, or why they are not there. It never raises.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from proxy.spool import format as fmt
from proxy.spool.segments import segment_name, size_of


class OpenSegment:
    """``fd``: -1 when there is none, ``broken`` says why. ``size`` and ``others`` are bytes: of this segment, and of
    all other segments of all writers when last looked. Not open before the first ``roll``."""

    __slots__ = ("_cap_bytes", "_directory", "_number", "_root", "_write", "broken", "fd", "others", "size")

    def __init__(
        self, root: Path, directory: Path, cap_bytes: int, write: Callable[[int, Sequence[bytes | bytearray]], int]
    ) -> None:
        self._root, self._directory, self._cap_bytes, self._write = root, directory, cap_bytes, write
        self._number = 0
        self.fd = -1
        self.size = self.others = 0
        self.broken = ""

    def append(self, parts: Sequence[bytes | bytearray], size: int) -> str:
        """Write all ``size`` bytes of it or none; "" or why not."""
        if self.fd < 0:
            return self.broken
        if self.others + self.size + size > self._cap_bytes:
            return "spool_full"
        try:
            wrote = self._write(self.fd, parts)
        except OSError as error:
            return f"spool_write_failed: {error.strerror}"
        if wrote != size:
            try:
                os.ftruncate(self.fd, self.size)
            except OSError:
                self.roll()  # the torn tail stays behind in a segment nobody continues
            return "spool_write_short"
        self.size += wrote
        return ""

    def roll(self) -> str:
        """Begin the next segment; "" or why there is none."""
        self.close()
        self._number += 1
        path = self._directory / segment_name(self._number)
        self.size = 0
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
            header = fmt.SEGMENT.pack(fmt.MAGIC, fmt.VERSION, 0, self._number, time.time_ns(), time.monotonic_ns())
            if os.write(fd, header) != len(header):
                os.close(fd)
                raise OSError(0, "short segment header")  # noqa: TRY301 - same answer as any failed write
        except OSError as error:
            self.broken = f"spool_write_failed: {error.strerror}"
            return self.broken
        self.fd, self.size = fd, len(header)
        self.count_others()
        return ""

    def count_others(self) -> None:
        mine = self._directory / segment_name(self._number)
        self.others = sum(size_of(p) for p in self._root.glob("*/seg-*") if p != mine)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
