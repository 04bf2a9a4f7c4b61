"""The upstream's half of a pair: follows responses, captures them, hands their bytes to the client.

It says how a response ended. How the connection ends is ``upstream_connection.py``'s business.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from proxy.relay.chunks import BadChunkError, Chunks
from proxy.relay.head import MAX_HEAD_BYTES, UPGRADE, response
from proxy.relay.refusals import RefusedError
from proxy.relay.upstream_connection import AT_HEAD, CHUNKED, LENGTH, TUNNEL, UNTIL_CLOSE, UpstreamConnection
from proxy.spool.format import BODY, HEAD, LAST, OVER, RESPONSE

if TYPE_CHECKING:
    from proxy.relay.client import Client
_BARE_LF = re.compile(rb"(?<!\r)\n").search
_MORE = BODY | RESPONSE
_DONE = BODY | RESPONSE | LAST
_DONE_OVER = BODY | RESPONSE | LAST | OVER


class Upstream(UpstreamConnection):
    __slots__ = ("_chunks", "_held", "_left")

    def __init__(self, client: Client) -> None:
        super().__init__(client)
        self._held = bytearray()
        self._left = 0
        self._chunks = Chunks()

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
