"""One supervised process: how it is started, when it may start again."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from proxy.spawn import environment

CALM_S = 5.0  # a part that lived this long starts again at once
FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 5.0


@dataclass(slots=True)
class Part:
    """``role``: relay, analyzer or control. ``link``: our end of a socket pair, when the part is a relay."""

    role: str
    argv: Sequence[str]
    environment: dict[str, str] = field(default_factory=dict)
    fds: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    link: socket.socket | None = None
    starts: int = 0
    due: float | None = 0.0  # monotonic: when to start; None while it runs or is not wanted
    retiring: bool = False  # it drains; another has its place
    _began: float = 0.0
    _wait: float = 0.0

    @property
    def pid(self) -> int | None:
        return None if self.process is None else self.process.pid

    def start(self, argv: Sequence[str], fds: tuple[int, ...]) -> None:
        """Start it. Descriptors are inherited under the same numbers."""
        self.process = subprocess.Popen(
            list(argv),
            pass_fds=fds,
            env={**environment(), **self.environment},
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C at the terminal is the supervisor's to pass on
        )
        self.starts += 1
        self.due = None
        self._began = time.monotonic()

    def died(self) -> None:
        """It is gone: start again at once if it lived, with growing waits if it does not stay up."""
        self.process = None
        if self.link:
            self.link.close()
            self.link = None
        now = time.monotonic()
        if now - self._began >= CALM_S:
            self._wait = 0.0
        self.due = now + self._wait
        self._wait = min(max(self._wait * 2, FIRST_WAIT_S), LONGEST_WAIT_S)

    def signal(self, number: int) -> None:
        if self.process is not None:
            try:
                self.process.send_signal(number)
            except ProcessLookupError:
                pass
