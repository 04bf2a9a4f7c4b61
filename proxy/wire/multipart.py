"""Multipart bodies (RFC 2046): bytes in, one Frame per part out; JSON parts parsed, others as bytes with their size.

``event`` is the part's name (form-data) or content type. Only parts up to a cap are kept; larger ones are counted.
"""

from __future__ import annotations

from email.message import Message

from proxy.exchange import Exchange, Side
from proxy.wire import Frame
from proxy.wire.json_text import parse

PART_CAP = 4 << 20
HEAD_CAP = 16 << 10


class MultipartDecoder:
    def __init__(self, side: Side, boundary: str) -> None:
        self._side = side
        self._mark = b"\r\n--" + boundary.encode("latin-1", "replace")
        self._buffer = bytearray(b"\r\n")
        self._part: bytearray | None = None
        self._size = 0
        self._ended = False

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        frames: list[Frame] = []
        while not self._ended:
            at = self._buffer.find(self._mark)
            after = at + len(self._mark)
            if at < 0 or len(self._buffer) < after + 2:
                self._keep(at if at >= 0 else max(0, len(self._buffer) - len(self._mark)))
                break
            self._keep(at)
            frames += self._close_part()
            tail = bytes(self._buffer[len(self._mark) : len(self._mark) + 2])
            del self._buffer[: len(self._mark)]
            self._ended = tail == b"--"
            self._part, self._size = bytearray(), 0
        if self._ended:
            self._buffer.clear()
        return frames

    def close(self, *, clean: bool) -> list[Frame]:  # noqa: ARG002 - a cut part is one either way
        size = self._size + len(self._buffer)
        begun, over = self._part is not None, self._ended
        self._part, self._ended = None, True
        if over or size <= (0 if begun else 2):  # the line end put in front of the body is ours
            return []
        reason, size = ("multipart body cut off", size) if begun else ("multipart body without its boundary", size - 2)
        return [Frame(b"", error=reason, side=self._side, size_bytes=size)]

    def _keep(self, count: int) -> None:
        if self._part is not None:
            self._part += self._buffer[: min(count, PART_CAP + HEAD_CAP - len(self._part))]
        self._size += count
        del self._buffer[:count]

    def _close_part(self) -> list[Frame]:
        if self._part is None:
            return []
        head, _, body = bytes(self._part).partition(b"\r\n\r\n")
        message = Message()
        for line in head.decode("latin-1").split("\r\n"):
            name, colon, value = line.partition(":")
            if colon:
                message[name.strip()] = value.strip()
        kind = message.get_content_type() if message["content-type"] else "text/plain"
        name = str(message.get_param("name", kind, "content-disposition"))
        if self._size > len(self._part):
            return [Frame(b"", name, error="part over the cap", side=self._side, size_bytes=self._size)]
        if kind != "application/json":
            return [Frame(body, name, side=self._side, size_bytes=self._size)]
        value, error = parse(body)
        data = body if error else value
        return [Frame(data, name, error=error and f"JSON: {error}", side=self._side, size_bytes=self._size)]


def boundary_of(content_type: str) -> str:
    message = Message()
    message["content-type"] = content_type
    return str(message.get_param("boundary", ""))


class _Multipart:
    name = "multipart"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the framing signature
        return 50 if content_type.startswith("multipart/") else 0

    def open(self, exchange: Exchange, side: Side) -> MultipartDecoder:
        head = exchange.request if side is Side.REQUEST else exchange.response
        return MultipartDecoder(side, boundary_of(head.get("content-type") if head else ""))


FRAMING = _Multipart()
