"""The spool's bytes, shared by both ends: a segment header, then entries; see docs/spool.md.

A segment is ``SEGMENT`` then entries. An entry is ``PREFIX`` (length, crc32) + ``REST`` (exchange, seq, monotonic_ns,
kind) + payload; the crc covers REST and payload. ``kind`` is a set of bits, so an ordinary request (opened, head, body,
complete) is one entry, and so is an ordinary response.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct

from proxy.spool.checksum import crc32

MAGIC = b"onlspool"
VERSION = 1
SEGMENT = Struct("<8sHHIQQ")  # magic, version, spare, segment number, wall_ns, monotonic_ns of the same moment
PREFIX = Struct("<II")
REST = Struct("<QQQI")
HEADER_BYTES = PREFIX.size + REST.size
OPEN_SECTION = Struct("<H")  # length of the JSON meta that follows
HEAD_SECTION = Struct("<HI")  # length of the fingerprints, length of the head that follow
MAX_ENTRY_BYTES = 4 << 20  # a head (1 MiB) and one read (256 KiB) fit several times over

OPEN = 1  # payload begins with an open section
HEAD = 2  # then a head section
BODY = 4  # the rest of the payload is body bytes as forwarded, transfer framing included
LAST = 8  # this side's body is complete
OVER = 16  # the exchange is complete
CONTROL = 32  # the payload is JSON with an "event" name, nothing else
RESPONSE = 128  # the response side; otherwise the request side


@dataclass(frozen=True, slots=True)
class Entry:
    exchange: int
    seq: int
    mono_ns: int
    kind: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Sections:
    """A payload taken apart. ``forwarded`` counts head and body bytes, which is what crossed the relay."""

    meta: bytes
    prints: bytes
    head: bytes
    body: bytes

    @property
    def forwarded(self) -> int:
        return len(self.head) + len(self.body)


@dataclass(frozen=True, slots=True)
class Scan:
    """What ``scan`` found: whole entries, bytes consumed, and why it stopped ("" when only the tail is missing)."""

    entries: list[Entry]
    consumed: int
    damage: str


def entry(exchange: int, seq: int, mono_ns: int, kind: int, payload: bytes) -> bytes:
    """One encoded entry."""
    rest = REST.pack(exchange, seq, mono_ns, kind)
    return PREFIX.pack(len(payload), crc32(payload, crc32(rest))) + rest + payload


def split(kind: int, payload: bytes) -> Sections:
    """A non-control payload as its sections."""
    meta = prints = head = b""
    at = 0
    if kind & OPEN:
        (size,) = OPEN_SECTION.unpack_from(payload, 0)
        at = OPEN_SECTION.size + size
        meta = payload[OPEN_SECTION.size : at]
    if kind & HEAD:
        prints_len, head_len = HEAD_SECTION.unpack_from(payload, at)
        at += HEAD_SECTION.size
        prints = payload[at : at + prints_len]
        at += prints_len
        head = payload[at : at + head_len]
        at += head_len
    return Sections(meta, prints, head, payload[at:] if at else payload)


def walk(data: bytes) -> Iterator[Entry]:
    """Entries of bytes known to be whole (the writer looking at its own tick)."""
    return iter(scan(data).entries)


def scan(data: bytes) -> Scan:
    """Whole entries from the start of ``data``, which begins at one. A torn tail is left, a bad crc stops the scan."""
    entries: list[Entry] = []
    at, end = 0, len(data)
    while end - at >= HEADER_BYTES:
        size, crc = PREFIX.unpack_from(data, at)
        if size > MAX_ENTRY_BYTES:
            return Scan(entries, at, f"entry length {size} is over {MAX_ENTRY_BYTES}")
        stop = at + HEADER_BYTES + size
        if stop > end:
            break
        rest = data[at + PREFIX.size : at + HEADER_BYTES]
        payload = data[at + HEADER_BYTES : stop]
        if crc32(payload, crc32(rest)) != crc:
            return Scan(entries, at, "crc differs")
        exchange, seq, mono_ns, kind = REST.unpack(rest)
        entries.append(Entry(exchange, seq, mono_ns, kind, payload))
        at = stop
    return Scan(entries, at, "")


def skip(data: bytes, at: int) -> int:
    """Bytes to skip over a damaged entry at ``at``: its length if a good entry follows there, else 0."""
    if len(data) - at < HEADER_BYTES:
        return 0
    size, _ = PREFIX.unpack_from(data, at)
    step = HEADER_BYTES + int(size)
    return step if size <= MAX_ENTRY_BYTES and scan(data[at + step :]).entries else 0
