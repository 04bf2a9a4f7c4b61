"""Reading a log: records by time, session or id, in order, opening only the files that can hold them.

In: a state directory (or the log's own). Out: records as dicts. Reads a log another process is writing; a line still
being written is left out. Within a file time only goes forward, so ``since`` is found by halving.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

import orjson

from audit.cursor import in_order, ts_of
from audit.files import Segment, load_manifest
from audit.json_text import encode
from audit.segment_reader import lines_of, open_segment

Record = dict[str, Any]


def audit_dir(path: Path) -> Path:
    """``<state>/audit``, or ``path`` itself when it holds segments. Raises FileNotFoundError in one sentence."""
    for place in (path / "audit", path):
        if any(place.glob("*.jsonl")) or any(place.glob("*.jsonl.zst")):
            return place
    raise FileNotFoundError(f"{path}: no audit log is here; expected {path / 'audit'}/*.jsonl")


def lines(path: Path, *, since: str | None = None, until: str | None = None) -> Iterator[bytes]:
    """Raw lines in order. ``since`` and ``until`` as in a record's ts (UTC), either may be a prefix."""
    for segment in in_order(audit_dir(path)):
        if segment.path is None or not _overlaps(segment, since, until):
            continue
        offset = _offset_of(segment.path, since) if since and segment.path.suffix == ".jsonl" else 0
        for line in lines_of(segment.path, offset):
            ts = ts_of(line) if since or until else ""
            if until and ts > until:
                break
            if not since or ts >= since:
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


def segments_since(path: Path, since: str | None = None) -> list[Path]:
    """Files, in order, that can hold a record at or after ``since``."""
    found = (s for s in in_order(audit_dir(path)) if _overlaps(s, since, None))
    return [s.path for s in found if s.path is not None]


def _overlaps(segment: Segment, since: str | None, until: str | None) -> bool:
    if segment.manifest is None:
        return True
    manifest = load_manifest(segment.manifest)
    return not (since and manifest.last_ts < since) and not (until and manifest.first_ts > until)


def _offset_of(path: Path, since: str) -> int:
    return _halve(path, lambda line: ts_of(line) < since)


def _at_seq(path: Path, seq: int) -> Record | None:
    offset = 0 if path.suffix != ".jsonl" else _halve(path, lambda line: _seq_of(line) < seq)
    for line in lines_of(path, offset):
        if _seq_of(line) >= seq:
            record: Record = orjson.loads(line)
            return record
    return None


def _seq_of(line: bytes) -> int:
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
            line = file.readline()
            if line.endswith(b"\n") and start < high and before(line):
                low = start
            else:
                high = middle
    return low
