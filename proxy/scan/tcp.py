"""One TCP connection's captured segments put in order (RFC 9293 §3.4). Sans-IO, bounded per direction.

In: segments of either end, as captured: out of order, doubled, overlapping. Out: which end's bytes come next.
"""

from __future__ import annotations

from dataclasses import dataclass, field

HELD_CAP_BYTES = 256 << 10  # out-of-order bytes one direction may wait with before the gap counts as never captured
_HALF, _FULL = 1 << 31, 1 << 32


@dataclass(slots=True)
class Direction:
    """``due`` is the next sequence number, None before the first segment. ``lost``: bytes are missing for good."""

    due: int | None = None
    fin_at: int | None = None
    lost: bool = False
    _held: dict[int, bytes] = field(default_factory=dict)
    _held_bytes: int = 0

    def syn(self, seq: int) -> None:
        self.due = (seq + 1) % _FULL

    def fin(self, seq: int, size: int) -> None:
        self.fin_at = (seq + size) % _FULL
        if self.due is None:
            self.due = seq

    @property
    def ended(self) -> bool:
        """The FIN is there, and everything before it."""
        return self.fin_at is not None and self.fin_at == self.due

    @property
    def waiting(self) -> bool:
        """Later bytes, or the FIN, are there and earlier ones are not."""
        return bool(self._held) or (self.fin_at is not None and not self.ended)

    def take(self, seq: int, data: bytes) -> bytes:
        """The bytes that are in order now, from this segment and those that waited for it."""
        if self.lost or not data:
            return b""
        if self.due is None:
            self.due = seq
        out = self._fit(seq, data)
        while out and (found := self._next()) is not None:
            out += self._fit(*found)
        return out

    def _fit(self, seq: int, data: bytes) -> bytes:
        assert self.due is not None
        ahead = (seq - self.due + _HALF) % _FULL - _HALF
        if ahead > 0:
            self._hold(seq, data)
            return b""
        new = data[-ahead:] if ahead else data
        self.due = (self.due + len(new)) % _FULL
        return new

    def _hold(self, seq: int, data: bytes) -> None:
        known = self._held.get(seq, b"")
        if len(data) <= len(known):
            return
        self._held[seq] = data
        self._held_bytes += len(data) - len(known)
        if self._held_bytes > HELD_CAP_BYTES:
            self.lost = True
            self._held.clear()

    def _next(self) -> tuple[int, bytes] | None:
        """A held segment that begins at or before what is due."""
        assert self.due is not None
        for seq in self._held:
            if (seq - self.due + _HALF) % _FULL - _HALF <= 0:
                data = self._held.pop(seq)
                self._held_bytes -= len(data)
                return seq, data
        return None
