"""The shared counters page: one slot per relay, written by the relay, read by whoever shows metrics.

Layout: slot n begins at byte n * 256; FIELDS in order, each an unsigned 64-bit little-endian integer. A relay that
starts again goes on in its slot, so totals do not go back. Offered counts are there before the bytes are sent.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from struct import Struct

SLOT_BYTES = 256
FIELDS = (
    "pid",  # of the relay that has the slot, 0: none
    "starts",  # how often a relay took this slot
    "exchanges",  # offered: forwarded, or meant to be when connecting failed
    "bytes_in",  # request side, heads and bodies as forwarded
    "bytes_out",  # response side
    "refused",
    "connections",  # accepted, total
    "connections_open",
    "upstream_connects",
    "upstream_failures",
    "client_gone",  # exchanges the client left
    "truncated",  # exchanges the upstream cut off
    "loop_lag_max_us",  # since the last look of the relay's own timer (100 ms)
    "heartbeat_ns",  # monotonic, of that timer
    "spool_full",  # 1: nothing is captured right now
)
_SLOT = Struct(f"<{len(FIELDS)}Q")
assert _SLOT.size <= SLOT_BYTES


def create(path: Path, slots: int) -> None:
    """The page, zeroed unless it is there in the right size. Mode 0600."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(fd, max(slots * SLOT_BYTES, os.fstat(fd).st_size))
    finally:
        os.close(fd)


def read(path: Path) -> list[dict[str, int]]:
    """All slots that were ever taken, as field → value. [] when there is no page."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return []
    slots = (_SLOT.unpack_from(raw, at) for at in range(0, len(raw) - SLOT_BYTES + 1, SLOT_BYTES))
    return [dict(zip(FIELDS, values, strict=True)) for values in slots if values[1]]


class Slot:
    """A relay's own slot: plain integer attributes, written to the page by ``store``."""

    __slots__ = (*FIELDS, "_at", "_page")

    def __init__(self, path: Path, slot: int) -> None:
        create(path, slot + 1)
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            self._page = mmap.mmap(fd, (slot + 1) * SLOT_BYTES)
        finally:
            os.close(fd)
        self._at = slot * SLOT_BYTES
        for name, value in zip(FIELDS, _SLOT.unpack_from(self._page, self._at), strict=True):
            setattr(self, name, value)
        self.pid, self.starts, self.connections_open = os.getpid(), self.starts + 1, 0
        self.store()

    pid: int
    starts: int
    exchanges: int
    bytes_in: int
    bytes_out: int
    refused: int
    connections: int
    connections_open: int
    upstream_connects: int
    upstream_failures: int
    client_gone: int
    truncated: int
    loop_lag_max_us: int
    heartbeat_ns: int
    spool_full: int

    def store(self) -> None:
        """Put every field into the page."""
        _SLOT.pack_into(self._page, self._at, *(getattr(self, name) for name in FIELDS))

    def offered(self, exchanges: int, bytes_in: int, bytes_out: int) -> None:
        """Only these three, before a tick's sends."""
        self.exchanges, self.bytes_in, self.bytes_out = exchanges, bytes_in, bytes_out
        _OFFERED.pack_into(self._page, self._at + 16, exchanges, bytes_in, bytes_out)

    def release(self) -> None:
        self.pid = 0
        self.store()
        self._page.close()


_OFFERED = Struct("<QQQ")
