r"""Server-sent events: bytes in, one Frame per dispatched event out (WHATWG HTML, section 9.2, read 2026).

Lines end at LF, CRLF or CR, nowhere else (U+2028 is text). One leading BOM is dropped, comments and retry lines
are nobody's frame, several data lines join with LF. JSON data is parsed; ``[DONE]`` and other text stay text.
An unfinished last event is dispatched too when it parses: servers that forget the last blank line are common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from proxy.exchange import Exchange, Side
from proxy.wire import Frame, Mark
from proxy.wire.json_text import NOT_UTF_8, parse

EVENT_CAP = 64 << 20
_END = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_LINES = re.compile(rb"\r\n|\n|\r")


class SseDecoder:
    """``gate``: when set, runs of whole events in which none of its patterns is found are counted and dropped."""

    def __init__(self, side: Side = Side.RESPONSE, cap: int = EVENT_CAP) -> None:
        self._side = side
        self._cap = cap
        self._buffer = bytearray()
        self._scanned = 0
        self._first = True
        self._dropped = 0  # bytes of an event over the cap that are gone already
        self.gate: tuple[Mark, ...] = ()
        self.skipped_bytes = 0

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        if self._first:
            if len(self._buffer) < 3 and b"\xef\xbb\xbf".startswith(bytes(self._buffer)):
                return []
            self._first = False
            if self._buffer.startswith(b"\xef\xbb\xbf"):
                del self._buffer[:3]
        if self.gate and self._skip():
            return []
        cut, ends = 0, []
        for start, end in _blank_lines(self._buffer, max(0, self._scanned - 4)):
            ends.append((cut, start, end))
            cut = end
        self._scanned = len(self._buffer) - cut
        if not ends:
            return self._too_long()
        whole = bytes(self._buffer[:cut])
        del self._buffer[:cut]
        frames: list[Frame] = []
        for start, stop, end in ends:
            size, self._dropped = end - start + self._dropped, 0
            frames += self._event(whole[start:stop], size) if size <= self._cap else [self._over(size)]
        return frames + self._too_long()

    def _skip(self) -> bool:
        """Drop all whole events at once when no pattern is in them; what is left is the start of the next one."""
        buffer = self._buffer
        seen = max(0, self._scanned - 4)
        cut = _last_end(buffer, max(seen, len(buffer) - 4096)) or _last_end(buffer, seen)
        if not cut:
            return False
        for pattern in self.gate:
            if pattern.search(buffer, 0, cut):
                return False
        self.skipped_bytes += cut
        del buffer[:cut]
        self._scanned = 0
        return not buffer

    def close(self, *, clean: bool) -> list[Frame]:  # noqa: ARG002 - a last event that parses is one either way
        rest = bytes(self._buffer)
        self._buffer.clear()
        if len(rest) + self._dropped > self._cap:
            return [self._over(len(rest) + self._dropped)]
        return self._event(rest.rstrip(b"\r\n"), len(rest)) if rest.strip() else []

    def _too_long(self) -> list[Frame]:
        """An event that cannot be kept is only counted, up to its end; its last bytes tell where that is."""
        excess = len(self._buffer) + self._dropped - self._cap
        if excess > 0:
            gone = max(0, len(self._buffer) - 4)
            del self._buffer[:gone]
            self._dropped += gone
            self._scanned = len(self._buffer)
        return []

    def _over(self, size: int) -> Frame:
        return Frame("", error="event over the cap", side=self._side, size_bytes=size)

    def _event(self, block: bytes, size: int) -> list[Frame]:
        name, data = "", []
        for line in _LINES.split(block) if b"\r" in block else block.split(b"\n"):
            field, _, value = line.partition(b":")
            value = value[1:] if value[:1] == b" " else value
            if field == b"data":
                data.append(value)
            elif field == b"event":
                name = value.decode("utf-8", "replace")
        if not data:
            return []
        return [_frame(b"\n".join(data), name, self._side, size)]


def _last_end(buffer: bytearray, start: int) -> int:
    """Where the last whole event ends, 0 when none does."""
    ends = [at + len(mark) for mark in (b"\n\n", b"\r\n\r\n") if (at := buffer.rfind(mark, start)) >= 0]
    return max(ends, default=0)


def _blank_lines(buffer: bytearray, start: int) -> Iterator[tuple[int, int]]:
    """(start, end) of each end of an event. One kind of line end is the rule, and finding it is ten times faster."""
    returns = buffer.count(b"\r", start)
    if not returns:
        yield from _found(buffer, b"\n\n", start)
    elif returns == buffer.count(b"\r\n", start) == buffer.count(b"\n", start):
        yield from _found(buffer, b"\r\n\r\n", start)
    else:
        for match in _END.finditer(buffer, start):
            if match.end() == len(buffer) and match.group()[-1:] == b"\r":
                return  # the LF of this CRLF may still come
            yield match.span()


def _found(buffer: bytearray, mark: bytes, start: int) -> Iterator[tuple[int, int]]:
    at = buffer.find(mark, start)
    while at >= 0:
        yield at, at + len(mark)
        at = buffer.find(mark, at + len(mark))


def _frame(data: bytes, name: str, side: Side, size: int) -> Frame:
    if data.lstrip()[:1] not in (b"{", b"[") or data.strip() == b"[DONE]":
        return Frame(data.decode("utf-8", "replace"), name, side=side, size_bytes=size)
    value, error = parse(data)
    if error == NOT_UTF_8:  # clients put U+FFFD there and go on
        value, error = parse(data.decode("utf-8", "replace"))
    value = data.decode("utf-8", "replace") if error else value
    return Frame(value, name, error=error and f"JSON: {error}", side=side, size_bytes=size)


class _Sse:
    name = "sse"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the framing signature
        return 50 if content_type == "text/event-stream" else 0

    def open(self, exchange: Exchange, side: Side) -> SseDecoder:  # noqa: ARG002 - the framing signature
        return SseDecoder(side)


FRAMING = _Sse()
