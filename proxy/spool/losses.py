"""What a writer could not capture, counted exactly until an entry says it.

In: entries that are not in the spool. Out: the ``dropped`` and ``ended`` entries' content, in bytes as forwarded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proxy.spool import format as fmt


@dataclass(slots=True)
class Loss:
    """An exchange that lost at least one entry. ``opened``: its beginning is in the spool, so an ending is owed.

    ``told``: an entry of its own (a tunnel's) says how much it was, so that it is no gap.
    """

    opened: bool
    bytes_in: int = 0
    bytes_out: int = 0
    reason: str = ""
    told: bool = False

    def ended(self, ending: str, reason: str) -> dict[str, object]:
        """Its ending, with the bytes that are not there."""
        return {
            "event": "ended",
            "ending": ending,
            "reason": reason or self.reason,
            "lost": "" if self.told else self.reason,
            "extra_in": self.bytes_in,
            "extra_out": self.bytes_out,
        }


@dataclass(slots=True)
class Missing:
    """What a ``dropped`` entry will say: exchanges that have no entry at all, and their bytes."""

    exchanges: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    first: int = 0
    last: int = 0

    def count(self, exchange: int) -> None:
        self.exchanges += 1
        self.first = self.first or exchange
        self.last = exchange

    def add(self, said: dict[str, Any]) -> None:
        """A ``dropped`` entry that could not be written: its exchanges are still to be said."""
        self.exchanges += said["exchanges"]
        self.bytes_in += said["bytes_in"]
        self.bytes_out += said["bytes_out"]
        self.first = self.first or said["first"]
        self.last = max(self.last, said["last"])

    def any(self) -> bool:
        return bool(self.exchanges or self.bytes_in or self.bytes_out)

    def dropped(self, reason: str) -> dict[str, object]:
        return {
            "event": "dropped",
            "exchanges": self.exchanges,
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "first": self.first,
            "last": self.last,
            "reason": reason,
        }


class Losses:
    """Of one writer. ``live``: by exchange, until it is over. ``dropped``: exchanges not captured so far."""

    __slots__ = ("dropped", "live", "missing")

    def __init__(self) -> None:
        self.live: dict[int, Loss] = {}
        self.missing = Missing()
        self.dropped = 0

    def count(self, exchange: int, kind: int, size: int, full: str) -> Loss | None:
        """The loss this entry belongs to, with its ``size`` body bytes added; None when it is to be captured.

        ``full``: why nothing is captured now, or "": then only exchanges that already lost something go on losing.
        """
        lost = self.live.get(exchange)
        if lost is None:
            if not full:
                return None
            lost = self.live[exchange] = Loss(opened=not kind & fmt.OPEN, reason=full)
            if not lost.opened:
                self.missing.count(exchange)
                self.dropped += 1
        into: Loss | Missing = lost if lost.opened else self.missing
        if kind & fmt.RESPONSE:
            into.bytes_out += size
        else:
            into.bytes_in += size
        return lost

    def take_missing(self) -> Missing:
        """What a ``dropped`` entry says now; counting begins anew."""
        gone, self.missing = self.missing, Missing()
        return gone
