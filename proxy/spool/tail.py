"""The analyzer's end of the spool: follows every writer's directory, from a checkpoint, and deletes what is done with.

tail = SpoolTail(root, saved_checkpoint_or_None)
events = tail.poll()          # bounded; [] when there is nothing new
saved = tail.checkpoint()     # JSON-safe; what poll returned so far is behind it
tail.release(saved)           # after ``saved`` is durable: segments before it are deleted
tail.wait(1.0)                # sleep until a relay wrote something; no polling
"""

from __future__ import annotations

import fcntl
import mmap
import os
import shutil
import time
from pathlib import Path
from struct import Struct
from typing import Any

from proxy.folders import private_directory
from proxy.spool import format as fmt
from proxy.spool.capture import Capture
from proxy.spool.events import SpoolEvent
from proxy.spool.segments import Segments
from proxy.spool.wake import Wake

BATCH_BYTES = 512 << 10  # per poll and writer: what a reader has in hand between two snapshots of its state
READ_BYTES = 8 << 20  # when not one entry fits in a batch; an entry is at most half of it
_OFFERED = Struct("<QQQ")


class _Follower:
    """One writer's directory: position, decoding state, whether it is finished."""

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
        newer = [n for n in self.segments.numbers() if n > self.segment]
        if not newer and not gone:
            return
        if os.fstat(self._fd).st_size > seen:
            return  # more came before the next segment began
        if seen > self.offset:
            where = f"seg-{self.segment:010d}:{self.offset}"
            events += self.capture.damaged(self.mono_ns, f"spool_torn at {where}: {seen - self.offset} bytes")
        if newer:
            self.close()
            self.segment, self.offset = newer[0], 0
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
            newer = [n for n in self.segments.numbers() if n > self.segment]
            if not newer:
                return False
            events += self.capture.damaged(self.mono_ns, f"spool_damaged: seg-{self.segment:010d} is gone")
            self.segment, self.offset = newer[0], 0
            return self._open(events)
        return self._header(events)

    def _header(self, events: list[SpoolEvent]) -> bool:
        raw = os.pread(self._fd, fmt.SEGMENT.size, 0)
        if len(raw) < fmt.SEGMENT.size:
            self.close()  # being created right now, or torn: the next poll tells
            newer = [n for n in self.segments.numbers() if n > self.segment]
            if newer:
                self.segment, self.offset = newer[0], 0
            return False
        magic, version, _, _, wall_ns, mono_ns = fmt.SEGMENT.unpack(raw)
        if magic != fmt.MAGIC or version != fmt.VERSION:
            where = f"seg-{self.segment:010d}"
            events += self.capture.damaged(mono_ns, f"spool_damaged: {where} is not a version {fmt.VERSION} segment")
            self.close()
            newer = [n for n in self.segments.numbers() if n > self.segment]
            if newer:
                self.segment, self.offset = newer[0], 0
            return False
        self.capture.clock(wall_ns, mono_ns)
        self.offset = max(self.offset, fmt.SEGMENT.size)
        return True

    def _finish(self, events: list[SpoolEvent]) -> None:
        self.close()
        self.finished = True
        reason = "relay_closed" if self.capture.closed else "relay_died"
        events += self.capture.died(self.mono_ns or time.monotonic_ns(), _offered(self.directory), reason)


class SpoolTail:
    """Every writer below ``root``; see the module docstring. ``checkpoint`` is what an earlier life saved.

    ``overflow``: where segments were moved when the spool filled (``proxy/spool/overflow.py``).
    """

    def __init__(self, root: Path, checkpoint: dict[str, Any] | None = None, overflow: Path | None = None) -> None:
        self.root, self._overflow = private_directory(root), overflow
        self._wake = Wake(root)
        self._followers: dict[str, _Follower] = {}
        for name, saved in (checkpoint or {}).get("writers", {}).items():
            if (root / name).is_dir() or (overflow and (overflow / name).is_dir()):
                self._follow(name, saved)
        self._left_behind()

    def fileno(self) -> int:
        """Readable when a relay wrote something; for a loop of one's own, with ``doze`` and ``rouse``."""
        return self._wake.fileno()

    def poll(self) -> list[SpoolEvent]:
        """What is new since the last call, in order per writer. Bounded: call again until it is empty."""
        for entry in os.scandir(self.root):
            if entry.name in self._followers or entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
                continue  # a dot: a writer still making its directory
            self._follow(entry.name, None)
        return [event for f in self._followers.values() for event in f.poll()]

    def _follow(self, name: str, saved: dict[str, Any] | None) -> None:
        self._followers[name] = _Follower(self.root / name, saved, self._overflow and self._overflow / name)

    def _left_behind(self) -> None:
        """Writers of whom only what was moved is left: memory was lost (a reboot), the disk was not."""
        there = os.scandir(self._overflow) if self._overflow and self._overflow.is_dir() else ()
        for entry in there:
            if entry.name not in self._followers and not (self.root / entry.name).is_dir():
                self._follow(entry.name, None)

    def wait(self, timeout_s: float) -> list[SpoolEvent]:
        """``poll``, sleeping up to ``timeout_s`` for something to come."""
        self._wake.doze()
        events = self.poll()
        if events:
            self._wake.rouse()
            return events
        self._wake.wait(timeout_s)
        return self.poll()

    def doze(self) -> None:
        """Ask for a bell on ``fileno``; poll once more before sleeping."""
        self._wake.doze()

    def rouse(self) -> None:
        self._wake.rouse()

    def checkpoint(self) -> dict[str, Any]:
        """The position behind everything ``poll`` returned, and the decoding state there. JSON-safe."""
        return {"version": 1, "writers": {n: f.checkpoint() for n, f in self._followers.items()}}

    def release(self, upto: dict[str, Any]) -> None:
        """``upto`` is durable: delete segments before it, and directories of writers that are finished."""
        for name, saved in upto["writers"].items():
            follower = self._followers.get(name)
            if follower is None:
                continue
            if saved["finished"]:
                for directory in (follower.segments.directory, follower.segments.moved):
                    if directory is not None:
                        shutil.rmtree(directory, ignore_errors=True)
                self._followers.pop(name)
                continue
            follower.read_bytes = 0
            for number in follower.segments.numbers():
                if number < saved["segment"]:
                    follower.segments.drop(number)

    @property
    def followed(self) -> bool:
        """Whether a writer that is not finished is being followed."""
        return any(not f.finished for f in self._followers.values())

    @property
    def read_bytes(self) -> int:
        """Read since the last ``release``: what the next one may give back."""
        return sum(f.read_bytes for f in self._followers.values())

    def behind_bytes(self) -> int:
        """Captured and not yet polled: the analyzer's lag in bytes."""
        total = 0
        for f in self._followers.values():
            sizes = {n: f.segments.size(n) for n in f.segments.numbers()}
            total += sum(size for n, size in sizes.items() if n > f.segment)
            total += max(0, sizes.get(f.segment, 0) - f.offset)
        return total

    def close(self) -> None:
        for f in self._followers.values():
            f.close()
        self._wake.close()


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
