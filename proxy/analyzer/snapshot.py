"""What the analyzer keeps across its own death: session state, and from where the capture has to be read again.

In: the analyzer and the spool's reader. Out: one file, written whole, and segments nobody needs any more, released.
The position kept is the newest one before the beginning of every exchange still open, so an open exchange is read
again from its first byte; what was applied of it before is passed over by number (09-contracts 10). A stream that
stays open for long is kept whole instead (``proxy/analyzer/frozen.py``), so that it holds no segment.
Pickle, because the state is our own plain data in our own 0600 file. Whoever writes that file says what we run, so one
that another account wrote or could have written is put aside unread, as another version's is.
"""

from __future__ import annotations

import os
import pickle
import stat
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from proxy.analyzer.analyzer import NOT_MET, Analyzer, Id
from proxy.analyzer.frozen import Freezer, thaw
from proxy.folders import alone_in, replaceable

VERSION = 6  # of everything kept: the shape of sessions, open exchanges and what reads them
MAX_POSITIONS = 4096


class Tail(Protocol):
    def checkpoint(self) -> dict[str, Any]: ...

    def release(self, upto: dict[str, Any]) -> None: ...


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the capture, between polls.

    ``fed``: how many events each open exchange had been given by then. ``log``: records from there on in the log may be
    met again when the capture is read from here.
    """

    generation: int
    checkpoint: dict[str, Any]
    fed: dict[Id, int]
    log: Any = None


@dataclass(slots=True)
class Keeper:
    path: Path
    positions: deque[Position] = field(default_factory=deque)
    freezer: Freezer = field(default_factory=Freezer)
    error: str | None = None

    def begin(self, checkpoint: dict[str, Any], analyzer: Analyzer | None = None, log: Any = None) -> None:
        """``checkpoint``: where reading starts; exchanges taken up from a snapshot have their skips before them."""
        fed = {key: t.fed - t.skip for key, t in analyzer.open.items()} if analyzer is not None else {}
        self.positions.append(Position(0, checkpoint, fed, log))

    def save(self, analyzer: Analyzer, tail: Tail, extra: dict[str, Any]) -> bool:
        """Write the snapshot, then let go of what is behind it. Call between polls only. False: the disk refused."""
        here = tail.checkpoint()
        frozen = self.freezer.freeze(analyzer.open)
        pinning = [t.generation for key, t in analyzer.open.items() if key not in frozen]
        analyzer.generation += 1
        fed = {key: t.fed - t.skip for key, t in analyzer.open.items()}
        self.positions.append(Position(analyzer.generation, here, fed, extra.get("log")))
        keep = min(pinning, default=analyzer.generation)
        while len(self.positions) > 1 and (self.positions[1].generation <= keep or len(self.positions) > MAX_POSITIONS):
            self.positions.popleft()
        safe = self.positions[0]
        analyzer.settled = {key: began for key, began in analyzer.settled.items() if began >= safe.generation}
        kept = {key: (data, analyzer.open[key].fed - safe.fed[key]) for key, data in frozen.items() if key in safe.fed}
        try:
            self._write(_state(analyzer, safe, kept, {**extra, "log": safe.log}))
        except OSError as error:
            self.error = f"{self.path}: {error.strerror}"
            return False
        self.error = None
        tail.release(safe.checkpoint)
        return True

    def _write(self, state: dict[str, Any]) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        draft.unlink(missing_ok=True)  # left by a death, or laid there: its mode, owner or link would be kept
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            pickle.dump(state, file, protocol=5)
        draft.replace(self.path)


def _state(
    analyzer: Analyzer, safe: Position, frozen: dict[Id, tuple[bytes, int]], extra: dict[str, Any]
) -> dict[str, Any]:
    desk = analyzer.desk
    return {
        "version": VERSION,
        "tail": safe.checkpoint,
        "settled": set(analyzer.settled),
        "open": {
            key: {"applied": t.applied, "turned": t.turned, "session": t.session.id if t.session else None}
            for key, t in analyzer.open.items()
        }
        | analyzer.resume,
        "frozen": frozen,
        "book": desk.book,
        "shared": desk.shared,
        "judge": desk.judge.state(),
        "metrics": desk.metrics.snapshot(),
        **extra,
    }


def load_snapshot(path: Path) -> dict[str, Any] | None:
    """The saved state, or None when there is none this version can use; an unusable file is put aside."""
    try:
        with open(path, "rb", opener=_without_links) as file:
            _ours(os.fstat(file.fileno()), path.parent.stat())
            state = pickle.load(file)  # noqa: S301 - our own file, that nobody else can have written
    except FileNotFoundError:
        return None
    except Exception:
        path.replace(path.with_suffix(".unreadable"))
        return None
    return state if isinstance(state, dict) and state.get("version") == VERSION else None


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)


def _ours(file: os.stat_result, folder: os.stat_result) -> None:
    """PermissionError unless only this account can have written the file."""
    shared = file.st_mode & 0o002 or (file.st_mode & 0o020 and not alone_in(file.st_gid))
    if not stat.S_ISREG(file.st_mode) or file.st_uid != os.geteuid() or shared or replaceable(folder):
        raise PermissionError("others could have written it")


def resume(analyzer: Analyzer, state: dict[str, Any]) -> None:
    """Take up where the snapshot stands."""
    desk = analyzer.desk
    analyzer.settled, analyzer.resume = dict.fromkeys(state["settled"], NOT_MET), dict(state["open"])
    book = state["book"]
    book.idle_s, book.launch = desk.book.idle_s, desk.book.launch
    desk.book = book
    desk.shared.update(state["shared"])
    desk.judge.restore(state["judge"])
    desk.metrics.restore(state["metrics"])
    for key, (data, skip) in state["frozen"].items():
        before = analyzer.resume.pop(key)
        analyzer.open[key] = thaw(data, skip, desk.shared, book.sessions.get(before["session"] or ""))
