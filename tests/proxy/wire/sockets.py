"""WebSocket frames for tests: text messages as bytes of either side, compressed or in fragments when asked."""

from __future__ import annotations

import struct
import zlib

KEY = b"\x11\x22\x33\x44"


def frame(opcode: int, payload: bytes, *, masked: bool, final: bool = True, squeezed: bool = False) -> bytes:
    size = len(payload)
    head = bytes([(0x80 if final else 0) | (0x40 if squeezed else 0) | opcode])
    length = size if size < 126 else 126 if size < 1 << 16 else 127
    head += bytes([(0x80 if masked else 0) | length])
    head += struct.pack(">H", size) if length == 126 else struct.pack(">Q", size) if length == 127 else b""
    if not masked:
        return head + payload
    return head + KEY + bytes(b ^ KEY[i % 4] for i, b in enumerate(payload))


def message(payload: bytes, *, masked: bool, opcode: int = 1) -> bytes:
    return frame(opcode, payload, masked=masked)


class Deflater:
    """permessage-deflate with context takeover."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(wbits=-15)

    def message(self, payload: bytes, *, masked: bool) -> bytes:
        data = self._stream.compress(payload) + self._stream.flush(zlib.Z_SYNC_FLUSH)
        return frame(1, data[:-4], masked=masked, squeezed=True)
