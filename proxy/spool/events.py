"""What reading a spool yields, in capture order. The relay writes entries, the reader turns them into these values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from proxy.exchange import Ending, Side


@dataclass(frozen=True, slots=True)
class Opened:
    """An exchange or tunnel began. ``meta``: listener, route, upstream, objective, peer, connection, wall_ns, mode."""

    writer: str
    exchange: int
    mono_ns: int
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HeadSeen:
    """A message head, credentials blanked, exact otherwise. Interim (1xx) heads come too."""

    writer: str
    exchange: int
    mono_ns: int
    side: Side
    raw: bytes
    fingerprints: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BodySeen:
    """Body bytes with the transfer framing (chunk sizes, trailers) removed; still content-encoded."""

    writer: str
    exchange: int
    mono_ns: int
    side: Side
    data: bytes


@dataclass(frozen=True, slots=True)
class BodyEnded:
    writer: str
    exchange: int
    mono_ns: int
    side: Side
    ending: Ending


@dataclass(frozen=True, slots=True)
class Ended:
    """The exchange is over. ``bytes_in`` request side, ``bytes_out`` response side, as forwarded.

    ``lost_in`` and ``lost_out`` of them were not captured, for the reason ``lost``.
    """

    writer: str
    exchange: int
    mono_ns: int
    ending: Ending
    bytes_in: int
    bytes_out: int
    reason: str = ""
    lost: str = ""
    lost_in: int = 0
    lost_out: int = 0


@dataclass(frozen=True, slots=True)
class Refused:
    """The relay answered with a typed 4xx itself (docs/refusals.md)."""

    writer: str
    exchange: int
    mono_ns: int
    status: int
    reason: str
    meta: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Opaque:
    """A tunnel nobody reads: host, bytes, duration."""

    writer: str
    exchange: int
    mono_ns: int
    host: str
    bytes_in: int
    bytes_out: int
    duration_ms: float
    reason: str


@dataclass(frozen=True, slots=True)
class Dropped:
    """What could not be captured: the gap, coalesced. Counts exchanges and bytes per side, exactly."""

    writer: str
    mono_ns: int
    exchanges: int
    bytes_in: int
    bytes_out: int
    reason: str
    first_exchange: int = 0
    last_exchange: int = 0


@dataclass(frozen=True, slots=True)
class ClockStepped:
    """The wall clock moved by ``step_ns`` against the monotonic one; later ``wall_ns`` follow the new one."""

    writer: str
    mono_ns: int
    step_ns: int


SpoolEvent = Opened | HeadSeen | BodySeen | BodyEnded | Ended | Refused | Opaque | Dropped | ClockStepped
