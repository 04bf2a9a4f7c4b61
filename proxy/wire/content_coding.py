"""Content-Encoding undone, in any split: gzip, deflate (zlib or raw), br, zstd, and stacks of them.

Several gzip members or zstd frames in a row are one body (a server may flush one per event). Capped in size and
ratio. What is wrong (a wrong label, damage, an unknown coding, the cap) is a reason, kept in ``problem``; the bytes
after it are only counted.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable
from typing import Any, Protocol

import brotli
import zstandard

SIZE_CAP = 64 << 20
RATIO_CAP = 100
RATIO_FLOOR = 8 << 20  # small bodies of zeros are nobody's attack
PIECE = 512  # zstd input per step: it cannot be told how much to give, and 4 bytes may hold 128 KiB
KEPT = 32 << 10  # coded bytes kept, so that what stands before damage is read wherever the bytes were cut
STEP = 64 << 10  # output per step, so that the cap is seen before memory is spent


_ERRORS = (zlib.error, brotli.error, zstandard.ZstdError)


class _Coding(Protocol):
    def feed(self, data: bytes, room: int) -> bytes: ...
    def finished(self) -> bool: ...


class _Zlib:
    """gzip (16+) and deflate; deflate is zlib by RFC 9110 and raw by habit, so the first bytes decide."""

    def __init__(self, wbits: int) -> None:
        self._wbits = wbits
        self._stream = zlib.decompressobj(wbits)
        self._started = False
        self._head = b""

    def feed(self, data: bytes, room: int) -> bytes:
        if self._wbits == zlib.MAX_WBITS and not self._started:
            self._head += data
            if len(self._head) < 2:
                return b""
            data, self._head = self._head, b""
            if (data[0] & 15) != 8 or ((data[0] << 8) | data[1]) % 31:
                self._wbits = -zlib.MAX_WBITS
                self._stream = zlib.decompressobj(self._wbits)
        self._started = self._started or bool(data)
        out = bytearray()
        while data and len(out) <= room:
            if self._stream.eof:  # another member follows; zero padding after the last one is legal
                data = data.lstrip(b"\0")
                if not data:
                    break
                self._stream = zlib.decompressobj(self._wbits)
            out += self._stream.decompress(data, STEP)
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
        return bytes(out)

    def finished(self) -> bool:
        return self._stream.eof or not self._started


class _Brotli:
    def __init__(self) -> None:
        self._stream: Any = brotli.Decompressor()
        self._started = False

    def feed(self, data: bytes, room: int) -> bytes:
        self._started = self._started or bool(data)
        out = bytearray(self._stream.process(data, output_buffer_limit=STEP))
        while not self._stream.can_accept_more_data() and len(out) <= room:
            out += self._stream.process(b"", output_buffer_limit=STEP)
        return bytes(out)

    def finished(self) -> bool:
        return bool(self._stream.is_finished()) or not self._started


class _Zstd:
    """Frames in a row; the window is capped at 8 MiB, what RFC 9659 lets a server use."""

    def __init__(self) -> None:
        self._open: Any = None
        self._started = False

    def feed(self, data: bytes, room: int) -> bytes:
        out = bytearray()
        while data and len(out) <= room:
            if self._open is None:
                self._open = zstandard.ZstdDecompressor(max_window_size=8 << 20).decompressobj()
                self._started = True
                out += self._open.decompress(
                    data[:1]
                )  # a frame given whole is read by other code, that minds other things
                data = data[1:]
                continue
            piece, data = data[:PIECE], data[PIECE:]
            out += self._open.decompress(piece)
            if self._open.eof:
                data = self._open.unused_data + data
                self._open = None
        return bytes(out)

    def finished(self) -> bool:
        return self._open is None


_CODINGS: dict[str, Callable[[], _Coding]] = {
    "gzip": lambda: _Zlib(16 + zlib.MAX_WBITS),
    "x-gzip": lambda: _Zlib(16 + zlib.MAX_WBITS),
    "deflate": lambda: _Zlib(zlib.MAX_WBITS),
    "br": _Brotli,
    "zstd": _Zstd,
}


class _Kept:
    """A coding that gives what stands before the damage: its libraries drop the output of the call that fails."""

    def __init__(self, make: Callable[[], _Coding]) -> None:
        self._make, self._coding = make, make()
        self._seen = bytearray()  # what was fed, while it is short enough to be fed again
        self._given = 0

    def feed(self, data: bytes, room: int) -> tuple[bytes, bool]:
        """What it decodes to, and whether the coding is damaged there."""
        if len(self._seen) <= KEPT:
            self._seen += data
        try:
            out = self._coding.feed(data, room)
        except _ERRORS:
            return self._before_damage(room), True
        self._given += len(out)
        return out, False

    def finished(self) -> bool:
        return self._coding.finished()

    def _before_damage(self, room: int) -> bytes:
        """Byte by byte. What the library says of the damage depends on the call that met it: nobody is told."""
        if len(self._seen) > KEPT:
            return b""
        again, out = self._make(), bytearray()
        with contextlib.suppress(*_ERRORS):
            for at in range(len(self._seen)):
                out += again.feed(bytes(self._seen[at : at + 1]), room + self._given)
        return bytes(out[self._given :])


class ContentDecoder:
    """``feed`` encoded bytes, get plain ones; ``problem`` says why nothing more comes."""

    def __init__(self, encoding: str) -> None:
        names = [n for n in (part.strip().lower() for part in encoding.split(",")) if n and n != "identity"]
        unknown = [n for n in names if n not in _CODINGS]
        self.problem: str | None = f"content-encoding {unknown[0][:40]} is not known" if unknown else None
        self._chain = [] if unknown else [(n, _Kept(_CODINGS[n])) for n in reversed(names)]
        self.bytes_in = 0
        self.bytes_out = 0

    def feed(self, data: bytes) -> bytes:
        self.bytes_in += len(data)
        if self.problem is not None:
            return b""
        for name, coding in self._chain:
            data, damaged = coding.feed(data, self._room())
            if damaged:  # of several layers the innermost met damage first
                self.problem = f"body is not {name} as labelled"
        if self.bytes_out + len(data) > self._limit():
            self.problem = f"decoded body is over the cap ({SIZE_CAP >> 20} MiB, ratio {RATIO_CAP})"
            data = data[: self._room()]
        self.bytes_out += len(data)
        return data

    def close(self) -> str | None:
        """The problem, also when the coded body stopped before its end."""
        if self.problem is None:
            self.problem = next((f"{n} body stopped before its end" for n, c in self._chain if not c.finished()), None)
        return self.problem

    def _limit(self) -> int:
        return min(SIZE_CAP, max(RATIO_FLOOR, self.bytes_in * RATIO_CAP)) if self._chain else SIZE_CAP

    def _room(self) -> int:
        return self._limit() - self.bytes_out
