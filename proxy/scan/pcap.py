"""A packet capture's plaintext HTTP/1.1 as the events a relay would have captured. pcap and pcapng, through dpkt.

In: one file (Ethernet, Linux cooked, loopback or raw IP). Out: ``SpoolEvent`` per connection, in capture order; what is
TLS, HTTP/2 or has packets missing is one ``Opaque`` each. Read packet by packet; open connections are bounded.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from proxy.address import shown
from proxy.exchange import Side
from proxy.scan.conversation import Conversation
from proxy.scan.recording import Heads, RecordingError
from proxy.scan.tcp import Direction
from proxy.spool.events import SpoolEvent

MAX_PACKET_BYTES = 1 << 20  # a header that asks for more is not one; nothing of that size is allocated
MAX_CONNECTIONS = 512
_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16
End = tuple[bytes, int]


@dataclass(frozen=True, slots=True)
class Segment:
    ns: int
    source: End
    target: End
    seq: int
    flags: int
    data: bytes


@dataclass(slots=True)
class _Connection:
    """``client`` is known from the SYN, else from what the first bytes look like."""

    client: End | None = None
    server: End | None = None
    talk: Conversation | None = None
    sides: dict[End, Direction] = field(default_factory=dict)


class Connections:
    """Segments of all connections of one capture in, events out."""

    def __init__(self, name: str) -> None:
        self._writer, self._numbers, self._heads = f"import:{name}", count(), Heads()
        self._open: dict[tuple[End, End], _Connection] = {}

    def segment(self, s: Segment) -> Iterator[SpoolEvent]:
        key = (min(s.source, s.target), max(s.source, s.target))
        found = self._open.pop(key, None)
        if found is not None and s.flags & _SYN and not s.flags & _ACK and found.talk is not None:
            yield from self._close(found, s.ns, "connection_reused")
            found = None
        if found is None and not s.data and not s.flags & _SYN:
            return
        if found is None and len(self._open) >= MAX_CONNECTIONS:
            yield from self._close(self._open.pop(next(iter(self._open))), s.ns, "too_many_connections")
        c = self._open[key] = found or _Connection()  # the one heard last is last
        yield from self._take(c, s)
        if s.flags & _RST or (len(c.sides) == 2 and all(d.ended for d in c.sides.values())):
            del self._open[key]
            yield from self._close(c, s.ns, "connection_reset" if s.flags & _RST else "connection_closed")

    def end(self, ns: int) -> Iterator[SpoolEvent]:
        for c in self._open.values():
            yield from self._close(c, ns, "capture_ended")
        self._open.clear()

    def _take(self, c: _Connection, s: Segment) -> Iterator[SpoolEvent]:
        side = c.sides.setdefault(s.source, Direction())
        if s.flags & _SYN:
            side.syn(s.seq)
            c.client, c.server = (s.target, s.source) if s.flags & _ACK else (s.source, s.target)
            return
        data = side.take(s.seq, s.data)
        if s.flags & _FIN:
            side.fin(s.seq, len(s.data))
        if data:
            talk = c.talk = c.talk or self._begin(c, s, data)
            yield from talk.feed(Side.REQUEST if s.source == c.client else Side.RESPONSE, data, s.ns)
        if c.talk is not None and side.lost:
            yield from c.talk.lose("packets_missing", s.ns)
        if c.talk is not None and side.ended:
            yield from c.talk.end_side(Side.REQUEST if s.source == c.client else Side.RESPONSE, s.ns)

    def _begin(self, c: _Connection, s: Segment, data: bytes) -> Conversation:
        if c.client is None or c.server is None:
            answers = data.startswith(b"HTTP/1.")
            c.client, c.server = (s.target, s.source) if answers else (s.source, s.target)
        meta: dict[str, Any] = {
            "upstream": _shown(c.server),
            "route": "import",
            "connection": f"{_shown(c.client)}-{s.ns}",
        }
        return Conversation(self._writer, self._numbers, meta, self._heads)

    def _close(self, c: _Connection, ns: int, reason: str) -> Iterator[SpoolEvent]:
        if c.talk is None:
            return
        if any(d.waiting for d in c.sides.values()):
            yield from c.talk.lose("packets_missing", ns)
        yield from c.talk.close(ns, reason)


def pcap_events(path: Path, name: str, problems: list[str]) -> Iterator[SpoolEvent]:
    """Raises RecordingError for a file that is no capture; what cannot be decoded goes to ``problems``."""
    connections, last, passed = Connections(name), 0, Counter[str]()
    with path.open("rb") as file:
        for segment in _segments(file, path, problems, passed):
            last = segment.ns
            yield from connections.segment(segment)
    yield from connections.end(last)
    problems += [f"{path}: {n} packets {why}" for why, n in passed.items()]


class _Bounded:
    """A file that refuses to read a block no capture holds: the length comes from the file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self.name = file, "capture"

    def read(self, size: int) -> bytes:
        if not 0 <= size <= MAX_PACKET_BYTES:
            raise ValueError(f"a block of {size} bytes")
        return self._file.read(size)

    def seek(self, *to: int) -> int:
        return self._file.seek(*to)

    def tell(self) -> int:
        return self._file.tell()


def _segments(file: BinaryIO, path: Path, problems: list[str], passed: Counter[str]) -> Iterator[Segment]:
    try:
        import dpkt  # noqa: PLC0415 - an extra: only this import needs it
    except ModuleNotFoundError:
        raise RecordingError(
            "reading packet captures needs dpkt: install onlooker with its extra, onlooker[pcap]"
        ) from None
    broken = (dpkt.UnpackError, ValueError, IndexError, OverflowError)
    try:
        reader = dpkt.pcap.UniversalReader(_Bounded(file))
        link = _LINKS[reader.datalink()](dpkt)
    except KeyError:
        expected = "Ethernet, Linux cooked, loopback or raw IP was expected"
        raise RecordingError(f"{path}: link type {reader.datalink()} is not read; {expected}") from None
    except broken:
        raise RecordingError(f"{path}: not a packet capture; pcap or pcapng was expected") from None
    packets, number = iter(reader), 0
    while True:
        try:
            at, raw = next(packets)
        except StopIteration:
            return
        except broken as error:
            problems.append(f"{path}: cut off or damaged behind packet {number} ({error or type(error).__name__})")
            return
        number += 1
        try:
            found = _tcp(dpkt, link(raw))
        except broken:
            passed["could not be decoded"] += 1
            continue
        if isinstance(found, str):
            passed[found] += 1
        elif found is not None:
            (source, target), tcp = found
            ends = (source, int(tcp.sport)), (target, int(tcp.dport))
            yield Segment(int(at * 1_000_000_000), *ends, int(tcp.seq), int(tcp.flags), bytes(tcp.data))


def _tcp(dpkt: Any, packet: Any) -> tuple[tuple[bytes, bytes], Any] | str | None:
    """The addresses and the TCP header of a packet; a reason when it is TCP and cannot be used; None for the rest."""
    ip = packet if isinstance(packet, (dpkt.ip.IP, dpkt.ip6.IP6)) else getattr(packet, "data", None)
    if isinstance(ip, dpkt.ip.IP) and (ip.mf or ip.offset):
        return "are IP fragments"
    if not isinstance(ip, (dpkt.ip.IP, dpkt.ip6.IP6)):
        return None
    if not isinstance(ip.data, dpkt.tcp.TCP):
        return "could not be decoded" if ip.p == dpkt.ip.IP_PROTO_TCP else None
    return (bytes(ip.src), bytes(ip.dst)), ip.data


def _raw_ip(dpkt: Any) -> Callable[[bytes], Any]:
    return lambda raw: dpkt.ip6.IP6(raw) if raw[0] >> 4 == 6 else dpkt.ip.IP(raw)


# link types of the capture format's registry (tcpdump.org/linktypes.html)
_LINKS: dict[int, Callable[[Any], Callable[[bytes], Any]]] = {
    0: lambda dpkt: dpkt.loopback.Loopback,
    1: lambda dpkt: dpkt.ethernet.Ethernet,
    12: _raw_ip,
    101: _raw_ip,
    108: lambda dpkt: dpkt.loopback.Loopback,
    113: lambda dpkt: dpkt.sll.SLL,
    276: lambda dpkt: dpkt.sll2.SLL2,
}


def _shown(end: End) -> str:
    return shown(str(ipaddress.ip_address(end[0])), end[1])
