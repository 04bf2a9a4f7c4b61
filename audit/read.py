"""Reading a log: records by time, session or id, in order, opening only the files that can hold them.

In: a state directory (or the log's own). Out: records as dicts. Reads a log another process is writing; a line still
being written is left out. Within a file time goes forward but for less than a clock step, so ``since`` is found by
halving, a step early.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from audit.cursor import in_order, ts_of
from audit.files import Segment, load_manifest
from audit.json_text import encode
from audit.segment_reader import lines_of, open_segment

Record = dict[str, Any]

STEP_S = 1.0  # a clock that moves by this much begins a new file (``Limits.step_ms``); less stays within one
END = "9999"  # later than any record


def audit_dir(path: Path) -> Path:
    """``<state>/audit``, or ``path`` itself when it holds segments. Raises FileNotFoundError in one sentence."""
    for place in (path / "audit", path):
        if any(place.glob("*.jsonl")) or any(place.glob("*.jsonl.zst")):
            return place
    raise FileNotFoundError(f"{path}: no audit log is here; expected {path / 'audit'}/*.jsonl")


def lines(path: Path, *, since: str | None = None, until: str | None = None) -> Iterator[bytes]:
    """Raw lines in order. ``since`` and ``until`` as in a record's ts (UTC), either may be a prefix."""
    end = moved(until, STEP_S) if until else None
    for segment in in_order(audit_dir(path)):
        if segment.path is None or not _overlaps(segment, since, until):
            continue
        offset = offset_of(segment.path, since) if since else 0
        for line in lines_of(segment.path, offset):
            ts = ts_of(line) if since or until else ""
            if end and ts > end:
                break
            if (not since or ts >= since) and (not until or ts <= until):
                yield line


def records(
    path: Path,
    *,
    since: str | None = None,
    until: str | None = None,
    kinds: Collection[str] = (),
    containing: str | None = None,
) -> Iterator[Record]:
    """``containing``: skip lines without this text before parsing them (an id, a session)."""
    needle = None if containing is None else containing.encode()
    starts = tuple(f'"kind":"{k}"'.encode() for k in kinds)
    for line in lines(path, since=since, until=until):
        if (needle is None or needle in line) and (not starts or any(s in line[:80] for s in starts)):
            yield orjson.loads(line)


def by_id(path: Path, identity: str) -> Record | None:
    """The record ``<log_id>:<seq>``, or None. A bare seq means the newest log."""
    log_id, _, number = identity.rpartition(":")
    if not number.isdigit():
        return None
    files = [s for s in in_order(audit_dir(path)) if s.path is not None]
    wanted = log_id or (files[-1].log_id if files else "")
    seq = int(number)
    for segment in (s for s in files if s.log_id == wanted):
        if segment.manifest is not None and load_manifest(segment.manifest).last_seq < seq:
            continue
        assert segment.path is not None
        record = _at_seq(segment.path, seq)
        return record if record is None or record["seq"] == seq else None
    return None


def about(path: Path, identity: str) -> list[Record]:
    """Later lines that speak of the action ``identity``: outcomes, sightings, revisions, dispositions."""
    action = by_id(path, identity)
    if action is None:
        return []
    said = records(path, since=action["ts"], containing=f'"{identity}"')
    return [r for r in said if identity in {r.get("action"), r.get("supersedes")}]


def session(path: Path, session_id: str) -> list[Record]:
    """Everything of one session, in order; lines about its actions that carry no session come too."""
    out: list[Record] = []
    ids: set[str] = set()
    needle = encode(session_id)[1:-1]
    for line in lines(path):
        if needle not in line and b'"action":"' not in line:
            continue
        record: Record = orjson.loads(line)
        if (record.get("session") or {}).get("id") == session_id or record.get("action") in ids:
            ids.add(record["id"])
            out.append(record)
    return out


def newest(path: Path, count: int, keep: Callable[[Record], bool] = lambda _: True) -> list[Record]:
    """The newest ``count`` records that are to be kept, oldest first; files are opened from the last."""
    found: list[Record] = []
    for segment in reversed(in_order(audit_dir(path))):
        if segment.path is None or len(found) >= count:
            continue
        for line in reversed(list(lines_of(segment.path))):
            record: Record = orjson.loads(line)
            if keep(record):
                found.append(record)
                if len(found) >= count:
                    break
    return found[::-1]


@dataclass(frozen=True, slots=True)
class Span:
    """A file and the newest time that can be in it."""

    path: Path
    last_ts: str


def spans(path: Path, since: str | None = None, until: str | None = None) -> list[Span]:
    """Files, in order, that can hold a record of that time; one still being written can hold any later time."""
    found = (s for s in in_order(audit_dir(path)) if _overlaps(s, since, until))
    return [Span(s.path, load_manifest(s.manifest).last_ts if s.manifest else END) for s in found if s.path is not None]


def offset_of(path: Path, since: str) -> int:
    """Where reading for ``since`` may begin: 0 in a compressed file."""
    if path.suffix != ".jsonl":
        return 0
    early = moved(since, -STEP_S)
    return _halve(path, lambda line: ts_of(line) < early)


def moved(ts: str, seconds: float) -> str:
    """A record's time so many seconds away; what is no whole time (a prefix of one) stays."""
    try:
        at = datetime.fromisoformat(ts) + timedelta(seconds=seconds)
    except (ValueError, OverflowError):
        return ts
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03d}Z"


def _overlaps(segment: Segment, since: str | None, until: str | None) -> bool:
    if segment.manifest is None:
        return True
    manifest = load_manifest(segment.manifest)
    return not (since and moved(manifest.last_ts, STEP_S) < since) and not (
        until and moved(manifest.first_ts, -STEP_S) > until
    )


def _at_seq(path: Path, seq: int) -> Record | None:
    offset = 0 if path.suffix != ".jsonl" else _halve(path, lambda line: seq_of(line) < seq)
    for line in lines_of(path, offset):
        if seq_of(line) >= seq:
            record: Record = orjson.loads(line)
            return record
    return None


def seq_of(line: bytes) -> int:
    at = line.find(b'"seq":') + 6
    return int(line[at : line.find(b",", at)])


def _halve(path: Path, before: Callable[[bytes], bool]) -> int:
    """Offset of a line start at or before the first line that is not ``before``; the file is sorted by it."""
    low, high = 0, path.stat().st_size
    with open_segment(path) as file:
        while high - low > 65536:
            middle = (low + high) // 2
            file.seek(middle)
            file.readline()
            start = file.tell()
            line = _dated_line(file)
            if line.endswith(b"\n") and start < high and before(line):
                low = start
            else:
                high = middle
    return low


def _dated_line(file: BinaryIO) -> bytes:
    """The next line whose time is in order: the checkpoint that ends a file is signed after a clock stepped."""
    while b'"kind":"checkpoint"' in (line := file.readline())[:80]:
        pass
    return line
