"""Where a forward proxy's request wants to go: CONNECT's authority and the absolute form. Pure.

In: the target as received. Out: host in one spelling, port, and for the absolute form whether it is https, the
authority as it was written (what Host becomes) and the rest (what the target becomes). Raises RefusedError.
Source: RFC 9110 9.3.6 (CONNECT), RFC 9112 3.2.2 and 3.2.3.
"""

from __future__ import annotations

import re

from proxy.ca.hosts import host_name
from proxy.relay.refusals import RefusedError

_ABSOLUTE = re.compile(rb"(https?)://([^/?#]*)([^#]*)", re.IGNORECASE).fullmatch
_AUTHORITY = re.compile(rb"(\[[0-9A-Fa-f:.]{2,45}\]|[^:@\[\]]{1,254})(?::([0-9]{1,5}))?").fullmatch


def connect(target: bytes) -> tuple[str, int]:
    """``host:port``, the port never left out."""
    return _authority(target, 0)


def absolute(target: bytes) -> tuple[str, int, bool, bytes, bytes]:
    """``http://host[:port]/path?query`` as (host, port, tls, authority, origin form)."""
    found = _ABSOLUTE(target)
    if found is None:
        raise RefusedError("proxy-target")
    scheme, authority, rest = found.groups()
    tls = scheme.lower() == b"https"
    host, port = _authority(authority, 443 if tls else 80)
    return host, port, tls, authority, rest if rest[:1] == b"/" else b"/" + rest


def _authority(text: bytes, default: int) -> tuple[str, int]:
    found = _AUTHORITY(text)
    if found is None or (found[2] is None and not default):
        raise RefusedError("proxy-target")
    port = int(found[2]) if found[2] is not None else default
    try:
        host = host_name(found[1].decode("ascii"))
    except ValueError:
        raise RefusedError("proxy-target") from None
    if not 0 < port < 65536:
        raise RefusedError("proxy-target")
    return host, port
