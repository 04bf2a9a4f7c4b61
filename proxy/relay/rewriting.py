"""A request head as the upstream gets it.

In: a read that begins with a head, as the client sent it. Out: the same bytes with target and Host value replaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proxy.relay.routes import Place


def rewritten(data: bytes, end: int, method: bytes, target: bytes, low: bytes, place: Place) -> tuple[bytes, int]:  # noqa: PLR0917 - the hot path
    """The request as the upstream gets it, and where its head ends: target and Host value replaced, nothing else."""
    authority = place.route.authority
    if not authority:
        return data, end
    start = len(method) + 1
    stop = start + len(target)
    host = low.find(b"\nhost:", stop - 1) + 6
    if host < 6:
        sent = data[:start] + place.target + data[stop:]
        return sent, end + len(place.target) - len(target)
    while low[host] in b" \t":
        host += 1
    host_stop = low.find(b"\r", host)
    sent = b"".join((data[:start], place.target, data[stop:host], authority, data[host_stop:]))
    return sent, end + len(sent) - len(data)
