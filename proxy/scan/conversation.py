"""One recorded HTTP/1.1 connection, both directions, as the events a relay would have captured. Sans-IO.

In: bytes of either side in any split, in order per side; a response may overtake its request. Out: ``SpoolEvent``.
What cannot be followed (TLS, HTTP/2, missing packets, malformed framing) becomes one ``Opaque`` with the reason.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from proxy.exchange import Ending, Side
from proxy.relay.chunks import BadChunkError, Chunks
from proxy.relay.refusals import RefusedError
from proxy.scan.recording import Heads
from proxy.spool.events import BodyEnded, BodySeen, Ended, HeadSeen, Opaque, Opened, SpoolEvent

HEAD_CAP_BYTES = 256 << 10
_NO_BODY = {204, 304}
_OTHER = ((b"\x16\x03", "tls"), (b"PRI * HTTP/2", "http2"))


@dataclass(slots=True)
class _Body:
    """What is due of one side's message: ``left`` -1 is until the close, None is a head."""

    held: bytearray = field(default_factory=bytearray)
    left: int | None = None
    chunks: Chunks | None = None
    closed: bool = False
    seen_bytes: int = 0


@dataclass(slots=True)
class _Asked:
    number: int
    method: bytes
    sent: bool = False  # the request is whole
    answered: bool = False
    sizes: dict[Side, int] = field(default_factory=lambda: dict.fromkeys(Side, 0))


class Conversation:
    """``numbers`` gives each exchange its number; ``meta`` is what every exchange of the connection is opened with."""

    def __init__(self, writer: str, numbers: Iterator[int], meta: dict[str, Any], heads: Heads) -> None:
        self._writer, self._numbers, self._meta, self._heads = writer, numbers, meta, heads
        self._sides = {side: _Body() for side in Side}
        self._asked: deque[_Asked] = deque()  # not over, in order; the response side answers the first
        self._filling: _Asked | None = None  # whose request body is coming
        self._socket: _Asked | None = None
        self._lost: str | None = None
        self._since_ns: int | None = None

    def feed(self, side: Side, data: bytes, ns: int) -> Iterator[SpoolEvent]:
        body = self._sides[side]
        body.seen_bytes += len(data)
        self._since_ns = ns if self._since_ns is None else self._since_ns
        if self._lost is not None:
            return
        body.held += data
        yield from self._read(Side.REQUEST, ns)
        yield from self._read(Side.RESPONSE, ns)

    def end_side(self, side: Side, ns: int) -> Iterator[SpoolEvent]:
        """A FIN behind all of this side's bytes."""
        self._sides[side].closed = True
        if side is Side.RESPONSE and self._sides[side].left == -1 and (asked := self._answering) is not None:
            yield from self._whole(side, asked, ns)

    def close(self, ns: int, reason: str) -> Iterator[SpoolEvent]:
        """The connection is over, cleanly or not: what is open is cut off, unless it is a socket that was closed."""
        clean = self._socket is not None and all(b.closed for b in self._sides.values())
        for asked in self._asked:
            yield from self._cut(asked, ns, Ending.COMPLETE if clean else Ending.TRUNCATED, "" if clean else reason)
        self._asked.clear()
        if self._lost is None and any(b.held for b in self._sides.values()):
            self._lost = reason
        if self._lost is not None:
            yield self._opaque(ns)

    def lose(self, reason: str, ns: int) -> Iterator[SpoolEvent]:
        """Nothing more of this connection can be followed."""
        if self._lost is None:
            self._lost = reason
            for asked in self._asked:
                yield from self._cut(asked, ns, Ending.TRUNCATED, reason)
            self._asked.clear()
            for body in self._sides.values():
                body.held.clear()

    @property
    def _answering(self) -> _Asked | None:
        """The first that has no whole answer yet; its request may still be coming."""
        return next((a for a in self._asked if not a.answered), None)

    def _read(self, side: Side, ns: int) -> Iterator[SpoolEvent]:
        body = self._sides[side]
        while body.held and self._lost is None:
            before = len(body.held), body.left, body.chunks
            if self._socket is not None:
                yield from self._data(side, self._socket, bytes(body.held), ns)
                body.held.clear()
            elif body.left is None and body.chunks is None:
                yield from self._head(side, ns)
            else:
                yield from self._body(side, ns)
            if before == (len(body.held), body.left, body.chunks):
                return

    def _head(self, side: Side, ns: int) -> Iterator[SpoolEvent]:
        """The next head, when it is there as a whole and (a response) its request is."""
        held = self._sides[side].held
        other = next((said for start, said in _OTHER if held.startswith(start)), None)
        end = held.find(b"\r\n\r\n") + 4
        if other or len(held) > HEAD_CAP_BYTES + max(end, 0) or end > HEAD_CAP_BYTES:
            yield from self.lose(other or "head_too_large", ns)
            return
        if end < 4 or (side is Side.RESPONSE and self._answering is None):
            return
        raw = bytes(held[:end])
        del held[:end]
        try:
            yield from self._request(raw, ns) if side is Side.REQUEST else self._response(raw, ns)
        except RefusedError as error:
            yield from self.lose(f"not_http1: {error.code}", ns)

    def _request(self, raw: bytes, ns: int) -> Iterator[SpoolEvent]:
        (method, _, _, length, chunked, *_), shown, prints = self._heads.request(raw)
        asked = _Asked(next(self._numbers), method)
        self._asked.append(asked)
        self._filling = asked
        asked.sizes[Side.REQUEST] += len(raw)
        yield Opened(self._writer, asked.number, ns, {**self._meta, "wall_ns": ns})
        yield HeadSeen(self._writer, asked.number, ns, Side.REQUEST, shown, prints)
        yield from self._due(Side.REQUEST, asked, 0 if chunked else length, ns, chunked=chunked)

    def _response(self, raw: bytes, ns: int) -> Iterator[SpoolEvent]:
        asked = self._answering
        assert asked is not None
        (status, _, length, chunked, *_), shown = self._heads.response(raw)
        asked.sizes[Side.RESPONSE] += len(raw)
        yield HeadSeen(self._writer, asked.number, ns, Side.RESPONSE, shown)
        if status == 101 or (asked.method == b"CONNECT" and 200 <= status < 300):
            yield from self._switched(asked, status, ns)
        elif status >= 200:
            bodyless = asked.method == b"HEAD" or status in _NO_BODY
            chunked = chunked and not bodyless
            yield from self._due(Side.RESPONSE, asked, 0 if bodyless else length, ns, chunked=chunked)

    def _switched(self, asked: _Asked, status: int, ns: int) -> Iterator[SpoolEvent]:
        if status == 101:
            self._socket = asked
        else:
            yield from self.lose("connect_tunnel", ns)

    def _due(self, side: Side, asked: _Asked, length: int, ns: int, *, chunked: bool) -> Iterator[SpoolEvent]:
        body = self._sides[side]
        if chunked:
            body.chunks = Chunks()
        elif length == 0:
            yield from self._whole(side, asked, ns)
        else:
            body.left = length
            if length < 0 and body.closed and not body.held:
                yield from self._whole(side, asked, ns)

    def _body(self, side: Side, ns: int) -> Iterator[SpoolEvent]:
        body = self._sides[side]
        asked = self._answering if side is Side.RESPONSE else self._filling
        assert asked is not None
        data = bytes(body.held)
        if body.chunks is not None:
            parts: list[bytes] = []
            try:
                stop = body.chunks.feed(data, 0, parts)
            except BadChunkError as error:
                yield from self.lose(f"not_http1: {error}", ns)
                return
            del body.held[: stop if stop >= 0 else len(data)]
            for part in parts:
                yield from self._data(side, asked, part, ns)
            over = stop >= 0
        else:
            assert body.left is not None
            take = len(data) if body.left < 0 else min(body.left, len(data))
            del body.held[:take]
            yield from self._data(side, asked, data[:take], ns)
            body.left -= take if body.left > 0 else 0
            over = body.left == 0 or (body.left < 0 and body.closed)
        if over:
            yield from self._whole(side, asked, ns)

    def _data(self, side: Side, asked: _Asked, data: bytes, ns: int) -> Iterator[SpoolEvent]:
        asked.sizes[side] += len(data)
        yield BodySeen(self._writer, asked.number, ns, side, data)

    def _whole(self, side: Side, asked: _Asked, ns: int) -> Iterator[SpoolEvent]:
        """This side's message is complete; both sides: the exchange is over."""
        body = self._sides[side]
        body.left = body.chunks = None
        if side is Side.REQUEST:
            asked.sent, self._filling = True, None
        else:
            asked.answered = True
        yield BodyEnded(self._writer, asked.number, ns, side, Ending.COMPLETE)
        if asked.sent and asked.answered:
            self._asked.remove(asked)
            yield self._ended(asked, ns, Ending.COMPLETE, "")

    def _cut(self, asked: _Asked, ns: int, ending: Ending, reason: str) -> Iterator[SpoolEvent]:
        for side, whole in ((Side.REQUEST, asked.sent), (Side.RESPONSE, asked.answered)):
            if not whole:
                yield BodyEnded(self._writer, asked.number, ns, side, ending)
        yield self._ended(asked, ns, ending, reason)

    def _ended(self, asked: _Asked, ns: int, ending: Ending, reason: str) -> Ended:
        sizes = asked.sizes
        return Ended(self._writer, asked.number, ns, ending, sizes[Side.REQUEST], sizes[Side.RESPONSE], reason)

    def _opaque(self, ns: int) -> Opaque:
        sent, received = (self._sides[side].seen_bytes for side in (Side.REQUEST, Side.RESPONSE))
        since = ns if self._since_ns is None else self._since_ns
        host, reason = str(self._meta.get("upstream", "")), self._lost or ""
        return Opaque(self._writer, next(self._numbers), ns, host, sent, received, (ns - since) / 1e6, reason)
