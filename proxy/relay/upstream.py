"""The upstream's half of a pair: follows responses, captures them, hands their bytes to the client.

It says how a response ended; only a true end is passed on as one: a break mid-body never becomes a valid terminator.
"""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from typing import TYPE_CHECKING, Any

from proxy.relay.chunks import BadChunkError, Chunks
from proxy.relay.head import MAX_HEAD_BYTES, UPGRADE, response
from proxy.relay.refusals import RefusedError
from proxy.spool.format import BODY, HEAD, LAST, OVER, RESPONSE

if TYPE_CHECKING:
    from proxy.relay.client import Client

WRITE_BUFFER_BYTES = 512 << 10  # above it the other side is not read; two reads fit, so large bodies do not stutter
AT_HEAD, LENGTH, CHUNKED, UNTIL_CLOSE, TUNNEL = range(5)
_BARE_LF = re.compile(rb"(?<!\r)\n").search
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: closing sends RST
_MORE = BODY | RESPONSE
_DONE = BODY | RESPONSE | LAST
_DONE_OVER = BODY | RESPONSE | LAST | OVER


class Upstream(asyncio.Protocol):
    __slots__ = (
        "_chunks", "_client", "_eof", "_held", "_left", "_mode", "_paused", "_push", "_started", "_transport", "write",
    )  # fmt: skip

    def __init__(self, client: Client) -> None:
        self._client: Client | None = client
        self._mode = AT_HEAD
        self._held = bytearray()
        self._started = self._eof = self._paused = False  # started: bytes of a final head went to the client
        self._push = client.push
        self._left = 0
        self._chunks = Chunks()

    # what the loop (or the TLS layer) calls

    def connection_made(self, transport: Any) -> None:
        self._transport, self.write = transport, transport.write
        if self._client is None or self._client.dead:
            transport.abort()
            return
        transport.set_write_buffer_limits(WRITE_BUFFER_BYTES)
        self._client.connected(self)

    def data_received(self, data: bytes) -> None:
        c = self._client
        if c is None:
            return
        mode = self._mode
        if mode == AT_HEAD:
            self._head(c, data)
        elif mode == LENGTH:
            self._left = left = self._left - len(data)
            if left > 0:
                c.captured(_MORE, data)
                self._push(c.write, data)
            elif left == 0:
                self._last(c, data)
            else:
                self._bad(c, "extra-response-bytes")
        elif mode == CHUNKED:
            try:
                stop = self._chunks.feed(data)
            except BadChunkError as error:
                self._bad(c, str(error))
                return
            if stop < 0:
                c.captured(_MORE, data)
                self._push(c.write, data)
            elif stop == len(data):
                self._last(c, data)
            else:
                self._bad(c, "extra-response-bytes")
        else:
            c.captured(_MORE, data)
            self._push(c.write, data)

    def eof_received(self) -> bool:
        c = self._client
        self._eof = True
        if c is None:
            return False
        if self._mode == TUNNEL:
            c.tunnel_eof(from_client=False)
            return True
        if self._mode == UNTIL_CLOSE:
            self._mode = AT_HEAD
            c.keep = False
            c.answered = True
            if c.asked:
                c.relay.ended(c, "complete", "")
                c.over()
            else:
                c.ended("truncated", "early_response")
                c.shut()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        c, self._client = self._client, None
        if c is None or c.dead:
            return
        c.up = None
        if self._mode == TUNNEL:
            c.ended("truncated" if exc else "complete", "tunnel_reset" if exc else "")
            c.shut()
        elif not c.busy:
            c.shut()  # idle: mirrored
        elif c.answered:
            c.ended("truncated", "early_response")  # it answered and left before the request was whole
            c.shut()
        elif self._started:
            reason = "upstream_reset" if exc else "upstream_closed"
            c.broken(reason, "truncated", reset=self._mode == UNTIL_CLOSE)
        else:
            reason = "upstream_reset_before_response" if exc else "upstream_closed_before_response"
            c.broken(reason, "upstream_failed", reset=exc is not None)

    def pause_writing(self) -> None:
        if self._client:
            self._client.upstream_full(full=True)

    def resume_writing(self) -> None:
        if self._client:
            self._client.upstream_full(full=False)

    # what the client's half calls

    def pause(self) -> None:
        if not self._paused:
            self._paused = True
            self._transport.pause_reading()

    def resume(self) -> None:
        if self._paused:
            self._paused = False
            self._transport.resume_reading()

    def start_tunnel(self) -> None:
        """Nobody reads what comes: for the client, before anything was sent."""
        self._mode, self._started = TUNNEL, True

    def half_close(self, _: None) -> None:
        self._transport.write_eof()

    def detach(self) -> None:
        """Close in peace; what still comes is nobody's."""
        self._client = None
        self._transport.close()

    def abort(self) -> None:
        """Away at once: with unsent bytes a FIN would wait behind them, so then it is a RST."""
        self._client = None
        if self._transport.get_write_buffer_size():
            sock = self._transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self._transport.abort()

    # responses

    def _head(self, c: Client, data: bytes) -> None:
        if not c.busy or c.answered:
            self._bad(c, "unsolicited-response")
            return
        if self._held:
            data = self._joined(c, data)
            if not data:
                return
        while True:
            end = data.find(b"\r\n\r\n") + 4
            if end < 4 or end > MAX_HEAD_BYTES:
                self._partial(c, data, end)
                return
            size = len(data)
            try:
                status, keep, length, chunked, secrets, low = response(data if end == size else data[:end])
            except RefusedError as error:
                self._bad(c, error.code)
                return
            if status >= 200:
                break
            if status == 101:
                self._switch(c, data, end, low, secrets)
                return
            self._emit(c, HEAD | RESPONSE, data[:end], end, low, secrets)
            if end == size:
                return
            data = data[end:]
        if not keep:
            c.keep = False
        if c.method == b"HEAD" or status in {204, 304}:
            length, chunked = 0, False
        kind = self._framed(c, data, end, length, chunked=chunked)
        if not kind:
            return
        self._started = True
        self._emit(c, kind, data, end, low, secrets)
        if kind & LAST:
            self._ended(c)

    def _joined(self, c: Client, data: bytes) -> bytes:
        """What was held of a head, with ``data`` behind it; nothing while the head is not whole."""
        seen = max(len(self._held) - 3, 0)
        self._held += data
        if self._held.find(b"\r\n\r\n", seen) < 0:
            if len(self._held) > MAX_HEAD_BYTES or _BARE_LF(self._held, seen):
                self._bad(c, "response-head")
            return b""
        whole = bytes(self._held)
        self._held.clear()
        return whole

    def _framed(self, c: Client, data: bytes, end: int, length: int, *, chunked: bool) -> int:
        """How the body behind a final head is framed (RFC 9112 6.3), and its first bytes: the entry's kind; 0: bad."""
        rest = len(data) - end
        kind = HEAD | BODY | RESPONSE
        whole = kind | LAST | (OVER if c.asked else 0)
        if chunked:
            try:
                self._chunks = Chunks()
                stop = self._chunks.feed(data, end)
            except BadChunkError as error:
                self._bad(c, str(error))
                return 0
            if stop == len(data):
                return whole
            if stop >= 0:
                self._bad(c, "extra-response-bytes")
                return 0
            self._mode = CHUNKED
        elif length < 0:
            self._mode = UNTIL_CLOSE
            c.keep = False
        elif rest < length:
            self._mode, self._left = LENGTH, length - rest
        elif rest > length:
            self._bad(c, "extra-response-bytes")
            return 0
        else:
            return whole
        return kind

    def _emit(self, c: Client, kind: int, data: bytes, end: int, low: bytes, secrets: list[bytes]) -> None:  # noqa: PLR0917 - the hot path
        """A head, with the body bytes behind it, to the spool and to the client."""
        relay = c.relay
        if secrets:
            shown, prints = c.blanker.blank(data, 0, low, secrets)
            relay.spool.add_head(c.exchange, kind, b"", prints, end, shown)
        else:
            relay.spool.add_head(c.exchange, kind, b"", b"", end, data)
        self._push(c.write, data)

    def _last(self, c: Client, data: bytes) -> None:
        """The response's last bytes."""
        c.captured(_DONE_OVER if c.asked else _DONE, data)
        self._push(c.write, data)
        self._ended(c)

    def _ended(self, c: Client) -> None:
        """The response is complete and captured."""
        self._mode, self._started = AT_HEAD, False
        c.answered = True
        if c.asked:
            c.over()
        elif not c.keep:
            c.ended("truncated", "early_response")
            c.shut()

    def _partial(self, c: Client, data: bytes, end: int) -> None:
        if end > MAX_HEAD_BYTES or len(data) > MAX_HEAD_BYTES or _BARE_LF(data):
            self._bad(c, "response-head")
        else:
            self._held += data

    def _switch(self, c: Client, data: bytes, end: int, low: bytes, secrets: list[bytes]) -> None:
        """101: from here on a tunnel, captured as it is when it is a WebSocket."""
        if not c.flags & UPGRADE or not c.asked:
            self._bad(c, "unsolicited-upgrade")
            return
        self._mode, self._started = TUNNEL, True
        websocket = b"\nupgrade: websocket\r" in low or b"\nupgrade:websocket\r" in low
        self._emit(c, HEAD | BODY | RESPONSE, data, end, low, secrets)
        c.tunnel("" if websocket else "upgraded_to_another_protocol")

    def _bad(self, c: Client, code: str) -> None:
        """The upstream said what cannot be followed: nothing more of it reaches the client."""
        c.relay.slot.upstream_failures += 1
        if self._started or not c.busy or c.answered:
            c.relay.refused(c, code, 502)
            c.broken(code, "truncated", reset=self._mode == UNTIL_CLOSE or not c.busy)
        else:
            c.refuse("response-head")
