"""Spool entries of one writer, in order, to the values of ``events.py``. Sans-IO, resumable from ``snapshot``.

Takes the transfer framing off with the relay's own chunk tracker, counts what was recorded, and gives every exchange
that was opened exactly one ``Ended``. State per open exchange is a few numbers; bodies are passed on, not kept.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from proxy.exchange import Ending, Side
from proxy.relay.chunks import BadChunkError, Chunks
from proxy.spool import format as fmt
from proxy.spool.events import (
    BodyEnded,
    BodySeen,
    ClockStepped,
    Dropped,
    Ended,
    HeadSeen,
    Opaque,
    Opened,
    Refused,
    SpoolEvent,
)

_CHUNKED = re.compile(rb"\ntransfer-encoding:[ \t]*chunked[ \t]*\r", re.IGNORECASE).search
_INTERIM = re.compile(rb"HTTP/1\.[01] 1").match


class _Body:
    """One side of an open exchange: which framing, and whether it is complete."""

    __slots__ = ("chunks", "ended")

    def __init__(self, chunks: Chunks | None = None, *, ended: bool = False) -> None:
        self.chunks = chunks
        self.ended = ended

    def feed(self, data: bytes) -> list[bytes]:
        if self.chunks is None:
            return [data] if data else []
        out: list[bytes] = []
        try:
            self.chunks.feed(data, 0, out)
        except BadChunkError:
            self.chunks = None  # the relay aborted here; its ending entry says why
        return out

    def state(self) -> list[Any]:
        c = self.chunks
        return [self.ended, None if c is None else [c.due, c.line.decode("latin-1"), c.trailer_bytes]]

    @classmethod
    def of(cls, state: list[Any]) -> _Body:
        ended, c = state
        chunks = None if c is None else Chunks(c[0], c[1].encode("latin-1"), c[2])
        return cls(chunks, ended=ended)


class _Open:
    __slots__ = ("bytes", "sides")

    def __init__(self) -> None:
        self.sides = {Side.REQUEST: _Body(), Side.RESPONSE: _Body()}
        self.bytes = {Side.REQUEST: 0, Side.RESPONSE: 0}


class Capture:
    """``entry`` per spool entry, ``died`` when the writer is gone without having said ``closed``."""

    def __init__(self, writer: str, snapshot: dict[str, Any] | None = None) -> None:
        self.writer = writer
        self.closed = False
        self.wall_offset_ns = 0
        self.exchanges = self.bytes_in = self.bytes_out = 0  # recorded or declared dropped
        self._open: dict[int, _Open] = {}
        self._meta_raw, self._meta = b"", dict[str, Any]()
        if snapshot:
            self._restore(snapshot)

    def clock(self, wall_ns: int, mono_ns: int) -> None:
        """The pair from a segment header: monotonic times become wall times with it."""
        self.wall_offset_ns = wall_ns - mono_ns

    def entry(self, e: fmt.Entry) -> Iterator[SpoolEvent]:
        if e.kind & fmt.CONTROL:
            yield from self._control(e)
            return
        side = Side.RESPONSE if e.kind & fmt.RESPONSE else Side.REQUEST
        parts = fmt.split(e.kind, e.payload)
        if e.kind & fmt.OPEN:
            self._open[e.exchange] = _Open()
            self.exchanges += 1
            if parts.meta != self._meta_raw:  # the same for every exchange of a connection and route
                self._meta_raw, self._meta = parts.meta, json.loads(parts.meta)
            meta = {**self._meta, "wall_ns": e.mono_ns + self.wall_offset_ns}
            yield Opened(self.writer, e.exchange, e.mono_ns, meta)
        self._count(e.exchange, side, parts.forwarded)
        state = self._open.get(e.exchange)
        if state is None:
            return  # its beginning was damaged: declared when the damage was seen
        body = state.sides[side]
        if e.kind & fmt.HEAD:
            yield HeadSeen(self.writer, e.exchange, e.mono_ns, side, parts.head, _prints(parts.prints))
            if _CHUNKED(parts.head) and not _INTERIM(parts.head):
                body.chunks = Chunks()
        for data in body.feed(parts.body):
            yield BodySeen(self.writer, e.exchange, e.mono_ns, side, data)
        if e.kind & fmt.LAST:
            body.ended = True
            yield BodyEnded(self.writer, e.exchange, e.mono_ns, side, Ending.COMPLETE)
        if e.kind & fmt.OVER:
            yield from self._end(e.exchange, e.mono_ns, Ending.COMPLETE, "")

    def died(self, mono_ns: int, offered: tuple[int, int, int] | None, reason: str) -> Iterator[SpoolEvent]:
        """No more entries will come: end what is open, and declare what was offered but is not here."""
        yield from self.damaged(mono_ns, reason)
        counts = self.exchanges, self.bytes_in, self.bytes_out
        offered = offered or counts
        exchanges, bytes_in, bytes_out = (want - have for want, have in zip(offered, counts, strict=True))
        if exchanges or bytes_in or bytes_out:
            self.exchanges, self.bytes_in, self.bytes_out = offered
            yield Dropped(self.writer, mono_ns, exchanges, bytes_in, bytes_out, reason)

    def damaged(self, mono_ns: int, reason: str) -> Iterator[SpoolEvent]:
        """Entries were lost: nothing more of what is open can be trusted, so it ends here."""
        for exchange in list(self._open):
            yield from self._end(exchange, mono_ns, Ending.TRUNCATED, reason)

    def snapshot(self) -> dict[str, Any]:
        """JSON-safe state to go on from at the next entry."""
        return {
            "counts": [self.exchanges, self.bytes_in, self.bytes_out],
            "closed": self.closed,
            "open": {
                str(x): [list(o.bytes.values()), *(b.state() for b in o.sides.values())] for x, o in self._open.items()
            },
        }

    def _restore(self, snapshot: dict[str, Any]) -> None:
        self.exchanges, self.bytes_in, self.bytes_out = snapshot["counts"]
        self.closed = snapshot["closed"]
        for exchange, (counts, request, response) in snapshot["open"].items():
            o = self._open[int(exchange)] = _Open()
            o.bytes = dict(zip(o.bytes, counts, strict=True))
            o.sides = {Side.REQUEST: _Body.of(request), Side.RESPONSE: _Body.of(response)}

    def _count(self, exchange: int, side: Side, size: int) -> None:
        """Bytes of exchanges that are not open (their beginning was damaged) stay uncounted: ``died`` declares them."""
        if exchange not in self._open:
            return
        self._open[exchange].bytes[side] += size
        if side is Side.REQUEST:
            self.bytes_in += size
        else:
            self.bytes_out += size

    def _control(self, e: fmt.Entry) -> Iterator[SpoolEvent]:
        event: dict[str, Any] = json.loads(e.payload)
        w, x, ns = self.writer, e.exchange, e.mono_ns
        match event["event"]:
            case "ended":
                why, size_in, size_out = event.get("lost", ""), event.get("extra_in", 0), event.get("extra_out", 0)
                self._count(x, Side.REQUEST, size_in)
                self._count(x, Side.RESPONSE, size_out)
                yield from self._end(x, ns, Ending(event["ending"]), event["reason"], (why, size_in, size_out))
            case "refused":
                yield Refused(w, x, ns, event["status"], event["reason"], event["meta"])
            case "opaque":
                size_in, size_out = event["bytes_in"], event["bytes_out"]
                yield Opaque(w, x, ns, event["host"], size_in, size_out, event["duration_ms"], event["reason"])
            case "dropped":
                count, size_in, size_out = event["exchanges"], event["bytes_in"], event["bytes_out"]
                self.exchanges += count
                self.bytes_in += size_in
                self.bytes_out += size_out
                yield Dropped(w, ns, count, size_in, size_out, event["reason"], event["first"], event["last"])
            case "clock":
                self.clock(event["wall_ns"], ns)
                yield ClockStepped(w, ns, event["step_ns"])
            case "closed":
                self.closed = True

    def _end(
        self, exchange: int, mono_ns: int, ending: Ending, reason: str, lost: tuple[str, int, int] = ("", 0, 0)
    ) -> Iterator[SpoolEvent]:
        state = self._open.pop(exchange, None)
        if state is None:
            return
        for side, body in state.sides.items():
            if not body.ended:
                yield BodyEnded(self.writer, exchange, mono_ns, side, ending)
        sizes = state.bytes
        yield Ended(self.writer, exchange, mono_ns, ending, sizes[Side.REQUEST], sizes[Side.RESPONSE], reason, *lost)


def _prints(raw: bytes) -> dict[str, str]:
    return dict(p.split("=", 1) for p in raw.decode("latin-1").split(";") if p)
