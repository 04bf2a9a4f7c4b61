"""Which addresses the relay never connects to: itself, link-local, metadata services, and what is no unicast host.

Asked after resolution; the relay then connects to the very address that was asked about (no second look-up).
"""

from __future__ import annotations

import ipaddress
import socket

# services of a cloud's host outside the link-local ranges: Google over IPv6, Alibaba, Oracle's classic one, Azure
_METADATA = frozenset(map(ipaddress.ip_address, ("fd20:ce::254", "100.100.100.200", "192.0.0.192", "168.63.129.16")))
_AWS = ipaddress.ip_network("fd00:ec2::/32")  # metadata, credentials of pods, DNS, time
# the last 32 bits are an IPv4 address: RFC 6052, RFC 8215 (as operators use it), RFC 4291 2.5.5.1, RFC 2765
_TRANSLATED = tuple(map(ipaddress.ip_network, ("64:ff9b::/96", "64:ff9b:1::/48", "::/96", "::ffff:0:0:0/96")))


def forbidden(address: str, port: int, own: frozenset[tuple[str, int]]) -> bool:
    """Whether connecting to this resolved address is refused. ``own``: (host, port) of our listeners."""
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        embedded = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if embedded is None and int(ip) > 1 and any(ip in network for network in _TRANSLATED):
            embedded = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        ip = embedded or ip
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip in _METADATA or ip in _AWS:
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
