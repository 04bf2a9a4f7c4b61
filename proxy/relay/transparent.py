"""Redirected connections: the kernel says where each one was going; TLS is told apart by the name it asks for.

In: connections that ``nft … redirect`` (SO_ORIGINAL_DST) or ``tproxy`` (the accepted socket's own name) sent here. Out:
the same as of a forward proxy: HTTP is relayed, TLS to a listed host looked into, the rest a blind tunnel with a
record; always to the address the client meant, never to one of its choosing. Source: linux/netfilter_ipv4.h, ip(7).
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from proxy.address import shown
from proxy.ca.hosts import host_name
from proxy.relay.forward import ForwardListener, remember
from proxy.relay.hello import NotHelloError, client_hello
from proxy.relay.routes import Route
from proxy.relay.tunnels import HELLO, PROXY, TunnelClient

ORIGINAL_DST = 80  # the same number for both families
LOOP_S = 5.0  # a connection of ours that was redirected to us arrives at once
KEPT = 65536


def original(sock: socket.socket) -> tuple[str, int]:
    """Where the client was connecting to. A socket nobody redirected names itself. Raises OSError."""
    own = sock.getsockname()
    try:
        if sock.family == socket.AF_INET6:
            raw = sock.getsockopt(socket.IPPROTO_IPV6, ORIGINAL_DST, 28)
            return str(ipaddress.ip_address(raw[8:24])), struct.unpack_from("!H", raw, 2)[0]
        raw = sock.getsockopt(socket.IPPROTO_IP, ORIGINAL_DST, 16)
        return socket.inet_ntoa(raw[4:8]), struct.unpack_from("!H", raw, 2)[0]
    except OSError:
        return str(own[0]), int(own[1])  # TPROXY, or no redirection at all


class Outgoing:
    """Names of the sockets this relay has just connected: one of them arriving here means a rule redirects us."""

    def __init__(self) -> None:
        self._recent: OrderedDict[tuple[str, int], float] = OrderedDict()

    def add(self, sock: socket.socket) -> None:
        name = sock.getsockname()
        self._recent[str(name[0]), int(name[1])] = time.monotonic()
        if len(self._recent) > KEPT:
            self._recent.popitem(last=False)

    def has(self, peer: tuple[Any, ...]) -> bool:
        made = self._recent.get((str(peer[0]), int(peer[1])))
        return made is not None and time.monotonic() - made < LOOP_S


class TransparentClient(TunnelClient):
    """A client that never said where it goes; ``address`` is what the kernel says."""

    __slots__ = ("address", "named")

    listener: TransparentListener

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if self.phase != PROXY:  # the TLS layer calls, the connection is known
            return
        self.address, self.port = original(transport.get_extra_info("socket"))
        self.host, self.named, self.told = self.address, False, True
        place = shown(self.address, self.port)
        # what a client of a forward proxy would have said: the head of a blind tunnel's exchange
        self.connect_head = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()
        if self.port == self.listener.port and self.address in self.listener.addresses(transport):
            self.refuse("not-redirected")
            return
        self.phase = HELLO
        self._clock(self.listener.hello_s, self._silent)

    def _ahead(self, data: bytes) -> None:
        outgoing = self.relay.outgoing
        if not self.ahead and outgoing and outgoing.has(self.transport.get_extra_info("peername")):
            self.phase = PROXY
            self.refuse("redirect-loop")
            return
        if self.named:
            super()._ahead(data)
            return
        try:
            hello = client_hello(self.ahead + data)
        except NotHelloError:
            super()._ahead(data)
            return
        if hello is None:
            self.ahead += data
            return
        try:
            self.host, self.named = host_name(hello.name), True
        except ValueError:
            self.ahead += data
            self._blind("no_server_name")
            return
        why = self.listener.unread(self.host)
        if why:
            self.ahead += data
            self._blind(why)
        else:
            super()._ahead(data)

    def _route(self, *, tls: bool) -> Route:
        return self.listener.at(self.address, self.host, self.port, tls=tls)


class TransparentListener(ForwardListener):
    mode = "transparent"
    client = TransparentClient

    def __init__(
        self, sock: socket.socket, routes: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]
    ) -> None:
        super().__init__(sock, routes, settings)
        self._at: OrderedDict[tuple[str, str, int, bool], Route] = OrderedDict()

    def addresses(self, transport: Any) -> set[str]:
        """What this listener is called when nobody redirected: its own address, and the one it was reached at."""
        return {str(transport.get_extra_info("sockname")[0]), *([self.address[0]] if self.address else [])}

    def at(self, address: str, host: str, port: int, *, tls: bool) -> Route:
        """The route to a place under its name, reached at the address the client meant."""
        key = address, host, port, tls
        kept = self._at.get(key)
        if kept is None:
            known = self.routes.to(host, port, tls=tls)
            made = Route(
                known.name, host, port, tls, b"", b"", known.ca, cert=known.cert, key=known.key, address=address
            )
            kept = remember(self._at, key, made, KEPT)
        return kept
