"""What is inside a CONNECT: looked into, its TLS ended here with a minted certificate, or a blind tunnel.

Looked into, it is a client like any other from then on, its heads unedited. Whatever stands in the way (not listed, no
authority, HTTP/2 only, another name than CONNECT said, a client that rejects the certificate) makes it a blind tunnel
with an ``opaque_flow`` record.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from typing import TYPE_CHECKING, Any

from proxy.relay.client import CAPTURE_CAP_BYTES, Client
from proxy.relay.connection import CONNECTING, DISCARD
from proxy.relay.head import request
from proxy.relay.hello import Hello, NotHelloError, client_hello
from proxy.relay.refusals import REFUSALS, RefusedError
from proxy.relay.routes import Place, Route
from proxy.relay.tls import Tls
from proxy.spool.format import BODY, HEAD, OPEN

if TYPE_CHECKING:
    from proxy.relay.core import Relay
    from proxy.relay.forward import ForwardListener
    from proxy.relay.upstream_connection import UpstreamConnection
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"
PROXY, HELLO, DIALLING, SHAKING, INSIDE, BLIND = range(6)
_PLAIN_HTTP = re.compile(rb"(?!PRI )[A-Z]{3,20} (?:/|\*|http)").match  # PRI: HTTP/2 without TLS


class TunnelClient(Client):
    """``phase`` says what the bytes of the client are; everything inside a CONNECT is INSIDE or BLIND."""

    __slots__ = (
        "ahead", "bound", "connect_head", "host", "phase", "port", "said_hello", "since_ns", "timer", "told", "why",
    )  # fmt: skip

    listener: ForwardListener
    host: str  # where the CONNECT goes
    port: int

    def __init__(self, relay: Relay, listener: ForwardListener) -> None:
        super().__init__(relay, listener)
        self.phase = PROXY
        self.ahead = bytearray()  # of a CONNECT, before it is known what it is
        self.bound: str | None = None  # objective segment, given as the proxy's user name
        self.connect_head = b""
        self.told = False  # 200 was said
        self.why = ""
        self.said_hello: Hello | None = None
        self.timer: asyncio.TimerHandle | None = None

    # what the loop (or the TLS layer) calls

    @property
    def blind(self) -> bool:  # type: ignore[override]  # the plain client's never changes
        return self.phase == BLIND

    def connection_made(self, transport: Any) -> None:
        if self.phase != SHAKING:
            super().connection_made(transport)
            return
        self._clock(None)
        self.phase = INSIDE
        self.transport, self.write = transport, transport.write

    def data_received(self, data: bytes) -> None:
        if self.phase == HELLO and self.mode != DISCARD:
            self._ahead(data)
        elif self.phase == DIALLING and self.mode != DISCARD:
            self.ahead += data  # read before the pause took effect
        else:
            super().data_received(data)

    # the first bytes

    def _ahead(self, data: bytes) -> None:
        """The first bytes behind a CONNECT to a listed host."""
        self.ahead += data
        try:
            hello = client_hello(self.ahead)
        except NotHelloError:
            if _PLAIN_HTTP(self.ahead):
                self._plain()
            elif len(self.ahead) >= 24 or not self.ahead.isascii() or b"\n" in self.ahead:
                self._blind("not_tls")
            return
        if hello is None:
            return
        why = self.listener.unreadable(self.host, hello)
        if why:
            self._blind(why)
            return
        self.said_hello = hello
        self.phase = DIALLING
        self._clock(self.listener.shake_anyway_s, self._shake)
        self._pause(CONNECTING)
        route = self._route(tls=True)
        self._bind(Place(route, b"", self.bound))
        self.relay.dial(self, route)

    def _plain(self) -> None:
        """HTTP without TLS inside a CONNECT: some clients tunnel everything."""
        self._clock(None)
        self.phase = INSIDE
        self._bind(Place(self._route(tls=False), b"", self.bound))
        data = bytes(self.ahead)
        self.ahead.clear()
        super().data_received(data)

    def _route(self, *, tls: bool) -> Route:
        return self.listener.routes.to(self.host, self.port, tls=tls)

    def _silent(self) -> None:
        self._blind("no_client_hello")

    def _place(self, method: bytes, target: bytes) -> None:
        """A request inside: it goes where the CONNECT went."""
        if method == b"CONNECT":
            raise RefusedError("connect")
        assert self.route
        self.place, self.target = Place(self.route, target, self.bound), target

    # the client's TLS

    def _shake(self) -> None:
        """End the client's TLS here."""
        listener = self.listener
        assert listener.mint
        try:
            context = listener.mint.context(self.host)
        except (ssl.SSLError, ValueError, OSError):
            self._drop_upstream()
            self._blind("mint_failed")
            return
        self.phase = SHAKING
        self.since_ns = time.monotonic_ns()
        self._clock(self.relay.head_s, self._slow)
        tls = Tls(self, context, None)
        tls.ready.add_done_callback(self._shaken)
        self.transport.set_protocol(tls)
        tls.connection_made(self.transport)
        data = bytes(self.ahead)
        self.ahead.clear()
        self._resume(CONNECTING)
        tls.data_received(data)

    def _slow(self) -> None:
        self.relay.unshaken(self, f"{self.host}:{self.port}", "handshake_slow")
        self.gone()

    def _shaken(self, ready: asyncio.Future[None]) -> None:
        error = ready.exception()
        if error is None:
            return
        if not self.dead:
            refused = isinstance(error, ssl.SSLError)
            assert self.said_hello
            if refused:
                self.listener.rejected(self.host, self.said_hello)
            self.relay.unshaken(self, f"{self.host}:{self.port}", "client_rejected_ca" if refused else "handshake_cut")
        self.connection_lost(error if isinstance(error, Exception) else None)

    # blind tunnels

    def _blind(self, why: str) -> None:
        """An exchange whose only part that anybody reads is the CONNECT."""
        self._clock(None)
        self.phase, self.why = BLIND, why
        route = self._route(tls=False)
        self._bind(Place(route, b"", self.bound))
        self.busy, self.answered, self.asked = True, False, True
        relay = self.relay
        relay.exchange = self.exchange = exchange = relay.exchange + 1
        self.room = CAPTURE_CAP_BYTES
        head = self.connect_head
        _, _, _, _, _, secrets, _, low = request(head)
        shown, prints = self.blanker.blank(head, len(head), low, secrets)
        relay.spool.add_head(exchange, OPEN | HEAD | BODY, self.section, prints, len(head), shown)
        self.held += self.ahead
        self.ahead.clear()
        self._pause(CONNECTING)
        relay.tick.arm()
        relay.dial(self, route)

    def _tell(self) -> None:
        if not self.told:
            self.told = True
            self.push(self.write, ESTABLISHED)

    # what the upstream's half and the dialling call

    def connected(self, up: UpstreamConnection) -> None:
        if self.phase == BLIND:
            up.start_tunnel()
            self._tell()
            self.up, self.dialing = up, None
            self.tunnel(self.why)
            self._resume(CONNECTING)
            return
        super().connected(up)
        if self.phase == DIALLING:
            self._shake()

    def refuse(self, code: str) -> None:
        """Before the client's TLS stands nothing can be answered: then the first request is, inside."""
        if self.dead:
            return
        dialled = code.startswith("upstream-") or code == "forbidden-address"
        if dialled and self.phase == DIALLING:
            if code == "upstream-protocol":
                self._blind("upstream_http2_only")
            else:
                self._shake()
        elif dialled and self.phase == BLIND and self.told:
            self.relay.refused(self, code, REFUSALS[code][0])
            self.broken(code, "upstream_failed", reset=True)
        elif not dialled or self.busy or self.phase == PROXY:
            super().refuse(code)

    def gone(self) -> None:
        self._clock(None)
        super().gone()

    def _clock(self, within_s: float | None, act: Any = None) -> None:
        """One timer at a time; None: none."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None if within_s is None else self.relay.loop.call_later(within_s, self._rings, act)

    def _rings(self, act: Any) -> None:
        self.timer = None
        if not self.dead and self.mode != DISCARD:
            act()
