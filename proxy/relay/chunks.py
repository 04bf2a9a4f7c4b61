"""Follows chunked framing (RFC 9112 §7.1) without touching a byte: where the body ends, and where its data lies.

In: any split of the bytes. Out: the index after the body's end, or -1. The relay follows with it; the spool's reader
takes the framing off with it.
"""

from __future__ import annotations

import re

_TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]"
# 15 hex digits stay below 2**60; anything a lenient parser would also take (0x, _, sign, blank) is refused
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*+;[^\r\n\0]*+)?\r\n").match
_TRAILER = re.compile(_TOKEN + rb"++:[^\r\n\0]*+\r\n").fullmatch
MAX_LINE_BYTES = 16 << 10
MAX_TRAILER_BYTES = 64 << 10


class BadChunkError(ValueError):
    """The framing is not what RFC 9112 allows; the message is a refusal reason."""


class Chunks:
    """State of one chunked body: bytes of data still due (with their CRLF), a torn line, whether trailers began."""

    __slots__ = ("due", "line", "trailer_bytes")

    def __init__(self, due: int = 0, line: bytes = b"", trailer_bytes: int = -1) -> None:
        self.due = due
        self.line = line
        self.trailer_bytes = trailer_bytes  # -1: still in the data

    def feed(self, data: bytes, at: int = 0, out: list[bytes] | None = None) -> int:
        """Follow ``data`` from index ``at``; append the chunk data seen to ``out``.

        Returns the index after the last chunk and its trailers, or -1 when the body goes on. Raises BadChunkError.
        """
        end = len(data)
        if not self.due and not self.line and self.trailer_bytes < 0 and out is None:
            # one whole chunk in one read, as event streams come
            m = _SIZE(data, at)
            if (
                m
                and (size := int(m[1], 16))
                and m.end() + size + 2 == end
                and data[-2:] == b"\r\n"
                and m.end() - at < MAX_LINE_BYTES
            ):
                return -1
        while at < end:
            if self.due:
                at = self._data(data, at, end, out)
                if at < 0:
                    return -1
                continue
            if not self.line and self.trailer_bytes < 0:
                m = _SIZE(data, at)
                if m:
                    if m.end() - at > MAX_LINE_BYTES:
                        raise BadChunkError("chunk-line-too-long")
                    at = m.end()
                    self._size(m[1])
                    continue
            stop = data.find(b"\n", at) + 1
            line = self.line + data[at : stop or end]
            if len(line) > MAX_LINE_BYTES:
                raise BadChunkError("chunk-line-too-long")
            if not stop:
                self.line = line
                return -1
            self.line = b""
            at = stop
            if self._line(line):
                return at
        return -1

    def _data(self, data: bytes, at: int, end: int, out: list[bytes] | None) -> int:
        """Consume due bytes; the last two must be CRLF. Returns the next index, or -1 when data ran out."""
        due, have = self.due, end - at
        take = min(due, have)
        if out is not None and due > 2:
            out.append(data[at : at + min(take, due - 2)])
        at += take
        self.due = left = due - take
        if left < 2:
            tail = data[at - 1] if take else 0
            if left == 1 and tail != 13:
                raise BadChunkError("chunk-data-end")
            if left == 0 and (tail != 10 or (take > 1 and data[at - 2] != 13)):
                raise BadChunkError("chunk-data-end")
        return at if at < end else -1

    def _size(self, digits: bytes) -> None:
        size = int(digits, 16)
        if size:
            self.due = size + 2
        else:
            self.trailer_bytes = 0

    def _line(self, line: bytes) -> bool:
        """A whole line, torn before: a chunk size or a trailer. True when it ends the body."""
        if self.trailer_bytes < 0:
            m = _SIZE(line)
            if not m or m.end() != len(line):
                raise BadChunkError("chunk-size")
            self._size(m[1])
            return False
        if line == b"\r\n":
            return True
        self.trailer_bytes += len(line)
        if self.trailer_bytes > MAX_TRAILER_BYTES:
            raise BadChunkError("trailers-too-long")
        if not _TRAILER(line):
            raise BadChunkError("trailer")
        return False
