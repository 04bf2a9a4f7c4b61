"""Bounded disk: closed files are compressed; the oldest are deleted by age and size, their manifests stay.

In: the log and a closed file, after each rotation. Out: smaller files; one ``retention`` record per deleted file, so a
missing file without one is found by ``verify``. Nothing else ever deletes a file of the log.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import zstandard

from audit import record as records
from audit.chain import line_hash
from audit.clock import Clock
from audit.cursor import in_order
from audit.files import Manifest, Segment, load_manifest, segments
from audit.json_text import encode
from audit.log import AuditLog
from audit.tail import last_records

DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class Retention:
    """Defaults of docs/privacy.md: 180 days or 10 GiB, whichever comes first."""

    max_age_s: float = 180 * DAY_S
    max_bytes: int = 10 << 30
    compress: bool = True


def housekeeping(rules: Retention, clock: Clock | None = None) -> Callable[[AuditLog, Path], None]:
    """What ``AuditLog(after_rotation=…)`` runs on its sync thread, off the append path."""
    times = clock or Clock()

    def after_rotation(log: AuditLog, closed: Path) -> None:
        try:
            if rules.compress:
                compress(closed)
            remove_old(log, rules, times.wall_ns() / 1e9)
        except OSError as error:
            log.health.error = str(error)

    return after_rotation


def compress(path: Path) -> Path:
    """``x.jsonl`` becomes ``x.jsonl.zst``: written whole and synced before the plain file goes."""
    packed = path.with_name(path.name + ".zst")
    temporary = path.with_name(path.name + ".zst.new")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "wb") as out, path.open("rb") as plain:
        zstandard.ZstdCompressor(level=6, write_checksum=True).copy_stream(plain, out, size=path.stat().st_size)
        out.flush()
        os.fdatasync(out.fileno())
    temporary.replace(packed)
    path.unlink()
    return packed


def remove_old(log: AuditLog, rules: Retention, now_s: float) -> list[int]:
    """Record each deletion, then delete: earlier logs whole, of this one the oldest files. The numbers removed."""
    _remove_earlier_logs(log, rules, now_s)
    removed = []
    for segment, manifest, reason in _due(log, rules, now_s):
        assert segment.path is not None
        log.append(
            records.retention(
                number=segment.number,
                first_seq=manifest.first_seq,
                last_seq=manifest.last_seq,
                sha256=manifest.sha256,
                reason=reason,
            )
        )
        log.checkpoint()
        segment.path.unlink()
        removed.append(segment.number)
    return removed


def _remove_earlier_logs(log: AuditLog, rules: Retention, now_s: float) -> None:
    """A log that could not be continued ends; once all of it is due, all of it goes."""
    total = sum(s.path.stat().st_size for s in segments(log.directory) if s.path is not None)
    for log_id in dict.fromkeys(s.log_id for s in in_order(log.directory)):
        newest = last_records(log.directory, log_id, 1)
        if log_id == log.log_id or not newest:
            continue
        age_s = now_s - datetime.fromisoformat(newest[0]["ts"]).timestamp()
        reason = "max_age" if age_s > rules.max_age_s else "max_bytes" if total > rules.max_bytes else None
        if reason is None:
            return
        last = {"first_seq": 0, "last_seq": newest[0]["seq"], "sha256": line_hash(encode(newest[0]))}
        log.append(records.retention(number=None, log_id=log_id, reason=reason, **last))
        for path in log.directory.glob(f"{log_id}.*"):
            total -= path.stat().st_size
            path.unlink()


def _due(log: AuditLog, rules: Retention, now_s: float) -> Iterator[tuple[Segment, Manifest, str]]:
    """Closed files of this log, oldest first, until age and size are within bounds."""
    here = [s for s in segments(log.directory) if s.log_id == log.log_id and s.path is not None]
    total = sum(s.path.stat().st_size for s in here if s.path is not None)
    for segment in here:
        if segment.manifest is None or segment.path is None:
            return
        manifest = load_manifest(segment.manifest)
        age_s = now_s - datetime.fromisoformat(manifest.last_ts).timestamp()
        reason = "max_age" if age_s > rules.max_age_s else "max_bytes" if total > rules.max_bytes else None
        if reason is None:
            return
        total -= segment.path.stat().st_size
        yield segment, manifest, reason
