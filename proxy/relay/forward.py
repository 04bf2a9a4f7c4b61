"""A forward proxy's listening socket: where its requests may go, which of them are looked into, and with what.

In: a socket, the configured routes (for their names and upstreams), the allow-list and the authority's folder. Out: a
``Route`` per place asked for, and why a connection stays unread ("" when it can be read).
"""

from __future__ import annotations

import socket
import sys
import time
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from proxy.ca.hosts import Listed, host_name
from proxy.relay import targets
from proxy.relay.forward_client import ForwardClient
from proxy.relay.hello import Hello
from proxy.relay.listener import Listener
from proxy.relay.refusals import RefusedError
from proxy.relay.routes import Place, Route, Routes, route
from proxy.relay.tunnels import TunnelClient

if TYPE_CHECKING:
    from proxy.ca.leaf import Mint

K = TypeVar("K")

NAME = "forward"  # the route of a place no configured route goes to
KEPT = 1024  # places and rejections remembered
HELLO_S = 5.0  # a client that says nothing waits for the server to speak first: then it is tunnelled
SHAKE_ANYWAY_S = 3.0  # a slow upstream is waited for inside TLS, not before: clients limit their handshakes
PASS_S = 60.0  # how long a client that rejected our certificate is let through unread


class ForwardRoutes(Routes):
    """``find`` answers for absolute forms; routes are kept, so that one place is one object."""

    def __init__(self, specs: Mapping[str, Mapping[str, Any]], ca: str | None, listed: Listed | None) -> None:
        super().__init__({})
        made = [route(name, spec) for name, spec in specs.items()]
        self._known = {(r.host, r.port): r for r in reversed(made)}
        self._ca = ca
        self._listed = listed  # None: every host may be asked for
        self._kept: OrderedDict[tuple[str, int, bool, bytes], Route] = OrderedDict()

    def find(self, target: bytes) -> Place:
        host, port, tls, authority, rest = targets.absolute(target)
        self.allow(host)
        return Place(self.to(host, port, authority, tls=tls), rest, None)

    def allow(self, host: str) -> None:
        if self._listed is not None and host not in self._listed:
            raise RefusedError("not-listed")

    def to(self, host: str, port: int, authority: bytes = b"", *, tls: bool) -> Route:
        """The route to a place; with an empty ``authority`` heads go on as they came."""
        key = host, port, tls, authority
        kept = self._kept.get(key)
        if kept is None:
            known = self._known.get((host, port))
            name, own = (NAME, (None, None)) if known is None else (known.name, (known.cert, known.key))
            made = Route(name, host, port, tls, authority, b"", self._ca, False, *own)
            kept = remember(self._kept, key, made, KEPT)
        return kept


def remember(kept: OrderedDict[K, Route], key: K, made: Route, most: int) -> Route:
    """``made`` under ``key``; the oldest goes when there are more than ``most``."""
    kept[key] = made
    if len(kept) > most:
        kept.popitem(last=False)
    return made


class ForwardListener(Listener):
    """``settings``: intercept (hosts), ca_dir, upstream_ca, hello_s, shake_anyway_s."""

    mode = "forward"
    client: type[TunnelClient] = ForwardClient

    def __init__(
        self, sock: socket.socket, routes: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any]
    ) -> None:
        super().__init__(sock, {})
        self.listed = Listed(settings.get("intercept", ()))
        inside = self._loopback or self.address is None
        self.routes: ForwardRoutes = ForwardRoutes(routes, settings.get("upstream_ca"), None if inside else self.listed)
        self.hello_s = float(settings.get("hello_s", HELLO_S))
        self.shake_anyway_s = float(settings.get("shake_anyway_s", SHAKE_ANYWAY_S))
        self.mint, self._no_mint = _mint(settings.get("ca_dir"))
        self._passes: dict[tuple[str, bytes], float] = {}

    def check_host(self, low: bytes, route: Route) -> None:
        """A page reaches this only through a browser that was told to use a proxy."""

    def unread(self, host: str) -> str:
        """Why TLS to this host is not looked into, as far as the host tells."""
        if host not in self.listed:
            return "not_listed"
        if self.mint is None:
            return self._no_mint
        return "" if host in self.mint.listed else "not_in_ca"

    def unreadable(self, host: str, hello: Hello) -> str:
        """Why this client's TLS is not looked into."""
        if hello.name and not _same(hello.name, host):
            return "sni_mismatch"
        if hello.alpn and b"http/1.1" not in hello.alpn:
            return "http2_only" if b"h2" in hello.alpn else "not_http"
        until = self._passes.get((host, hello.ciphers), 0.0)
        return "client_rejected_ca" if time.monotonic() < until else ""

    def rejected(self, host: str, hello: Hello) -> None:
        """This kind of client does not take our certificate: its next connections are tunnelled."""
        if len(self._passes) >= KEPT:
            self._passes.clear()
        self._passes[host, hello.ciphers] = time.monotonic() + PASS_S


def _same(name: str, host: str) -> bool:
    try:
        return host_name(name) == host
    except ValueError:
        return False


def _mint(folder: str | None) -> tuple[Mint | None, str]:
    """The mint, or why there is none. Imported here: a relay without a forward listener stays small."""
    if not folder or not (Path(folder) / "ca.pem").exists():
        return None, "no_ca"
    from proxy.ca.authority import Authority, CaError  # noqa: PLC0415 - as above
    from proxy.ca.leaf import Mint  # noqa: PLC0415 - as above

    try:
        return Mint(Authority.load(Path(folder))), ""
    except CaError as error:
        sys.stderr.write(f"relay: nothing is intercepted: {error}\n")
        return None, "ca_unusable"
