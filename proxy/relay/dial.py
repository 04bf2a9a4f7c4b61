"""Connects a client's pinned upstream: resolve, check each address, connect to the one that was checked, TLS if asked.

Ten seconds for all of it. Raises RefusedError with the code the client is answered with.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING

from proxy.relay.addresses import forbidden
from proxy.relay.chain import Chain, open_tunnel
from proxy.relay.refusals import RefusedError
from proxy.relay.routes import Route
from proxy.relay.tls import Tls

if TYPE_CHECKING:
    from proxy.relay.transparent import Outgoing

CONNECT_S = 10.0


def tls_context(ca: str | None, cert: str | None = None, key: str | None = None) -> ssl.SSLContext:
    """Verification on; the system's authorities (or $SSL_CERT_FILE's), and those of the file ``ca``.

    ``cert``: the PEM file we show when the upstream asks who we are; ``key``: its key, when that is in another file.
    Raises OSError, ssl.SSLError.
    """
    context = ssl.create_default_context()
    if ca:
        context.load_verify_locations(cafile=ca)
    if cert:
        context.load_cert_chain(cert, key, password=lambda: b"")  # an encrypted key is an error, not a question
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(
    route: Route,
    protocol: asyncio.Protocol,
    context: ssl.SSLContext | None,
    own: frozenset[tuple[str, int]],
    within_s: float = CONNECT_S,
    *,
    chain: Chain | None = None,
    outgoing: Outgoing | None = None,
) -> None:
    """Connect ``protocol`` to the route's upstream; its ``connection_made`` was called when this returns.

    ``chain``: the parent proxy to go through, which then resolves the upstream's name. ``outgoing`` is told the socket
    before anything is sent on it.
    """
    try:
        async with asyncio.timeout(within_s):
            host = route.address or route.host
            sock = await (_direct(host, route.port, own) if chain is None else _chained(route, chain, own))
            if outgoing is not None:
                outgoing.add(sock)
            await _attach(sock, route, protocol, context)
    except TimeoutError:
        raise RefusedError("upstream-timeout") from None
    except (socket.gaierror, UnicodeError):  # a label over 63 characters has no address either
        raise RefusedError("upstream-name") from None
    except ssl.SSLError as error:
        # the alert of RFC 7301 3.2; not every version of the ssl module has a reason for it
        alert = "no application protocol" in str(error).lower().replace("_", " ")
        raise RefusedError("upstream-protocol" if alert else "upstream-tls") from None
    except ssl.CertificateError:
        raise RefusedError("upstream-tls") from None
    except OSError:
        raise RefusedError("upstream-connect") from None


async def _direct(host: str, port: int, own: frozenset[tuple[str, int]]) -> socket.socket:
    """A connected socket. Every address is checked before the first is tried."""
    loop = asyncio.get_running_loop()
    addresses = await _resolve(loop, host, port)
    failed: OSError = ConnectionRefusedError("no address")
    for _, address in addresses:
        if forbidden(address[0], address[1], own):
            raise RefusedError("forbidden-address")
    for family, address in addresses:
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.setblocking(False)
        try:
            await loop.sock_connect(sock, address)
        except OSError as error:
            failed = error
            sock.close()
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise failed


async def _chained(route: Route, chain: Chain, own: frozenset[tuple[str, int]]) -> socket.socket:
    """A socket that reaches the upstream through the parent; addresses written as such are checked all the same."""
    try:
        ipaddress.ip_address(route.host)
    except ValueError:
        pass
    else:
        if forbidden(route.host, route.port, own):
            raise RefusedError("forbidden-address")
    try:
        sock = await _direct(chain.host, chain.port, own)
    except OSError:
        raise RefusedError("upstream-proxy-connect") from None
    try:
        await open_tunnel(sock, chain, route.host, route.port)
    except OSError:
        sock.close()
        raise RefusedError("upstream-proxy-answer") from None
    except BaseException:
        sock.close()
        raise
    return sock


async def _attach(
    sock: socket.socket, route: Route, protocol: asyncio.Protocol, context: ssl.SSLContext | None
) -> None:
    """The connected socket under the protocol, with TLS between them when the route asks for it."""
    loop = asyncio.get_running_loop()
    if context is None:
        await loop.create_connection(lambda: protocol, sock=sock)
        return
    tls = Tls(protocol, context, route.host)
    await loop.create_connection(lambda: tls, sock=sock)
    try:
        await tls.ready
    except BaseException as error:
        tls.abort()
        if isinstance(error, ConnectionError):
            raise RefusedError("upstream-tls") from None
        raise


async def _resolve(loop: asyncio.AbstractEventLoop, host: str, port: int) -> list[tuple[int, tuple[str, int]]]:
    """Addresses in the resolver's order; a literal needs no resolver."""
    try:
        literal = ipaddress.ip_address(host)
    except ValueError:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [(family, (str(address[0]), int(address[1]))) for family, _, _, _, address in found]
    return [(socket.AF_INET6 if literal.version == 6 else socket.AF_INET, (host, port))]
