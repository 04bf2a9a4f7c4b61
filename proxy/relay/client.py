"""The client's half of a pair: follows requests, captures them, hands their bytes to the pinned upstream.

One read that is one whole request is the fast path: one check, one capture, one write, no object made. Everything else
(split heads, bodies in parts, pipelining, connecting, tunnels) goes through the same few methods, slower.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from proxy.relay.chunks import BadChunkError, Chunks
from proxy.relay.connection import (
    AT_HEAD,
    CHUNKED,
    CONNECTING,
    DISCARD,
    LENGTH,
    LINGER_BYTES,
    PIPELINED,
    TUNNEL,
    Connection,
)
from proxy.relay.head import MAX_HEAD_BYTES, ORIGIN, request
from proxy.relay.refusals import REFUSALS, RefusedError
from proxy.relay.rewriting import rewritten
from proxy.relay.routes import asked_of
from proxy.relay.secrets import Blanker
from proxy.spool.format import BODY, HEAD, LAST, OPEN, OVER
from proxy.spool.writer import open_section

if TYPE_CHECKING:
    from proxy.relay.core import Relay
    from proxy.relay.listener import Listener
    from proxy.relay.routes import Place, Route
    from proxy.relay.upstream_connection import UpstreamConnection

CAPTURE_CAP_BYTES = 64 << 20  # per exchange; forwarding goes on
_ASK = OPEN | HEAD | BODY
_ASK_WHOLE = OPEN | HEAD | BODY | LAST
_BARE_LF = re.compile(rb"(?<!\r)\n").search


class Client(Connection):
    blind = False  # a tunnel that nobody reads: it takes the way out that https takes

    __slots__ = ("add", "blanker", "chunks", "flags", "left", "objective", "place", "room", "section", "target")

    def __init__(self, relay: Relay, listener: Listener) -> None:
        super().__init__(relay, listener)
        self.blanker = Blanker(relay.key)
        self.add = relay.spool.add
        self.objective: str | None = None
        self.target: bytes | None = None

    # what the loop calls

    def data_received(self, data: bytes) -> None:
        if self.mode == AT_HEAD:
            if self.busy or self.held:
                self._more(data)
            else:
                self._head(data)
        elif self.mode == DISCARD:
            self.discarded += len(data)
            if self.discarded > LINGER_BYTES:
                self._cut(reset=False)
        else:
            self._body(data)

    # requests

    def _head(self, data: bytes) -> None:
        """``data`` begins with a head."""
        end = data.find(b"\r\n\r\n") + 4
        size = len(data)
        if end < 4 or end > MAX_HEAD_BYTES:
            self._partial(data, end)
            return
        try:
            method, target, keep, length, chunked, secrets, flags, low = request(data if end == size else data[:end])
            if target != self.target:
                self._place(method, target)
            place = self.place
            if flags & ORIGIN:
                self.listener.check_host(low, place.route)
            surplus = b""
            due = length - size + end
            if chunked or due < 0:
                data, surplus, due = self._first(data, end, due, chunked=chunked)
        except RefusedError as error:
            self.refuse(error.code)
            return
        except BadChunkError as error:
            self.refuse(str(error))
            return
        sent, end = rewritten(data, end, method, target, low, place)
        if not keep:
            self.keep = False
        self.method, self.flags = method, flags
        self.busy, self.answered, self.asked = True, False, not due
        relay = self.relay
        relay.exchange = self.exchange = exchange = relay.exchange + 1
        route = place.route
        if route is not self.route or place.objective != self.objective:
            self._bind(place)
        shown: bytes | bytearray = sent
        prints = b""
        if secrets or b"?" in place.target:
            shown, prints = self.blanker.blank(sent, end, sent[:end].lower(), secrets)
        self.room = CAPTURE_CAP_BYTES - len(sent)
        relay.spool.add_head(exchange, _ASK_WHOLE if self.asked else _ASK, self.section, prints, end, shown)
        if surplus:
            self.held += surplus
            self._pause(PIPELINED)
        if not self.asked:
            self.mode = CHUNKED if chunked else LENGTH
            self.left = due
        up = self.up
        if up is not None:
            self.push(up.write, sent)
        else:
            self._dial(sent, route)

    def _first(self, data: bytes, end: int, due: int, *, chunked: bool) -> tuple[bytes, bytes, int]:
        """A head with more than its own body behind it, or with chunks: the request's bytes, the rest, what is due.

        ``due`` is 0 when the request is whole, below 0 when only its chunks say where it ends.
        """
        if chunked:
            self.chunks = Chunks()
            stop = self.chunks.feed(data, end)
            return (data, b"", -1) if stop < 0 else (data[:stop], data[stop:], 0)
        return data[:due], data[due:], 0

    def _dial(self, sent: bytes, route: Route) -> None:
        self.pending.append(sent)
        self._pause(CONNECTING)
        self.relay.tick.arm()
        self.relay.dial(self, route)

    def _place(self, method: bytes, target: bytes) -> None:
        if method == b"CONNECT":
            raise RefusedError("connect")
        place = self.listener.routes.find(target)
        self.place, self.target = asked_of(method, target, place)

    def _bind(self, place: Place) -> None:
        """Another route or objective than the exchange before: its open section, and its own upstream."""
        if self.up is not None and place.route is not self.route:
            self.up.detach()
            self.up = None
        self.route, self.objective = place.route, place.objective
        meta: dict[str, object] = {
            "listener": self.listener.name,
            "route": place.route.name,
            "upstream": place.route.upstream,
            "objective": place.objective,
            "peer": self.peer,
            "connection": self.connection,
            "mode": self.listener.mode,
        }
        self.section = open_section(meta)

    def _partial(self, data: bytes, end: int) -> None:
        """A head that is not whole yet, or too large."""
        if end > MAX_HEAD_BYTES or len(data) > MAX_HEAD_BYTES:
            self.refuse("head-too-large")
            return
        if not data:
            return
        if _BARE_LF(data):
            self.refuse("bare-cr-lf-nul")
            return
        self.held = bytearray(data)
        if self.deadline is None:
            self.deadline = self.relay.loop.call_later(self.relay.head_s, self._late)

    def _more(self, data: bytes) -> None:
        """More of a head that was not whole, or a request that has to wait for the one before."""
        seen = max(len(self.held) - 3, 0)
        self.held += data
        if self.busy:
            self._pause(PIPELINED)
        elif self.held.find(b"\r\n\r\n", seen) >= 0:
            self._next()
        elif _BARE_LF(self.held, seen):
            self.refuse("bare-cr-lf-nul")  # its end would never come
        elif len(self.held) > MAX_HEAD_BYTES:
            self.refuse("head-too-large")

    def _next(self) -> None:
        """Take up what is held."""
        data = bytes(self.held)
        self.held.clear()
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None
        self._resume(PIPELINED)
        self._head(data)

    def _late(self) -> None:
        self.deadline = None
        if self.held and not self.busy and not self.dead:
            self.refuse("head-timeout")

    def _body(self, data: bytes) -> None:
        """More of a request body, or of a tunnel."""
        surplus = b""
        kind = BODY
        if self.mode == LENGTH:
            self.left -= len(data)
            if self.left <= 0:
                kind = BODY | LAST
                if self.left:
                    surplus, data = data[self.left :], data[: self.left]
        elif self.mode == CHUNKED:
            try:
                stop = self.chunks.feed(data)
            except BadChunkError as error:
                self._malformed(str(error))
                return
            if stop >= 0:
                kind = BODY | LAST
                if stop < len(data):
                    surplus, data = data[stop:], data[:stop]
        if kind & LAST:
            self.mode, self.asked = AT_HEAD, True
            if self.answered:
                kind |= OVER
        self.captured(kind, data)
        if self.up is not None:
            self.push(self.up.write, data)
        else:
            self.pending.append(data)
            self.relay.tick.arm()
        if surplus:
            self.held += surplus
            self._pause(PIPELINED)
        if kind & OVER:
            self.over()

    def captured(self, kind: int, data: bytes) -> None:
        """Body bytes of either side into the spool, up to the exchange's cap."""
        self.room -= len(data)
        if self.room < 0:
            self.relay.spool.lose(self.exchange, "capture_cap")
            self.room = 1 << 62
        self.add(self.exchange, kind, data)

    # what the upstream's half calls

    def connected(self, up: UpstreamConnection) -> None:
        self.up, self.dialing = up, None
        for data in self.pending:
            self.push(up.write, data)
        self.pending.clear()
        self._resume(CONNECTING)

    def over(self) -> None:
        """Both sides are complete and captured."""
        self.busy, self.exchange = False, 0
        if not self.keep or self.relay.draining:
            self.shut()
        elif self.held:
            self._next()

    def tunnel(self, opaque: str) -> None:
        """The upstream switched protocols. What the client sent ahead of the answer goes on now."""
        self.mode, self.opaque = TUNNEL, opaque
        if opaque:
            self.opaque_since_ns = time.monotonic_ns()
            self.relay.spool.lose(self.exchange, opaque, told=True)
        if self.held:
            data = bytes(self.held)
            self.held.clear()
            self._body(data)
        self._resume(PIPELINED)

    def _malformed(self, code: str) -> None:
        """Bad framing behind bytes that were forwarded: nothing true can be answered, so both sides are cut."""
        self.relay.refused(self, code, REFUSALS[code][0])
        self.broken(code, "refused", reset=True)
