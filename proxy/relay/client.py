"""The client's half of a pair: follows requests, captures them, hands their bytes to the pinned upstream.

One read that is one whole request is the fast path: one check, one capture, one write, no object made. Everything else
(split heads, bodies in parts, pipelining, connecting, tunnels) goes through the same few methods, slower.
"""

from __future__ import annotations

import asyncio
import re
import socket
import time
from typing import TYPE_CHECKING, Any

from proxy.relay.chunks import BadChunkError, Chunks
from proxy.relay.head import MAX_HEAD_BYTES, ORIGIN, request
from proxy.relay.peer import peer_of
from proxy.relay.refusals import REFUSALS, RefusedError, answer
from proxy.relay.rewriting import rewritten
from proxy.relay.routes import asked_of
from proxy.relay.secrets import Blanker
from proxy.relay.upstream import RESET, WRITE_BUFFER_BYTES
from proxy.spool.format import BODY, HEAD, LAST, OPEN, OVER
from proxy.spool.writer import open_section

if TYPE_CHECKING:
    from proxy.relay.core import Relay
    from proxy.relay.listener import Listener
    from proxy.relay.routes import Place, Route
    from proxy.relay.upstream import Upstream

CAPTURE_CAP_BYTES = 64 << 20  # per exchange; forwarding goes on
LINGER_S = 2.0  # how long a client may still send after a last answer before it is cut
LINGER_BYTES = 8 << 20
AT_HEAD, LENGTH, CHUNKED, TUNNEL, DISCARD = range(5)
_PIPELINED, _CONNECTING, _UPSTREAM_FULL = 1, 2, 4  # why reading is paused
_ASK = OPEN | HEAD | BODY
_ASK_WHOLE = OPEN | HEAD | BODY | LAST
_BARE_LF = re.compile(rb"(?<!\r)\n").search


class Client(asyncio.Protocol):
    blind = False  # a tunnel that nobody reads: it takes the way out that https takes

    __slots__ = (
        "add", "answered", "asked", "blanker", "busy", "chunks", "connection", "dead", "deadline", "dialing",
        "discarded", "eofs", "exchange", "fd", "flags", "held", "keep", "left", "listener", "method", "mode",
        "objective", "opaque", "opaque_since_ns", "paused", "peer", "pending", "place", "push", "relay", "room",
        "route", "section", "target", "transport", "up", "write",
    )  # fmt: skip

    def __init__(self, relay: Relay, listener: Listener) -> None:
        self.relay, self.listener = relay, listener
        self.blanker = Blanker(relay.key)
        self.push, self.add = relay.tick.push, relay.spool.add
        self.mode, self.exchange, self.paused = AT_HEAD, 0, 0
        self.busy = self.dead = False  # busy: an exchange is not over
        self.asked = self.answered = True  # request complete, response complete
        self.keep = True
        self.up: Upstream | None = None
        self.dialing: asyncio.Task[None] | None = None
        self.route: Route | None = None
        self.objective: str | None = None
        self.held = bytearray()  # a head not yet whole, or requests that wait their turn
        self.pending: list[bytes] = []  # for an upstream that is being connected
        self.deadline: asyncio.TimerHandle | None = None
        self.target: bytes | None = None
        self.eofs = 0  # of a tunnel: 1 the client's, 2 the upstream's
        self.opaque = ""  # why nobody can read this tunnel

    # what the loop calls

    def connection_made(self, transport: Any) -> None:
        self.transport, self.write = transport, transport.write
        transport.set_write_buffer_limits(WRITE_BUFFER_BYTES)
        sock = transport.get_extra_info("socket")
        self.fd = sock.fileno()
        self.peer = peer_of(sock, transport.get_extra_info("peername"))
        self.connection = self.relay.arrived(self)

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

    def eof_received(self) -> bool:
        if self.mode == TUNNEL and self.up:
            self.tunnel_eof(from_client=True)
            return True
        return False

    def connection_lost(self, _exc: Exception | None) -> None:
        self.relay.left(self)
        self.gone()

    def pause_writing(self) -> None:
        if self.up:
            self.up.pause()

    def resume_writing(self) -> None:
        if self.up:
            self.up.resume()

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
            if chunked:
                self.chunks = Chunks()
                stop = self.chunks.feed(data, end)
                due = -1 if stop < 0 else 0
                if 0 <= stop < size:
                    surplus, data = data[stop:], data[:stop]
            else:
                due = length - size + end
                if due < 0:
                    surplus, data = data[due:], data[:due]
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
        self.busy, self.answered, self.asked = True, False, due <= 0 and not (chunked and due)
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
            self._pause(_PIPELINED)
        if not self.asked:
            self.mode = CHUNKED if chunked else LENGTH
            self.left = due
        up = self.up
        if up is not None:
            self.push(up.write, sent)
        else:
            self.pending.append(sent)
            self._pause(_CONNECTING)
            relay.tick.arm()
            relay.dial(self, route)

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
            self._pause(_PIPELINED)
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
        self._resume(_PIPELINED)
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
            self._pause(_PIPELINED)
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

    def connected(self, up: Upstream) -> None:
        self.up, self.dialing = up, None
        for data in self.pending:
            self.push(up.write, data)
        self.pending.clear()
        self._resume(_CONNECTING)

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
        self._resume(_PIPELINED)

    def tunnel_eof(self, *, from_client: bool) -> None:
        """One side of a tunnel said its last; the other may still speak. Both: it is over."""
        self.eofs |= 1 if from_client else 2
        if from_client and self.up:
            self.push(self.up.half_close, None)
        elif not from_client:
            self.push(self._finish, None)
        if self.eofs == 3:
            self.ended("complete", "")
            self.shut()

    def upstream_full(self, *, full: bool) -> None:
        (self._pause if full else self._resume)(_UPSTREAM_FULL)

    # endings

    def shut(self) -> None:
        """Close both sides once what was sent is out."""
        # the client still sends, or is about to: closing could reset the answer away, and FIN is out a tick sooner
        if not self.asked or self.relay.draining:
            self._linger()
            return
        self.mode, self.discarded = DISCARD, 0
        self.push(self._close, None)

    def ended(self, ending: str, reason: str) -> None:
        """The open exchange, if any, ends otherwise than complete."""
        if self.busy:
            self.busy = False
            self.relay.ended(self, ending, reason)
            self.exchange = 0

    def refuse(self, code: str) -> None:
        """A typed answer of our own, a record, and the end of this connection."""
        if self.dead:
            return
        status = REFUSALS[code][0]
        bodyless = self.busy and self.method == b"HEAD"
        self.relay.refused(self, code, status)
        self.ended("upstream_failed" if code.startswith("upstream") else "refused", code)
        self.push(self.write, answer(code, body=not bodyless))
        self._linger()

    def broken(self, reason: str, ending: str, *, reset: bool) -> None:
        """The upstream is gone mid-exchange. The client sees no valid end: FIN inside a framed body, else RST."""
        self.ended(ending, reason)
        self._drop_upstream()
        self.mode, self.discarded = DISCARD, 0
        self.push(self._reset if reset else self._close, None)

    def gone(self) -> None:
        """The client left, in whatever phase: its upstream goes with it."""
        if self.dead:
            return
        self.dead = True
        if self.deadline is not None:
            self.deadline.cancel()
        self.relay.watch.drop(self.fd)
        self.ended("client_gone", "client_gone")
        self.relay.tick.arm()
        self._drop_upstream()
        self.transport.abort()

    def _malformed(self, code: str) -> None:
        """Bad framing behind bytes that were forwarded: nothing true can be answered, so both sides are cut."""
        self.relay.refused(self, code, REFUSALS[code][0])
        self.broken(code, "refused", reset=True)

    def _drop_upstream(self) -> None:
        if self.dialing is not None:
            self.dialing.cancel()
            self.dialing = None
        self.pending.clear()
        if self.up is not None:
            self.up.abort()
            self.up = None

    def _linger(self) -> None:
        """A last answer while the client may still be sending: FIN, then read and discard for a moment."""
        self.mode, self.discarded, self.asked = DISCARD, 0, True
        self.held.clear()
        self._drop_upstream()
        self.push(self._finish, None)
        self.relay.loop.call_later(LINGER_S, self._close, None)
        self._resume(self.paused)

    def _finish(self, _: None) -> None:
        if not self.dead and self.transport.can_write_eof():
            self.transport.write_eof()

    def _close(self, _: None) -> None:
        if self.dead:
            return
        if self.up is not None:
            self.up.detach()
            self.up = None
        self.transport.close()

    def _reset(self, _: None) -> None:
        self._cut(reset=True)

    def _cut(self, *, reset: bool) -> None:
        if self.dead:
            return
        if reset:
            self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        self.transport.abort()

    # pausing

    def _pause(self, why: int) -> None:
        if not self.paused and not self.dead:
            self.transport.pause_reading()
            self.relay.watch.add(self.fd, self.gone)
        self.paused |= why

    def _resume(self, why: int) -> None:
        if self.paused and not self.dead:
            self.paused &= ~why
            if not self.paused:
                self.relay.watch.drop(self.fd)
                self.transport.resume_reading()
