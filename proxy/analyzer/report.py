"""What the analyzer says of itself in its status file: position, log, judge, sessions, figures.

In: the running analyzer. Out: the file ``proxy/status.py`` describes.
"""

from __future__ import annotations

import os
from typing import Any

from proxy.analyzer.figures import figures
from proxy.analyzer.start import Running
from proxy.status import status_file, write_status

SESSIONS_SHOWN = 200


def report(running: Running) -> None:
    desk, log = running.desk, running.log
    figures(running)
    behind = running.tail.behind_bytes()
    desk.metrics.set("onlooker_spool_bytes", behind)
    if running.overflow is not None:
        desk.metrics.set("onlooker_spool_moved_segments_total", running.overflow.moved)
    judge = desk.judge.status()
    error = desk.writer.unwritable or log.health.error or running.keeper.error
    write_status(
        status_file(running.config.spool.dir),
        {
            "pid": os.getpid(),
            "open": len(running.analyzer.open),
            "events": running.analyzer.read_events,
            "behind_bytes": behind,
            "log": {"id": log.log_id, "next_seq": log.next_seq, "acknowledged": log.acknowledged_seq, "error": error},
            "judge": judge,
            "degraded": [*judge.get("degraded", []), *_overflow(running)],
            "sessions": _sessions(running),
            "metrics": desk.metrics.snapshot(),
        },
    )


def _overflow(running: Running) -> list[str]:
    """Why a filling spool cannot move to disk: it goes on as if there were no overflow."""
    error = running.overflow.error if running.overflow is not None else None
    return [f"spool overflow: {error}"] if error else []


def _sessions(running: Running) -> list[dict[str, Any]]:
    newest = list(running.desk.book.sessions.values())[-SESSIONS_SHOWN:]
    return [
        {
            "id": s.id,
            "agent": s.agent,
            "source": s.source,
            "strength": s.strength,
            "turns": s.turn,
            "calls": s.counts["calls"],
            "flagged": s.counts["flagged"],
            "started_at": s.started_at,
            "last_at": s.last_at,
            "cwd": s.cwd.value,
        }
        for s in reversed(newest)
    ]
