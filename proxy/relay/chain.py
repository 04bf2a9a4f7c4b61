"""Our own way out through a parent proxy: which upstreams take it, and the CONNECT that opens it.

In: the parent's URL, the list of places that do without it, a connected socket. Out: the same socket, now reaching the
upstream. Raises RefusedError: each way a parent can say no is one sentence. Source: RFC 9110 9.3.6; NO_PROXY is
read as curl and Python do: names match their sub-domains, ``*`` matches all, addresses may be networks.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from proxy.address import shown
from proxy.relay.refusals import RefusedError

DIRECT = "direct"  # instead of a URL: no parent, whatever the environment says
MAX_ANSWER_BYTES = 16 << 10
_READ_BYTES = 1  # whatever follows the answer belongs to the upstream, so nothing beyond it is taken from the socket


@dataclass(frozen=True, slots=True)
class Chain:
    """``authorization``: the value of Proxy-Authorization, or empty."""

    host: str
    port: int
    authorization: bytes
    without: tuple[str, ...]

    def takes(self, host: str, port: int) -> bool:
        """Whether this place is reached through the parent. Loopback never is."""
        name = host.lower().rstrip(".")
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name != "localhost" and not any(_named(name, port, entry) for entry in self.without)
        return not address.is_loopback and not any(_within(address, port, entry) for entry in self.without)


def chain_of(url: str, without: Sequence[str] = ()) -> Chain:
    """``http://[user:password@]host[:port]``. ValueError says what was expected."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    if parts.scheme != "http" or not parts.hostname or parts.path not in {"", "/"}:
        shown = parts.hostname or "the parent proxy"
        raise ValueError(f"{shown}: a parent proxy is http://[user:password@]host[:port]")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    secret = base64.b64encode(f"{user}:{password}".encode()) if user else b""
    entries = (e.strip().lower() for item in without for e in item.split(","))
    return Chain(
        parts.hostname, parts.port or 3128, b"Basic " + secret if secret else b"", tuple(filter(None, entries))
    )


def from_environment(environment: Mapping[str, str]) -> tuple[str | None, tuple[str, ...]]:
    """What our own HTTPS_PROXY and NO_PROXY say; the lower-case names win, as with curl."""
    proxy = environment.get("https_proxy") or environment.get("HTTPS_PROXY")
    without = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    return proxy or None, (without,) if without else ()


async def open_tunnel(sock: socket.socket, chain: Chain, host: str, port: int) -> None:
    """Ask the parent on ``sock`` for a tunnel to host:port. Raises RefusedError, OSError."""
    loop = asyncio.get_running_loop()
    place = shown(host, port)
    asked = f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n".encode("idna" if not place.isascii() else "ascii")
    if chain.authorization:
        asked += b"Proxy-Authorization: " + chain.authorization + b"\r\n"
    await loop.sock_sendall(sock, asked + b"\r\n")
    answer = bytearray()
    while not answer.endswith(b"\r\n\r\n"):
        more = await loop.sock_recv(sock, _READ_BYTES)
        if not more or len(answer) > MAX_ANSWER_BYTES:
            raise RefusedError("upstream-proxy-answer")
        answer += more
    version, _, rest = bytes(answer).partition(b" ")
    status = rest[:3]
    if not version.startswith(b"HTTP/1.") or not status.isdigit():
        raise RefusedError("upstream-proxy-answer")
    if status == b"407":
        raise RefusedError("upstream-proxy-auth")
    if status[:1] != b"2":
        raise RefusedError("upstream-proxy-refused")


def _named(name: str, port: int, entry: str) -> bool:
    host, _, only = entry.partition(":")
    if only and only != str(port):
        return False
    host = host.removeprefix("*").lstrip(".")
    return not host or name == host or name.endswith("." + host)


def _within(address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int, entry: str) -> bool:
    if entry == "*":
        return True
    host, _, only = entry.rpartition(":") if entry.count(":") == 1 else (entry, "", "")
    try:
        return address in ipaddress.ip_network(host.strip("[]"), strict=False) and only in {"", str(port)}
    except ValueError:
        return False
