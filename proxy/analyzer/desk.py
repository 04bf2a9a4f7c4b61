"""Everything the analyzer's steps work with, in one place: book, judge, writer, metrics, configuration.

In: nothing. Out: ``Desk``, made once by ``proxy/analyzer/start.py`` (or a test), handed to every step.
"""

from __future__ import annotations

import pwd
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from classifiers import classify
from classifiers.call import ToolCall
from classifiers.context import Context
from classifiers.effects import Action
from proxy.analyzer.around import origin_of_this_machine
from proxy.analyzer.guard import Guard
from proxy.analyzer.judge import Judge
from proxy.analyzer.tracked import Tracked
from proxy.analyzer.writer import RecordWriter
from proxy.metrics import Metrics
from proxy.sessions.book import SessionBook
from proxy.sessions.peer import PeerFinder
from proxy.settings import Config

LAGS_KEPT = 1000


@dataclass(slots=True)
class Desk:
    config: Config
    writer: RecordWriter
    judge: Judge
    guard: Guard
    metrics: Metrics
    peers: PeerFinder
    book: SessionBook
    shared: dict[str, Any] = field(default_factory=dict)
    origin: dict[str, Any] = field(default_factory=origin_of_this_machine)
    classify: Callable[[ToolCall, Context], Action] = classify
    lags_ns: deque[int] = field(default_factory=lambda: deque(maxlen=LAGS_KEPT))

    def context(self, tracked: Tracked) -> Context:
        session = tracked.session
        return Context(
            cwd=session.cwd.value if session else None,
            home=self.home(tracked),
            tools=dict(self.config.tools),
            agent=tracked.identity.agent,
        )

    def home(self, tracked: Tracked) -> str | None:
        """The home of the calling process's user, when it runs on this machine."""
        uid = (tracked.exchange.peer or {}).get("uid")
        if uid is None:
            return None
        try:
            return pwd.getpwuid(uid).pw_dir
        except KeyError:
            return None

    def look_up_peer(self, tracked: Tracked) -> None:
        """Fill in uid, pid and program of the caller as soon as they are known; only the uid is waited for."""
        peer = tracked.exchange.peer
        if peer is not None and peer.get("addr") and None in (peer.get("uid"), peer.get("pid")):
            tracked.exchange.peer = self.peers.get(peer["addr"], 0.05 if peer.get("uid") is None else 0.0)

    def note_lag(self, mono_ns: int) -> None:
        """A call whose last byte was relayed at ``mono_ns`` has its record now."""
        if mono_ns:
            self.lags_ns.append(max(0, time.monotonic_ns() - mono_ns))
