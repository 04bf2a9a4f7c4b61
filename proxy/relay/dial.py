"""Connects a client's pinned upstream: resolve, check each address, connect to the one that was checked, TLS if asked.

Ten seconds for all of it. Raises RefusedError with the code the client is answered with.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl

from proxy.relay.addresses import forbidden
from proxy.relay.refusals import RefusedError
from proxy.relay.routes import Route
from proxy.relay.tls import Tls

CONNECT_S = 10.0


def tls_context(ca: str | None) -> ssl.SSLContext:
    """Verification on; the system's authorities, and those of the file ``ca`` when the route names one."""
    context = ssl.create_default_context()
    if ca:
        context.load_verify_locations(cafile=ca)
    context.set_alpn_protocols(["http/1.1"])
    return context


async def connect(
    route: Route,
    protocol: asyncio.Protocol,
    context: ssl.SSLContext | None,
    own: frozenset[tuple[str, int]],
    within_s: float = CONNECT_S,
) -> None:
    """Connect ``protocol`` to the route's upstream; its ``connection_made`` was called when this returns."""
    try:
        async with asyncio.timeout(within_s):
            await _connect(route, protocol, context, own)
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


async def _connect(
    route: Route, protocol: asyncio.Protocol, context: ssl.SSLContext | None, own: frozenset[tuple[str, int]]
) -> None:
    loop = asyncio.get_running_loop()
    addresses = await _resolve(loop, route)
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
            continue
        except BaseException:
            sock.close()
            raise
        if context is None:
            await loop.create_connection(lambda: protocol, sock=sock)
            return
        tls = Tls(protocol, context, route.host)
        await loop.create_connection(lambda: tls, sock=sock)  # noqa: B023 - used before the loop goes on
        try:
            await tls.ready
        except BaseException as error:
            tls.abort()
            if isinstance(error, ConnectionError):
                raise RefusedError("upstream-tls") from None
            raise
        return
    raise failed


async def _resolve(loop: asyncio.AbstractEventLoop, route: Route) -> list[tuple[int, tuple[str, int]]]:
    """Addresses in the resolver's order; a literal needs no resolver."""
    try:
        literal = ipaddress.ip_address(route.host)
    except ValueError:
        found = await loop.getaddrinfo(route.host, route.port, type=socket.SOCK_STREAM)
        return [(family, (str(address[0]), int(address[1]))) for family, _, _, _, address in found]
    return [(socket.AF_INET6 if literal.version == 6 else socket.AF_INET, (route.host, route.port))]
