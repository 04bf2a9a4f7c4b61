"""One client's connection: its transport, why it is not read, and every way it ends.

What is asked on it is ``client.py``'s business. An ending is said once, and both sides go together.
"""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

from proxy.relay.peer import peer_of
from proxy.relay.refusals import REFUSALS, answer
from proxy.relay.upstream_connection import RESET, WRITE_BUFFER_BYTES

if TYPE_CHECKING:
    from proxy.relay.core import Relay
    from proxy.relay.listener import Listener
    from proxy.relay.routes import Route
    from proxy.relay.upstream_connection import UpstreamConnection
LINGER_S = 2.0  # how long a client may still send after a last answer before it is cut
LINGER_BYTES = 8 << 20
AT_HEAD, LENGTH, CHUNKED, TUNNEL, DISCARD = range(5)  # what the bytes that come are
PIPELINED, CONNECTING, UPSTREAM_FULL = 1, 2, 4  # why reading is paused


class Connection(asyncio.Protocol):
    """``busy``: an exchange is not over; ``asked``, ``answered``: its request, its response is complete."""

    __slots__ = (
        "answered", "asked", "busy", "connection", "dead", "deadline", "dialing", "discarded", "eofs", "exchange", "fd",
        "held", "keep", "listener", "method", "mode", "opaque", "opaque_since_ns", "paused", "peer", "pending", "push",
        "relay", "route", "transport", "up", "write",
    )  # fmt: skip

    method: bytes

    def __init__(self, relay: Relay, listener: Listener) -> None:
        self.relay, self.listener, self.push = relay, listener, relay.tick.push
        self.mode, self.exchange, self.paused = AT_HEAD, 0, 0
        self.busy = self.dead = False
        self.asked = self.answered = self.keep = True
        self.up: UpstreamConnection | None = None
        self.dialing: asyncio.Task[None] | None = None
        self.route: Route | None = None
        self.held = bytearray()  # a head not yet whole, or requests that wait their turn
        self.pending: list[bytes] = []  # for an upstream that is being connected
        self.deadline: asyncio.TimerHandle | None = None
        self.eofs = 0  # of a tunnel: 1 the client's, 2 the upstream's
        self.opaque = ""  # why nobody can read this tunnel
        self.opaque_since_ns = 0

    # what the loop calls

    def connection_made(self, transport: Any) -> None:
        self.transport, self.write = transport, transport.write
        transport.set_write_buffer_limits(WRITE_BUFFER_BYTES)
        sock = transport.get_extra_info("socket")
        self.fd = sock.fileno()
        self.peer = peer_of(sock, transport.get_extra_info("peername"))
        self.connection = self.relay.arrived(self)

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

    # what the upstream's half calls

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
        (self._pause if full else self._resume)(UPSTREAM_FULL)

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
