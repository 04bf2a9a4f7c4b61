"""The strict tick: what a loop tick received is captured in one write, and only then is any of it sent on.

``push`` takes a callable and its argument (a transport's ``write``, a ``close``); they run in order after the spool's
write, once per tick, or earlier when a tick holds 1 MiB. A killed relay thus has sent nothing the spool does not have.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from proxy.spool.writer import Writer

FLUSH_BYTES = 1 << 20


class Tick:
    __slots__ = ("_armed", "_sends", "_soon", "_spool", "count")

    def __init__(self, loop: asyncio.AbstractEventLoop, spool: Writer) -> None:
        self._soon = loop.call_soon
        self._spool = spool
        self._sends: list[tuple[Callable[[Any], object], Any]] = []
        self._armed = False
        self.count = 0

    def push(self, act: Callable[[Any], object], argument: Any) -> None:
        """After this tick's capture is written, call ``act(argument)``."""
        self._sends.append((act, argument))
        if not self._armed:
            self._armed = True
            self._soon(self._run)
        elif self._spool.pending_bytes > FLUSH_BYTES:
            self.flush()

    def arm(self) -> None:
        """Something was captured and nothing is sent with it: flush this tick all the same."""
        if not self._armed:
            self._armed = True
            self._soon(self._run)

    def _run(self) -> None:
        self._armed = False
        self.flush()

    def flush(self) -> None:
        """Write, then send. Acts pushed meanwhile (a send that fails closes something) run too."""
        self.count += 1
        self._spool.flush()
        sends = self._sends
        while sends:
            self._sends = []
            for act, argument in sends:
                try:
                    act(argument)
                except (RuntimeError, OSError):
                    # the peer left meanwhile: uvloop raises for a write, asyncio for write_eof; connection_lost tells
                    pass
            self._spool.flush()
            sends = self._sends
