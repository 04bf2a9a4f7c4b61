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
from dataclasses import dataclass
from pathlib import Path
from struct import Struct

from proxy.folders import private_directory
from proxy.spool import format as fmt
from proxy.spool.checksum import crc32
from proxy.spool.segments import segment_name, size_of
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


@dataclass(slots=True)
class Loss:
    """An exchange that lost at least one entry. ``opened``: its beginning is in the spool, so an ending is owed."""

    opened: bool
    bytes_in: int = 0
    bytes_out: int = 0
    reason: str = ""


@dataclass(slots=True)
class Missing:
    """What a ``dropped`` entry will say: exchanges that have no entry at all, and their bytes."""

    exchanges: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    first: int = 0
    last: int = 0

    def count(self, exchange: int) -> None:
        self.exchanges += 1
        self.first = self.first or exchange
        self.last = exchange

    def any(self) -> bool:
        return bool(self.exchanges or self.bytes_in or self.bytes_out)


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
        self._offered, self._clock, self._write = offered, clock, write
        self._parts: list[bytes | bytearray] = []
        self._seq = 0
        self._fd = -1
        self._segment = 0
        self._size = 0  # of the open segment
        self._others = 0  # bytes of all other segments of all writers, when last looked
        self._full = ""  # why nothing is captured, or ""
        self._broken = ""  # why there is no open segment
        self._look_at_ns = 0
        self._odd = False  # full, or some live exchange lost an entry: the slow path decides
        self._lost: dict[int, Loss] = {}
        self._missing = Missing()
        self._dropped = 0
        self._owed: list[tuple[int, bytes]] = []
        self._wake = Wake(root)
        self._lock = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._page = _page(self.directory / "offered")
        self.directory = self.directory.rename(root / name)
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
        if exchange in self._lost:
            self._settle(exchange, "truncated" if ending == "complete" else ending, reason)
        else:
            self._control(exchange, {"event": "ended", "ending": ending, "reason": reason})

    def say(self, exchange: int, event: dict[str, object]) -> None:
        """A control entry: refused, opaque, clock."""
        self._control(exchange, event)

    def lose(self, exchange: int, reason: str) -> None:
        """Capture no more of this exchange: its cap is reached. Its ending says so, with the bytes as forwarded."""
        if exchange not in self._lost:
            self._lost[exchange] = Loss(opened=True, reason=reason)
            self._odd = True

    def lost_bytes(self, exchange: int) -> tuple[int, int]:
        """Forwarded and not captured so far, in and out, of an exchange whose beginning was captured."""
        lost = self._lost.get(exchange)
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
        if self._size >= self.segment_bytes:
            self._roll()
        # joining copies: worth it for many small parts, not for large bodies (0.4 ms a MiB)
        whole: Sequence[bytes | bytearray] = parts if size > GATHER_BYTES and len(parts) < 1000 else (b"".join(parts),)
        why = self._put(whole, size)
        data = b"".join(whole) if why else b""
        parts.clear()
        if why:
            self._undo(data, why)
        else:
            self._wake.ring()

    def tend(self) -> None:
        """Once a second and when full: look for room, say what was dropped, pay endings that are owed."""
        if self._full:
            self._look_if_due()
        if not self._full:
            if self._missing.any():
                self._say_missing("spool_full")
            owed, self._owed = self._owed, []
            for exchange, payload in owed:
                self._append(exchange, fmt.CONTROL, payload)
        self._odd = bool(self._full or self._lost)
        self.flush()

    def close(self) -> None:
        """Say what is missing and that this writer is done. The directory stays for the analyzer."""
        self.flush()
        self._look()
        if self._missing.any():
            self._say_missing(self._full or "spool_full")
        owed, self._owed = self._owed, []
        for exchange, payload in owed:
            self._append(exchange, fmt.CONTROL, payload)
        self._control(0, {"event": "closed"})
        self.flush()
        os.close(self._fd) if self._fd >= 0 else None
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
        return self._dropped

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

    def _say_missing(self, reason: str) -> None:
        gone, self._missing = self._missing, Missing()
        self._control(
            0,
            {
                "event": "dropped",
                "exchanges": gone.exchanges,
                "bytes_in": gone.bytes_in,
                "bytes_out": gone.bytes_out,
                "first": gone.first,
                "last": gone.last,
                "reason": reason,
            },
        )

    def _lossy(self, exchange: int, kind: int, size: int) -> bool:
        """Whether this entry is not captured; counts it if so."""
        if self._full:
            self._look_if_due()
        lost = self._lost.get(exchange)
        if lost is None:
            if not self._full:
                return False
            lost = self._lost[exchange] = Loss(opened=not kind & fmt.OPEN, reason=self._full)
            if not lost.opened:
                self._missing.count(exchange)
                self._dropped += 1
        into: Loss | Missing = lost if lost.opened else self._missing
        if kind & fmt.RESPONSE:
            into.bytes_out += size
        else:
            into.bytes_in += size
        if kind & fmt.OVER:
            self._settle(exchange, "truncated", lost.reason)
        return True

    def _settle(self, exchange: int, ending: str, reason: str) -> None:
        """A lossy exchange is over: if the spool knows it, its ending is written, with the bytes that are not there."""
        lost = self._lost.pop(exchange)
        if not lost.opened:
            return
        self._control(
            exchange,
            {
                "event": "ended",
                "ending": ending,
                "reason": reason or lost.reason,
                "lost": lost.reason,
                "extra_in": lost.bytes_in,
                "extra_out": lost.bytes_out,
            },
        )

    def _put(self, parts: Sequence[bytes | bytearray], size: int) -> str:
        """Write all ``size`` bytes of it or none; "" or why not."""
        if self._fd < 0:
            return self._broken
        if self._others + self._size + size > self.cap_bytes:
            return "spool_full"
        try:
            wrote = self._write(self._fd, parts)
        except OSError as error:
            return f"spool_write_failed: {error.strerror}"
        if wrote != size:
            try:
                os.ftruncate(self._fd, self._size)
            except OSError:
                self._roll()  # the torn tail stays behind in a segment nobody continues
            return "spool_write_short"
        self._size += wrote
        if self._others + self._size > self.cap_bytes * HIGH_WATER:
            self._look()
        return ""

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
                self._missing.exchanges += event["exchanges"]
                self._missing.bytes_in += event["bytes_in"]
                self._missing.bytes_out += event["bytes_out"]
                self._missing.first = self._missing.first or event["first"]
                self._missing.last = max(self._missing.last, event["last"])
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
        self._count_others()
        if self._fd < 0:
            self._roll()
            if self._fd < 0:
                return
        used = self._others + self._size
        if used > self.cap_bytes * HIGH_WATER:
            self._full = "spool_full"
        elif used < self.cap_bytes * LOW_WATER:
            self._full = ""
        self._odd = bool(self._full or self._lost)

    def _roll(self) -> None:
        """Begin the next segment."""
        if self._fd >= 0:
            os.close(self._fd)
        self._segment += 1
        path = self.directory / segment_name(self._segment)
        self._fd, self._size = -1, 0
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC, 0o600)
            header = fmt.SEGMENT.pack(fmt.MAGIC, fmt.VERSION, 0, self._segment, time.time_ns(), time.monotonic_ns())
            if os.write(fd, header) != len(header):
                os.close(fd)
                raise OSError(0, "short segment header")  # noqa: TRY301 - same answer as any failed write
        except OSError as error:
            self._broken = f"spool_write_failed: {error.strerror}"
            self._full, self._odd = self._broken, True
            return
        self._fd, self._size = fd, len(header)
        self._count_others()

    def _count_others(self) -> None:
        mine = self.directory / segment_name(self._segment)
        self._others = sum(size_of(p) for p in self.root.glob("*/seg-*") if p != mine)


def _page(path: Path) -> mmap.mmap:
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(fd, 4096)
        return mmap.mmap(fd, 4096)
    finally:
        os.close(fd)
