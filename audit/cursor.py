"""A place in the log, and the next lines from there: what tail --follow and every sink read by.

In: a directory and a cursor. Out: lines in order, and the cursor after them. Survives compression of the file it is in;
a file that retention deleted before it was read is counted in ``lost``, never skipped silently.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from audit.files import Segment, load_manifest, segments, write_atomically
from audit.segment_reader import open_segment


@dataclass(frozen=True, slots=True)
class Cursor:
    """Next to read: byte ``offset`` of file ``number`` of ``log_id``. ``lost``: records deleted unread, ever."""

    log_id: str = ""
    number: int = 0
    offset: int = 0
    lost: int = 0

    def save(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, path: Path) -> Cursor:
        """The start of everything when there is none. Raises ValueError naming the file."""
        try:
            return cls(**json.loads(path.read_bytes()))
        except FileNotFoundError:
            return cls()
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: not a cursor: {error}") from error


def read_batch(
    directory: Path, cursor: Cursor, *, max_records: int = 512, max_bytes: int = 1 << 20
) -> tuple[list[bytes], Cursor]:
    """Whole lines without LF, possibly none. Never crosses a file within one batch."""
    files = in_order(directory)
    at = _position(files, cursor)
    while at is not None:
        segment = files[at]
        if segment.key != (cursor.log_id, cursor.number):
            cursor = replace(cursor, log_id=segment.log_id, number=segment.number, offset=0)
        lines, size = _lines(segment, cursor, max_records, max_bytes)
        if lines:
            return lines, replace(cursor, offset=cursor.offset + size)
        if at + 1 >= len(files) or not _finished(segment, files[at + 1]):
            return [], cursor
        if segment.path is None:
            cursor = replace(cursor, lost=cursor.lost + _unread(segment, cursor))
        at += 1
    return [], cursor


def end_of(directory: Path) -> Cursor:
    """After everything that is there now."""
    files = [s for s in in_order(directory) if s.path is not None]
    if not files:
        return Cursor()
    last = files[-1]
    assert last.path is not None
    if last.path.suffix == ".zst":
        return Cursor(last.log_id, last.number + 1, 0)
    data = last.path.read_bytes()
    return Cursor(last.log_id, last.number, data.rfind(b"\n") + 1)


def in_order(directory: Path) -> list[Segment]:
    """Logs by the time their first file began, files by number."""
    found = list(segments(directory))
    begun: dict[str, str] = {}
    for segment in found:
        if segment.log_id not in begun:
            begun[segment.log_id] = first_ts(segment)
    return sorted(found, key=lambda s: (begun[s.log_id], s.log_id, s.number))


def first_ts(segment: Segment) -> str:
    """RFC 3339 text; empty when the file is empty."""
    if segment.manifest is not None:
        return load_manifest(segment.manifest).first_ts
    assert segment.path is not None
    with open_segment(segment.path) as file:
        return ts_of(file.readline())


def ts_of(line: bytes) -> str:
    """The record's time without parsing it: the log writes it near the front."""
    at = line.find(b'"ts":"')
    return line[at + 6 : at + 30].decode("ascii", "replace") if at >= 0 else ""


def _position(files: list[Segment], cursor: Cursor) -> int | None:
    if not files:
        return None
    if not cursor.log_id:
        return 0
    for at, segment in enumerate(files):
        if segment.log_id == cursor.log_id and segment.number >= cursor.number:
            return at
    later = [at for at, s in enumerate(files) if s.log_id == cursor.log_id]
    return min(later[-1] + 1, len(files) - 1) if later and later[-1] + 1 < len(files) else None


def _lines(segment: Segment, cursor: Cursor, max_records: int, max_bytes: int) -> tuple[list[bytes], int]:
    if segment.path is None:
        return [], 0
    lines: list[bytes] = []
    size = 0
    with open_segment(segment.path) as file:
        if segment.path.suffix == ".zst":
            _skip(file, cursor.offset)
        else:
            file.seek(cursor.offset)
        while len(lines) < max_records and size < max_bytes:
            line = file.readline()
            if not line.endswith(b"\n"):
                break
            lines.append(line[:-1])
            size += len(line)
    return lines, size


def _skip(file: object, size: int) -> None:
    read = file.read  # type: ignore[attr-defined]
    while size > 0:
        taken = len(read(min(size, 1 << 20)))
        if not taken:
            return
        size -= taken


def _finished(segment: Segment, after: Segment) -> bool:
    """A file is done once it has a manifest, or once another log was begun after it."""
    return segment.manifest is not None or after.log_id != segment.log_id


def _unread(segment: Segment, cursor: Cursor) -> int:
    if segment.manifest is None:
        return 0
    manifest = load_manifest(segment.manifest)
    read = cursor.offset / manifest.size_bytes if manifest.size_bytes else 1
    return round((manifest.last_seq - manifest.first_seq + 1) * (1 - min(read, 1)))
