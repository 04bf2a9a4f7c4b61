"""One writer's directory, followed from a saved position: segments in, spool events out, up to the writer's end.

``SpoolTail`` (``tail.py``) has one for each directory below the spool.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import time
from pathlib import Path
from struct import Struct
from typing import Any

from proxy.spool import format as fmt
from proxy.spool.capture import Capture
from proxy.spool.events import SpoolEvent
from proxy.spool.segments import Segments

BATCH_BYTES = 512 << 10  # per poll and writer: what a reader has in hand between two snapshots of its state
READ_BYTES = 8 << 20  # when not one entry fits in a batch; an entry is at most half of it
_OFFERED = Struct("<QQQ")


class Follower:
    """Position, decoding state, whether it is finished."""

    def __init__(self, directory: Path, saved: dict[str, Any] | None, moved: Path | None = None) -> None:
        self.directory = directory
        self.segments = Segments(directory, moved)
        saved = saved or {"segment": 0, "offset": 0, "capture": None, "finished": False}
        self.segment: int = saved["segment"]
        self.offset: int = saved["offset"]
        self.finished: bool = saved["finished"]
        self.capture = Capture(directory.name, saved["capture"])
        self.read_bytes = 0  # since the last release
        self._doubt = False  # a bad crc at the very end of a live segment gets a second look
        self._fd = -1
        self.mono_ns = 0

    def checkpoint(self) -> dict[str, Any]:
        return {
            "segment": self.segment,
            "offset": self.offset,
            "finished": self.finished,
            "capture": self.capture.snapshot(),
        }

    def poll(self) -> list[SpoolEvent]:
        """New events, at most about BATCH_BYTES of entries, or one; empty only when there is nothing more for now."""
        while not self.finished:
            before = self.segment, self.offset
            events = self._step()
            if events or (before == (self.segment, self.offset) and not self.finished):
                return events
        return []

    def _step(self) -> list[SpoolEvent]:
        gone = not _alive(self.directory)  # asked before reading: what it wrote before it died is read first
        events: list[SpoolEvent] = []
        if self._fd < 0 and not self._open(events):
            if gone:
                self._finish(events)
            return events
        data = os.pread(self._fd, wanted := BATCH_BYTES, self.offset)
        found = fmt.scan(data)
        if len(data) == wanted and (found.damage or not found.consumed):  # a large entry, or one to look behind
            data = os.pread(self._fd, wanted := READ_BYTES, self.offset)
            found = fmt.scan(data)
        for e in found.entries:
            events += self.capture.entry(e)
            self.mono_ns = e.mono_ns
        seen = self.offset + len(data)
        self.offset += found.consumed
        self.read_bytes += found.consumed
        if found.damage:
            self._damage(events, found, data, gone=gone)
        elif not (found.consumed and len(data) == wanted):
            self._tail(events, seen, gone=gone)
        return events

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _damage(self, events: list[SpoolEvent], found: fmt.Scan, data: bytes, *, gone: bool) -> None:
        """A bad entry: after a second look, end what is open and go on behind it, or in the next segment."""
        if not self._doubt and not gone:
            self._doubt = True  # perhaps it was being written
            return
        self._doubt = False
        where = f"seg-{self.segment:010d}:{self.offset}"
        events += self.capture.damaged(self.mono_ns, f"spool_damaged at {where}: {found.damage}")
        skip = fmt.skip(data, found.consumed)
        if skip:
            self.offset += skip
        else:
            self._tail(events, os.fstat(self._fd).st_size, gone=gone)

    def _tail(self, events: list[SpoolEvent], seen: int, *, gone: bool) -> None:
        """At the end of what could be read: wait, go to the next segment, or finish. ``seen``: bytes looked at."""
        newer = self._newer()
        if newer is None and not gone:
            return
        if os.fstat(self._fd).st_size > seen:
            return  # more came before the next segment began
        if seen > self.offset:
            where = f"seg-{self.segment:010d}:{self.offset}"
            events += self.capture.damaged(self.mono_ns, f"spool_torn at {where}: {seen - self.offset} bytes")
        if newer is not None:
            self.close()
            self.segment, self.offset = newer, 0
            self._open(events)
        else:
            self._finish(events)

    def _open(self, events: list[SpoolEvent]) -> bool:
        """Open the segment at the position; the first one there is when the position is new."""
        if self.segment == 0:
            there = self.segments.numbers()
            if not there:
                return False
            self.segment = there[0]
        try:
            self._fd = self.segments.open(self.segment)
        except FileNotFoundError:
            gone = self.segment
            if not self._skip():
                return False
            events += self.capture.damaged(self.mono_ns, f"spool_damaged: seg-{gone:010d} is gone")
            return self._open(events)
        return self._header(events)

    def _header(self, events: list[SpoolEvent]) -> bool:
        raw = os.pread(self._fd, fmt.SEGMENT.size, 0)
        if len(raw) < fmt.SEGMENT.size:
            self.close()  # being created right now, or torn: the next poll tells
            self._skip()
            return False
        magic, version, _, _, wall_ns, mono_ns = fmt.SEGMENT.unpack(raw)
        if magic != fmt.MAGIC or version != fmt.VERSION:
            where = f"seg-{self.segment:010d}"
            events += self.capture.damaged(mono_ns, f"spool_damaged: {where} is not a version {fmt.VERSION} segment")
            self.close()
            self._skip()
            return False
        self.capture.clock(wall_ns, mono_ns)
        self.offset = max(self.offset, fmt.SEGMENT.size)
        return True

    def _newer(self) -> int | None:
        return next((n for n in self.segments.numbers() if n > self.segment), None)

    def _skip(self) -> bool:
        """To the beginning of the next segment, when there is one."""
        newer = self._newer()
        if newer is None:
            return False
        self.segment, self.offset = newer, 0
        return True

    def _finish(self, events: list[SpoolEvent]) -> None:
        self.close()
        self.finished = True
        reason = "relay_closed" if self.capture.closed else "relay_died"
        events += self.capture.died(self.mono_ns or time.monotonic_ns(), _offered(self.directory), reason)


def _alive(directory: Path) -> bool:
    """Whether the writer still holds its lock; it took it before the directory got its name."""
    try:
        fd = os.open(directory / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(fd)


def _offered(directory: Path) -> tuple[int, int, int] | None:
    """The writer's own count: exchanges, bytes in, bytes out; None when it went with the memory it was in."""
    try:
        fd = os.open(directory / "offered", os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        with mmap.mmap(fd, _OFFERED.size, prot=mmap.PROT_READ) as page:
            exchanges, bytes_in, bytes_out = _OFFERED.unpack(page[: _OFFERED.size])
            return exchanges, bytes_in, bytes_out
    except ValueError:
        return (0, 0, 0)
    finally:
        os.close(fd)
