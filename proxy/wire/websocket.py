"""One side of a WebSocket (RFC 6455, permessage-deflate RFC 7692): bytes after the 101 in, one Frame per message out.

Masks, fragments, control frames between fragments, context takeover. Text that is JSON is parsed; other text and
binary messages are frames as they are. ``event`` is ``close`` for the closing frame. Runs of text messages without a
mark are passed over (``gate``).
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import Any

from proxy.exchange import Exchange, Side
from proxy.wire import Frame, Mark
from proxy.wire.json_text import parse

MESSAGE_CAP = 64 << 20
_OPCODES = frozenset({0, 1, 2, 8, 9, 10})
_TAIL = b"\x00\x00\xff\xff"


_PLAIN_TEXT = 0x81  # the first byte of a whole text message that is not compressed


@dataclass(frozen=True, slots=True)
class _Message:
    """A message as it was put together; ``size``: its bytes on the wire without frame heads."""

    data: bytes
    size: int
    text: bool


class WebSocketDecoder:
    """``deflate``: permessage-deflate was agreed; ``takeover``: this side keeps its window between messages.

    ``gate``: when set, text messages that came together are counted and dropped if none of its patterns is in them.
    """

    def __init__(self, side: Side, *, deflate: bool = False, takeover: bool = True) -> None:
        self._side = side
        self._deflate = deflate
        self._takeover = takeover
        self._window = zlib.decompressobj(-15)
        self._buffer = bytearray()
        self._parts: list[bytes] = []
        self._size = 0
        self._opcode = 0
        self._squeezed = False
        self.gate: tuple[Mark, ...] = ()
        self.skipped_bytes = 0
        self._lost: str | None = None  # why nothing more is read; the bytes from there on are counted

    def feed(self, data: bytes) -> list[Frame]:
        if self._lost is not None:
            self._size += len(data)
            return []
        self._buffer += data
        if self.gate and not self._parts and self._skip():
            return []
        said: list[Frame | _Message] = []
        while self._lost is None:
            taken = self._take()
            if taken is None:
                break
            said += self._frame(*taken)
        return self._told(said)

    def _skip(self) -> bool:
        """Drop the plain unmasked text messages at the beginning of what came, when no pattern is in them."""
        buffer, at, known = self._buffer, 0, len(self._buffer)
        while known - at >= 4 and buffer[at] == _PLAIN_TEXT:
            size = buffer[at + 1]
            end = at + 2 + size if size < 126 else at + 4 + (buffer[at + 2] << 8 | buffer[at + 3])
            if size > 126 or end > known:
                break
            at = end
        if not at or any(mark.search(buffer, 0, at) for mark in self.gate):
            return False
        self.skipped_bytes += at
        del buffer[:at]
        return not buffer

    def _told(self, said: list[Frame | _Message]) -> list[Frame]:
        """The frames of what came, in order; compressed, masked or fragmented text without a mark is dropped here."""
        texts = [one for one in said if isinstance(one, _Message)]
        if self.gate and texts:
            joined = b"\n".join(one.data for one in texts)
            if not any(mark.search(joined) for mark in self.gate):
                self.skipped_bytes += sum(one.size for one in texts)
                return [one for one in said if isinstance(one, Frame)]
        return [self._text(one) if isinstance(one, _Message) else one for one in said]

    def close(self, *, clean: bool) -> list[Frame]:  # noqa: ARG002 - a cut message is one either way
        size, reason = len(self._buffer) + self._size, self._lost or "websocket message cut off"
        self._buffer.clear()
        self._parts, self._size = [], 0
        return [self._bad(reason, size)] if size else []

    def _take(self) -> tuple[int, bytes] | None:
        """(first byte, unmasked payload) of the next frame, once it is there as a whole."""
        buffer = self._buffer
        if buffer and (buffer[0] & 0x30 or buffer[0] & 0x0F not in _OPCODES):
            self._lose("websocket framing is damaged")
            return None
        if len(buffer) < 2:
            return None
        masked, size, at = buffer[1] & 0x80, buffer[1] & 0x7F, 2
        if size >= 126:
            width = 2 if size == 126 else 8
            if len(buffer) < 2 + width:
                return None
            size = int.from_bytes(buffer[2 : 2 + width], "big")
            at += width
        at += 4 if masked else 0
        if size > MESSAGE_CAP:
            self._lose("websocket frame is over the cap")
            return None
        if len(buffer) < at + size:
            return None
        payload = bytes(buffer[at : at + size])
        if masked and size:
            payload = _unmask(payload, bytes(buffer[at - 4 : at]))
        first = buffer[0]
        del buffer[: at + size]
        return first, payload

    def _frame(self, first: int, payload: bytes) -> list[Frame | _Message]:
        opcode, final = first & 0x0F, first & 0x80
        if opcode >= 8:
            code = struct.unpack(">H", payload[:2])[0] if len(payload) >= 2 else None
            return [Frame(code, "close", side=self._side, size_bytes=len(payload))] if opcode == 8 else []
        if opcode:
            self._opcode, self._squeezed, self._parts, self._size = opcode, bool(first & 0x40), [], 0
        self._parts.append(payload)
        self._size += len(payload)
        if self._size > MESSAGE_CAP:
            self._lose("websocket message is over the cap")
            return []
        return self._message() if final else []

    def _lose(self, reason: str) -> None:
        """Nothing after this can be read: what is here and what comes is counted, and said once at the end."""
        self._lost = reason
        self._size += len(self._buffer)
        self._buffer.clear()
        self._parts = []

    def _message(self) -> list[Frame | _Message]:
        data, size = b"".join(self._parts), self._size
        if self._squeezed and self._deflate:
            try:
                data = self._window.decompress(data + _TAIL, MESSAGE_CAP)
            except zlib.error:
                self._lose("permessage-deflate is damaged")
                return []
            if self._window.unconsumed_tail:
                self._lose("websocket message is over the cap")
                return []
            if not self._takeover:
                self._window = zlib.decompressobj(-15)
        self._parts, self._size = [], 0
        if self._squeezed and not self._deflate:
            return [self._bad("compressed message though none was agreed", size)]
        return [_Message(data, size, text=self._opcode == 1)]

    def _text(self, said: _Message) -> Frame:
        data, size = said.data, said.size
        if data.lstrip()[:1] not in (b"{", b"["):
            plain: Any = data.decode("utf-8", "replace") if said.text else data
            return Frame(plain, side=self._side, size_bytes=size)
        value, error = parse(data)
        if error is not None and not said.text:
            return Frame(data, side=self._side, size_bytes=size)
        value = data.decode("utf-8", "replace") if error else value
        return Frame(value, error=error and f"JSON: {error}", side=self._side, size_bytes=size)

    def _bad(self, reason: str, size: int) -> Frame:
        return Frame(b"", error=reason, side=self._side, size_bytes=size)


def _unmask(payload: bytes, key: bytes) -> bytes:
    size = len(payload)
    pad = (key * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "little") ^ int.from_bytes(pad, "little")).to_bytes(size, "little")


class _WebSocket:
    name = "websocket"

    def matches(self, exchange: Exchange, side: Side, content_type: str) -> int:  # noqa: ARG002 - the framing signature
        return 90 if exchange.websocket and exchange.response and exchange.response.status == 101 else 0

    def open(self, exchange: Exchange, side: Side) -> WebSocketDecoder:
        agreed = exchange.response.get("sec-websocket-extensions").lower() if exchange.response else ""
        ours = "client_no_context_takeover" if side is Side.REQUEST else "server_no_context_takeover"
        return WebSocketDecoder(side, deflate="permessage-deflate" in agreed, takeover=ours not in agreed)


FRAMING = _WebSocket()
