"""Exchanges whose large request waits for its answer: made small when the analyzer has nothing else to do.

In: exchanges whose request has ended. Out: nothing; their memory. An answer that comes at once needs none of it, so
``AT_ONCE`` may stay as they are and the oldest of more is made small then.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from proxy.analyzer.calls import failed
from proxy.analyzer.desk import Desk
from proxy.analyzer.guard import StageFailedError
from proxy.analyzer.tracked import Tracked
from proxy.sessions.cwd import all_stated_in_prompt

AT_ONCE = 8


@dataclass(slots=True)
class AtRest:
    desk: Desk
    _waiting: deque[Tracked] = field(default_factory=deque)

    def note(self, tracked: Tracked) -> None:
        if tracked.assembler.waits:
            self._waiting.append(tracked)
        if len(self._waiting) > AT_ONCE:
            self.one()

    def one(self) -> bool:
        """Make the oldest that still waits small; False when none does."""
        while self._waiting:
            tracked = self._waiting.popleft()
            if not tracked.over and tracked.assembler.waits:
                self._small(tracked)
                return True
        return False

    def _small(self, tracked: Tracked) -> None:
        guard = self.desk.guard
        with guard.holding(tracked.place):
            try:
                guard.run("assemble", lambda: _let_go(tracked))
            except StageFailedError as error:
                failed(self.desk, tracked, error, None)


def _let_go(tracked: Tracked) -> None:
    tracked.stated = all_stated_in_prompt(tracked.exchange.request_json)
    tracked.assembler.forget_request()
