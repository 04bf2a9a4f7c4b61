"""AWS event stream: bytes in, one Frame per message out; both checksums are looked at.

Layout (smithy.io, event stream encoding, read 2026): uint32 total, uint32 headers, uint32 prelude CRC, headers,
payload, uint32 message CRC. Frame.event is the ``:event-type``, or ``exception:<type>`` for errors inside a 200.
Runs of sound messages without a mark are passed over (``gate``); damage is found in them all the same.
"""

from __future__ import annotations

import struct

from proxy.exchange import Exchange, Side
from proxy.spool.checksum import crc32
from proxy.wire import Frame, Mark
from proxy.wire.json_text import parse

PRELUDE = 12  # bytes
MESSAGE_CAP = 24 << 20  # the format allows 16 MiB of payload
_HEADS_CAP, _SUMS_CAP = 64, 512
_PRELUDE = struct.Struct(">III").unpack_from
_SUM = struct.Struct(">I").unpack_from
_FIXED = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # header value type -> size; 6 and 7 carry a length


def begins_stream(data: bytes) -> bool:
    """Whether the first bytes are a whole prelude whose own checksum holds: labels are lost on the way."""
    return len(data) >= PRELUDE and crc32(data[:8]) == struct.unpack_from(">I", data, 8)[0]


class EventStreamDecoder:
    """``gate``: when set, whole messages in which none of its patterns is found are counted and dropped."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self.gate: tuple[Mark, ...] = ()
        self.skipped_bytes = 0
        self._plain: set[bytes] = set()  # header blocks of named events; a stream has a handful
        self._sums: dict[tuple[int, int], int] = {}  # checksums of preludes met: messages of text have few sizes
        self._buffer = bytearray()
        self._damaged = 0  # bytes from a broken prelude on: nothing says where the next message begins

    def feed(self, data: bytes) -> list[Frame]:
        if self._damaged:
            self._damaged += len(data)
            return []
        self._buffer += data
        if self.gate and self._skip():
            return []
        frames: list[Frame] = []
        at = 0
        while len(self._buffer) - at >= 12:
            total, headers, prelude = struct.unpack_from(">III", self._buffer, at)
            if crc32(self._buffer[at : at + 8]) != prelude or not 16 + headers <= total <= MESSAGE_CAP:
                self._damaged = len(self._buffer) - at
                self._buffer.clear()
                return frames
            if len(self._buffer) - at < total:
                break
            frames.append(_message(bytes(self._buffer[at : at + total]), headers, self._side))
            at += total
        del self._buffer[:at]
        return frames

    def _skip(self) -> bool:
        """Drop all whole messages at once when each is a sound, named event and no pattern is in them."""
        buffer = self._buffer
        cut = self._sound()
        if not cut or any(pattern.search(buffer, 0, cut) for pattern in self.gate):
            return False
        self.skipped_bytes += cut
        del buffer[:cut]
        return not buffer

    def _sound(self) -> int:
        """Where the last whole message ends; 0 when one of them has to be looked at."""
        buffer, at, sums = self._buffer, 0, self._sums
        with memoryview(buffer) as view:
            while len(buffer) - at >= 16:
                total, headers, check = _PRELUDE(buffer, at)
                end = at + total
                if end > len(buffer):
                    break
                if sums.get((total, headers)) != check:
                    if total < 16 + headers or crc32(view[at : at + 8]) != check:
                        return 0
                    if len(sums) < _SUMS_CAP:
                        sums[total, headers] = check
                if crc32(view[at : end - 4]) != _SUM(buffer, end - 4)[0]:
                    return 0
                head = bytes(view[at + 12 : at + 12 + headers])
                if head not in self._plain and not self._names_event(head):
                    return 0
                at = end
        return at

    def _names_event(self, head: bytes) -> bool:
        said = _headers(head) or {}
        plain = said.get(":message-type", "event") == "event" and ":event-type" in said
        if plain and len(self._plain) < _HEADS_CAP:
            self._plain.add(head)
        return plain

    def close(self, *, clean: bool) -> list[Frame]:  # noqa: ARG002 - a cut message is one either way
        reason = "event stream prelude is damaged" if self._damaged else "event stream message cut off"
        size, self._damaged = self._damaged + len(self._buffer), 0
        self._buffer.clear()
        return [Frame(b"", error=reason, side=self._side, size_bytes=size)] if size else []


def _message(raw: bytes, headers_size: int, side: Side) -> Frame:
    size = len(raw)
    if crc32(raw[:-4]) != struct.unpack(">I", raw[-4:])[0]:
        return Frame(b"", error="event stream message checksum is wrong", side=side, size_bytes=size)
    headers = _headers(raw[12 : 12 + headers_size])
    if headers is None:
        return Frame(b"", error="event stream headers are damaged", side=side, size_bytes=size)
    payload = raw[12 + headers_size : -4]
    kind = headers.get(":message-type", "event")
    name = headers.get(":event-type", "")
    if kind != "event":
        name = f"exception:{headers.get(':exception-type') or headers.get(':error-code') or kind}"
    value, error = parse(payload) if payload else ({}, None)
    if error is not None:
        text = payload.decode("utf-8", "replace")
        return Frame(text, name, error=None if kind != "event" else f"JSON: {error}", side=side, size_bytes=size)
    return Frame(value, name, side=side, size_bytes=size)


def _headers(raw: bytes) -> dict[str, str] | None:
    """String headers by name (values of other types are stepped over), None when the block does not add up."""
    found: dict[str, str] = {}
    at = 0
    try:
        while at < len(raw):
            name = raw[at + 1 : at + 1 + raw[at]].decode("utf-8", "replace")
            at += 1 + raw[at]
            kind = raw[at]
            at += 1
            if kind in (6, 7):
                size = struct.unpack_from(">H", raw, at)[0]
                found[name] = raw[at + 2 : at + 2 + size].decode("utf-8", "replace")
                at += 2 + size
            else:
                at += _FIXED[kind]
    except (IndexError, KeyError, struct.error):
        return None
    return found if at == len(raw) else None


class _EventStream:
    name = "aws-event-stream"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the framing signature
        return 60 if content_type == "application/vnd.amazon.eventstream" else 0

    def open(self, exchange: Exchange, side: Side) -> EventStreamDecoder:  # noqa: ARG002 - the framing signature
        return EventStreamDecoder(side)


FRAMING = _EventStream()
