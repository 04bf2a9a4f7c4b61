"""An analyzer put together from a configuration: log, judge, book, taken up where an earlier life stopped.

In: ``Config``. Out: ``Running``, for the loop in ``__main__.py``. Raises LogInUseError when another process writes this
log, OSError when the state folder cannot be used.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.log import AuditLog
from audit.retention import Retention, housekeeping
from audit.state import State
from proxy.analyzer.analyzer import Analyzer
from proxy.analyzer.desk import Desk
from proxy.analyzer.guard import Guard
from proxy.analyzer.judge import Judge
from proxy.analyzer.snapshot import Keeper, load_snapshot, resume
from proxy.analyzer.writer import RecordWriter
from proxy.inbox import Inbox, inbox_file
from proxy.metrics import Metrics
from proxy.places import named
from proxy.sessions.book import SessionBook
from proxy.sessions.peer import PeerFinder
from proxy.settings import Config
from proxy.spool.overflow import Overflow
from proxy.spool.tail import SpoolTail

RECOVERED_RECORDS = 200_000  # the log's tail looked at for what an earlier life wrote after its last snapshot


@dataclass(slots=True)
class Running:
    config: Config
    log: AuditLog
    desk: Desk
    analyzer: Analyzer
    keeper: Keeper
    tail: SpoolTail
    inbox: Inbox
    stopping: threading.Event
    log_mark: dict[str, Any]  # records from here on may be met again in the capture
    overflow: Overflow | None = None

    def save(self) -> bool:
        """A disk that refuses (False) costs nothing but time: the spool keeps what is not yet behind a snapshot."""
        if (why := self.log.in_doubt) is not None:  # the capture is the only copy that is sure to exist
            self.keeper.error = why
            return False
        if self.desk.writer.caught_up:  # before that, what an earlier life wrote is still to be passed over
            self.log_mark = {"id": self.log.log_id, "next_seq": self.log.next_seq}
        extra = {"inbox": self.inbox.offset, "log": self.log_mark}
        return self.keeper.save(self.analyzer, self.tail, extra)

    def close(self) -> None:
        if self.overflow is not None:
            self.overflow.close()
        self.tail.close()
        self.desk.peers.close()
        self.log.close()
        self.desk.guard.close()


def start(config: Config, judge: Judge) -> Running:
    state_dir = Path(config.state)
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    snapshot = Keeper(state_dir / "analyzer" / "snapshot")
    saved = load_snapshot(snapshot.path)
    audit = State(state_dir)
    guard = audit.guard(rules=config.privacy.rules, identities=config.privacy.identities)
    kept = Retention(max_age_s=config.retention.max_age_s, max_bytes=config.retention.max_bytes)
    log = audit.open_log(guard=lambda record: guard(named(record)), after_rotation=housekeeping(kept))
    metrics, stopping = Metrics(), threading.Event()
    desk = Desk(
        config=config,
        writer=RecordWriter(log, metrics, stopping),
        judge=judge,
        guard=Guard(inbox_file(config.spool.dir).with_name("in-hand")),
        metrics=metrics,
        peers=PeerFinder(),
        book=SessionBook(config.session_idle_s, config.launch.session if config.launch else None),
    )
    analyzer = Analyzer(desk)
    Path(config.spool.dir).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    disk = state_dir / "spool-overflow"
    tail = SpoolTail(Path(config.spool.dir), None if saved is None else saved["tail"], disk)
    overflow = Overflow(tail.root, disk, config.spool.cap_bytes) if config.spool.overflow else None
    inbox = Inbox(inbox_file(config.spool.dir), 0 if saved is None else saved["inbox"])
    if saved is not None:
        resume(analyzer, saved)
    mark: dict[str, Any] = saved["log"] if saved is not None else {"id": None, "next_seq": 0}
    desk.writer.remember(_written_since(log, mark))
    snapshot.begin(tail.checkpoint(), analyzer, mark)
    if overflow is not None:
        overflow.start()
    return Running(config, log, desk, analyzer, snapshot, tail, inbox, stopping, mark, overflow)


def _written_since(log: AuditLog, known: dict[str, Any]) -> list[dict[str, Any]]:
    """Records of the log the snapshot does not know of: what a crash must not write twice."""
    if known["id"] == log.log_id:
        count = log.next_seq - known["next_seq"]
        return log.tail(min(max(count, 0), RECOVERED_RECORDS))
    return log.tail(RECOVERED_RECORDS)
