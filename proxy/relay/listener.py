"""One listening socket: its name in records, its route table, and which Host a browser page may ask with."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Mapping
from typing import Any

from proxy.relay.client import Client
from proxy.relay.refusals import RefusedError
from proxy.relay.routes import Route, Routes

_LOOPBACK_NAMES = frozenset((b"localhost", b"127.0.0.1", b"[::1]", b"host.docker.internal"))


class Listener:
    """Made from the socket the supervisor passed, or one bound here. ``mode`` is how records call this way in."""

    mode = "reverse"
    client: type[Client] = Client  # what follows a new connection

    def __init__(self, sock: socket.socket, routes: Mapping[str, Mapping[str, Any]]) -> None:
        self.sock = sock
        name = sock.getsockname()
        if isinstance(name, tuple):
            host, self.port = str(name[0]), int(name[1])
            shown = f"[{host}]" if ":" in host else host
            self.name = f"{shown}:{self.port}"
            self.address: tuple[str, int] | None = (host, self.port)
            self._loopback = ipaddress.ip_address(host).is_loopback
            self._hosts = _LOOPBACK_NAMES | {shown.encode()}
            own = frozenset(h + b":%d" % self.port for h in self._hosts)
        else:
            self.name, self.port, self.address, self._loopback = f"unix:{name}", 0, None, False
            self._hosts, own = frozenset(), frozenset()
        self.routes = Routes(routes, own)

    def check_host(self, low: bytes, route: Route) -> None:
        """A page of another origin that was made to resolve to us (DNS rebinding) is refused; AG-UI is asked by pages.

        Only called when Origin or Sec-Fetch-Site is there. ``low``: the head in lower case.
        """
        if not self._loopback or route.agui:
            return
        at = low.find(b"\nhost:")
        host = low[at + 6 : low.find(b"\r", at + 6)].strip(b" \t") if at >= 0 else b""
        if host.rsplit(b":", 1)[0] not in self._hosts and host not in self._hosts:
            raise RefusedError("foreign-host")
