"""Writes one relay's spool directory: one write per loop tick; what does not fit is counted exactly.

In: entries as the relay forwards bytes (credentials already blanked). Out: segment files, 0600, in a 0700 directory.
It never raises into the relay and never waits: what cannot be written is counted and said in a ``dropped`` entry.
Offered counts are put in the writer's page before the tick's write, the write comes before the sends; so after a kill
the page minus the spool is what is missing, to the byte.
"""

from __future__ import annotations

import fcntl
import json
import mmap
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from struct import Struct

from proxy.folders import private_directory
from proxy.spool import format as fmt
from proxy.spool.checksum import crc32
from proxy.spool.losses import Loss, Losses
from proxy.spool.open_segment import OpenSegment
from proxy.spool.wake import Wake

HIGH_WATER = 15 / 16  # of the cap: above it captured exchanges stop; what is left is for endings and gap entries
LOW_WATER = 3 / 4  # capture begins again below it
LOOK_NS = 20_000_000  # how often a full spool looks whether the analyzer made room
RETRY_NS = 1_000_000_000  # how long a write that failed is not tried again
GATHER_BYTES = 128 << 10
_PACK_PREFIX = fmt.PREFIX.pack
_PACK_REST = fmt.REST.pack
_PACK_HEAD = fmt.HEAD_SECTION.pack
_PAGE = Struct("<QQQ")


def open_section(meta: dict[str, object]) -> bytes:
    """The open section of an exchange: build it once per connection and route."""
    raw = json.dumps(meta, separators=(",", ":")).encode()
    return fmt.OPEN_SECTION.pack(len(raw)) + raw


class Writer:
    """One per relay process. ``flush`` once per tick, before the sends."""

    def __init__(
        self,
        root: Path,
        name: str,
        cap_bytes: int = 256 << 20,
        *,
        offered: Callable[[int, int, int], None] = lambda _exchanges, _bytes_in, _bytes_out: None,
        clock: Callable[[], int] = time.monotonic_ns,
        write: Callable[[int, Sequence[bytes | bytearray]], int] = os.writev,
    ) -> None:
        private_directory(root)
        self.root = root
        self.name = name
        self.directory = private_directory(root / f".{name}")  # takes its name when a reader may look at it
        self.cap_bytes = cap_bytes
        self.segment_bytes = min(max(cap_bytes // 32, 64 << 10), 8 << 20)
        self.pending_bytes = 0
        self.exchanges = self.bytes_in = self.bytes_out = 0
        self._offered, self._clock = offered, clock
        self._parts: list[bytes | bytearray] = []
        self._seq = 0
        self._full = ""  # why nothing is captured, or ""
        self._look_at_ns = 0
        self._odd = False  # full, or some live exchange lost an entry: the slow path decides
        self._losses = Losses()
        self._owed: list[tuple[int, bytes]] = []
        self._wake = Wake(root)
        self._lock = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._page = _page(self.directory / "offered")
        self.directory = self.directory.rename(root / name)
        self._segment = OpenSegment(root, self.directory, cap_bytes, write)
        self._roll()

    def add(self, exchange: int, kind: int, data: bytes | bytearray) -> None:
        """Body bytes of an exchange, as forwarded."""
        size = len(data)
        if kind & 128:
            self.bytes_out += size
        else:
            self.bytes_in += size
        if self._odd and self._lossy(exchange, kind, size):
            return
        self._seq = seq = self._seq + 1
        rest = _PACK_REST(exchange, seq, self._clock(), kind)
        self._parts += (_PACK_PREFIX(size, crc32(data, crc32(rest))), rest, data)
        self.pending_bytes += size + 36

    def add_head(  # noqa: PLR0917 - keywords cost 60 ns on the hot path
        self, exchange: int, kind: int, section: bytes, prints: bytes, head_bytes: int, data: bytes | bytearray
    ) -> None:
        """A head of ``head_bytes`` bytes, and the body bytes that came with it, in ``data``.

        ``section`` is an open section or empty (``kind`` says which); ``prints`` is "name=hex;…".
        """
        size = len(data)
        if kind & 128:
            self.bytes_out += size
        else:
            self.bytes_in += size
            if kind & 1:
                self.exchanges += 1
        if self._odd and self._lossy(exchange, kind, size):
            return
        self._seq = seq = self._seq + 1
        rest = _PACK_REST(exchange, seq, self._clock(), kind)
        front = section + _PACK_HEAD(len(prints), head_bytes) + prints
        size += len(front)
        self._parts += (_PACK_PREFIX(size, crc32(data, crc32(front, crc32(rest)))), rest, front, data)
        self.pending_bytes += size + 36

    def end(self, exchange: int, ending: str, reason: str) -> None:
        """The exchange is over and no entry carries the OVER bit: cut off, failed, or ended by a close."""
        if exchange in self._losses.live:
            self._settle(exchange, "truncated" if ending == "complete" else ending, reason)
        else:
            self._control(exchange, {"event": "ended", "ending": ending, "reason": reason})

    def say(self, exchange: int, event: dict[str, object]) -> None:
        """A control entry: refused, opaque, clock."""
        self._control(exchange, event)

    def lose(self, exchange: int, reason: str, *, told: bool = False) -> None:
        """Capture no more of this exchange: its cap is reached, or it is a tunnel (``told`` by an opaque entry).

        Its ending says so, with the bytes as forwarded.
        """
        if exchange not in self._losses.live:
            self._losses.live[exchange] = Loss(opened=True, reason=reason, told=told)
            self._odd = True

    def lost_bytes(self, exchange: int) -> tuple[int, int]:
        """Forwarded and not captured so far, in and out, of an exchange whose beginning was captured."""
        lost = self._losses.live.get(exchange)
        return (lost.bytes_in, lost.bytes_out) if lost else (0, 0)

    def flush(self) -> None:
        """Write what the tick collected. On any failure the tick is undone in the file and counted instead."""
        parts = self._parts
        if not parts:
            if self._odd:
                self._count()
            return
        size, self.pending_bytes = self.pending_bytes, 0
        self._count()
        if self._segment.size >= self.segment_bytes:
            self._roll()
        # joining copies: worth it for many small parts, not for large bodies (0.4 ms a MiB)
        whole: Sequence[bytes | bytearray] = parts if size > GATHER_BYTES and len(parts) < 1000 else (b"".join(parts),)
        why = self._segment.append(whole, size)
        data = b"".join(whole) if why else b""
        parts.clear()
        if why:
            self._undo(data, why)
        else:
            if self._segment.others + self._segment.size > self.cap_bytes * HIGH_WATER:
                self._look()
            self._wake.ring()

    def tend(self) -> None:
        """Once a second and when full: look for room, say what was dropped, pay endings that are owed."""
        if self._full:
            self._look_if_due()
        if not self._full:
            if self._losses.missing.any():
                self._say_missing("spool_full")
            self._pay()
        self._odd = bool(self._full or self._losses.live)
        self.flush()

    def close(self) -> None:
        """Say what is missing and that this writer is done. The directory stays for the analyzer."""
        self.flush()
        self._look()
        if self._losses.missing.any():
            self._say_missing(self._full or "spool_full")
        self._pay()
        self._control(0, {"event": "closed"})
        self.flush()
        self._segment.close()
        os.close(self._lock)
        self._page.close()
        self._wake.ring()
        self._wake.close()

    @property
    def full(self) -> str:
        """Why nothing is captured right now, or ""."""
        return self._full

    @property
    def dropped(self) -> int:
        """Exchanges not captured so far."""
        return self._losses.dropped

    def _count(self) -> None:
        """What was offered so far, where a reader finds it when this process is killed."""
        self._page[:24] = _PAGE.pack(self.exchanges, self.bytes_in, self.bytes_out)
        self._offered(self.exchanges, self.bytes_in, self.bytes_out)

    # what follows runs rarely

    def _control(self, exchange: int, event: dict[str, object]) -> None:
        self._append(exchange, fmt.CONTROL, json.dumps(event, separators=(",", ":")).encode())

    def _append(self, exchange: int, kind: int, payload: bytes) -> None:
        self._seq += 1
        self._parts.append(fmt.entry(exchange, self._seq, self._clock(), kind, payload))
        self.pending_bytes += len(payload) + fmt.HEADER_BYTES

    def _pay(self) -> None:
        owed, self._owed = self._owed, []
        for exchange, payload in owed:
            self._append(exchange, fmt.CONTROL, payload)

    def _say_missing(self, reason: str) -> None:
        self._control(0, self._losses.take_missing().dropped(reason))

    def _lossy(self, exchange: int, kind: int, size: int) -> bool:
        """Whether this entry is not captured; counts it if so."""
        if self._full:
            self._look_if_due()
        lost = self._losses.count(exchange, kind, size, self._full)
        if lost is None:
            return False
        if kind & fmt.OVER:
            self._settle(exchange, "truncated", lost.reason)
        return True

    def _settle(self, exchange: int, ending: str, reason: str) -> None:
        """A lossy exchange is over: if the spool knows it, its ending is written, with the bytes that are not there."""
        lost = self._losses.live.pop(exchange)
        if lost.opened:
            self._control(exchange, lost.ended(ending, reason))

    def _undo(self, data: bytes, why: str) -> None:
        """These entries are not in the file: count each as if it had never been captured."""
        self._full, self._odd = why, True
        self._look_at_ns = self._clock() + (LOOK_NS if why == "spool_full" else RETRY_NS)
        for e in fmt.walk(data):
            if not e.kind & fmt.CONTROL:
                self._lossy(e.exchange, e.kind, fmt.split(e.kind, e.payload).forwarded)
                continue
            event = json.loads(e.payload)
            if event["event"] == "dropped":
                self._losses.missing.add(event)
            elif len(self._owed) < 65536:  # refusals beyond that are only counted
                self._owed.append((e.exchange, e.payload))
        # endings of exchanges settled just now wait too
        owed = b"".join(self._parts)
        self._parts.clear()
        self.pending_bytes = 0
        self._owed += [(e.exchange, e.payload) for e in fmt.walk(owed)]

    def _look_if_due(self) -> None:
        if self._clock() >= self._look_at_ns:
            self._look()

    def _look(self) -> None:
        """How full is the spool: sets or clears ``_full``, with hysteresis."""
        self._look_at_ns = self._clock() + LOOK_NS
        segment = self._segment
        segment.count_others()
        if segment.fd < 0:
            self._roll()
            if segment.fd < 0:
                return
        used = segment.others + segment.size
        if used > self.cap_bytes * HIGH_WATER:
            self._full = "spool_full"
        elif used < self.cap_bytes * LOW_WATER:
            self._full = ""
        self._odd = bool(self._full or self._losses.live)

    def _roll(self) -> None:
        """Begin the next segment."""
        if why := self._segment.roll():
            self._full, self._odd = why, True


def _page(path: Path) -> mmap.mmap:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(fd, 4096)
        return mmap.mmap(fd, 4096)
    finally:
        os.close(fd)
