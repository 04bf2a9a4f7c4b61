"""Which addresses the relay never connects to: itself, link-local, metadata services, and what is no unicast host.

Asked after resolution; the relay then connects to the very address that was asked about (no second look-up).
"""

from __future__ import annotations

import ipaddress
import socket

# metadata services outside the link-local ranges: AWS over IPv6, Alibaba, Oracle's classic one, Azure's host
_METADATA = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "192.0.0.192", "168.63.129.16")))
_TRANSLATED = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("::/96"))  # RFC 6052; RFC 4291 2.5.5.1


def forbidden(address: str, port: int, own: frozenset[tuple[str, int]]) -> bool:
    """Whether connecting to this resolved address is refused. ``own``: (host, port) of our listeners."""
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if embedded is None and int(ip) > 1 and any(ip in network for network in _TRANSLATED):
            embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        ip = embedded or ip
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip in _METADATA:
        return True
    if isinstance(ip, ipaddress.IPv4Address) and int(ip) == 0xFFFFFFFF:
        return True
    if not any(port == p for _, p in own):
        return False
    return any(port == p and (host == str(ip) or _is_local(str(ip))) for host, p in own)


def _is_local(address: str) -> bool:
    """Whether the address is one of this machine's: only those can be bound."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True
