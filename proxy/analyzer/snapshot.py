"""What the analyzer keeps across its own death: session state, and from where the capture has to be read again.

In: the analyzer and the spool's reader. Out: one file, written whole, and segments nobody needs any more, released.
The position kept is the newest one before the beginning of every exchange still open, so an open exchange is read
again from its first byte; what was applied of it before is passed over by number (09-contracts 10).
Pickle, because the state is our own plain data in our own 0600 file; another version's file is put aside.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from proxy.analyzer.analyzer import Analyzer

VERSION = 1
MAX_PINNED = 4096  # positions remembered; beyond it the oldest open exchange is read again from a later one


class Tail(Protocol):
    def checkpoint(self) -> dict[str, Any]: ...

    def release(self, upto: dict[str, Any]) -> None: ...


@dataclass(slots=True)
class Keeper:
    """``positions``: (generation, checkpoint) taken between polls; an exchange knows the generation it began in."""

    path: Path
    positions: deque[tuple[int, dict[str, Any]]] = field(default_factory=deque)

    def begin(self, checkpoint: dict[str, Any]) -> None:
        self.positions.append((0, checkpoint))

    def save(self, analyzer: Analyzer, tail: Tail, extra: dict[str, Any]) -> None:
        """Write the snapshot, then let go of what is behind it. Call between polls only."""
        here = tail.checkpoint()
        oldest = min((t.generation for t in analyzer.open.values()), default=None)
        analyzer.generation += 1
        self.positions.append((analyzer.generation, here))
        keep = analyzer.generation if oldest is None else oldest
        while len(self.positions) > 1 and (self.positions[1][0] <= keep or len(self.positions) > MAX_PINNED):
            self.positions.popleft()
        safe = self.positions[0][1]
        first = self.positions[0][0]
        analyzer.settled = {key: began for key, began in analyzer.settled.items() if began >= first}
        self._write(_state(analyzer, safe, extra))
        tail.release(safe)

    def _write(self, state: dict[str, Any]) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            pickle.dump(state, file, protocol=5)
        draft.replace(self.path)


def _state(analyzer: Analyzer, safe: dict[str, Any], extra: dict[str, Any]) -> dict[str, Any]:
    desk = analyzer.desk
    return {
        "version": VERSION,
        "tail": safe,
        "settled": set(analyzer.settled),
        "open": {
            key: {"applied": t.applied, "turned": t.turned, "session": t.session.id if t.session else None}
            for key, t in analyzer.open.items()
        }
        | analyzer.resume,
        "book": desk.book,
        "shared": desk.shared,
        "judge": desk.judge.state(),
        "metrics": desk.metrics.snapshot(),
        **extra,
    }


def load_snapshot(path: Path) -> dict[str, Any] | None:
    """The saved state, or None when there is none this version can use; an unusable file is put aside."""
    try:
        with path.open("rb") as file:
            state = pickle.load(file)  # noqa: S301 - our own file, 0600 in a 0700 folder
    except FileNotFoundError:
        return None
    except Exception:
        path.replace(path.with_suffix(".unreadable"))
        return None
    return state if isinstance(state, dict) and state.get("version") == VERSION else None


def resume(analyzer: Analyzer, state: dict[str, Any]) -> None:
    """Take up where the snapshot stands."""
    desk = analyzer.desk
    analyzer.settled, analyzer.resume = dict.fromkeys(state["settled"], 0), dict(state["open"])
    book = state["book"]
    book.idle_s, book.launch = desk.book.idle_s, desk.book.launch
    desk.book = book
    desk.shared.update(state["shared"])
    desk.judge.restore(state["judge"])
    desk.metrics.restore(state["metrics"])
