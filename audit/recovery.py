"""Taking a log up again: where it ends, what of its last line is torn, and whether its last file still chains.

In: the log's directory. Out: the ``End`` to continue from; a torn line has been cut off. Only the newest file is read:
closed ones have a manifest with the tree after them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from audit.chain import ZERO, Tree, line_hash
from audit.files import Segment, load_manifest, manifest_path, segment_path, segments
from audit.segment import OpenSegment


@dataclass(slots=True)
class End:
    """``broken``: why this log cannot be continued (a new one is begun beside it), else None."""

    log_id: str
    segment: OpenSegment
    tree: Tree
    last_hash: str
    torn_bytes: int = 0
    last_kind: str | None = None
    key_id: str | None = None
    broken: str | None = None

    @property
    def next_seq(self) -> int:
        return self.tree.size


def newest_log(directory: Path) -> str | None:
    """The log whose newest file was touched last."""
    plain = [s for s in segments(directory) if s.path is not None]
    return max(plain, key=_touched).log_id if plain else None


def find_end(directory: Path, log_id: str) -> End:
    """Read the newest file of ``log_id``, cut its torn line, and chain it from the manifest before it."""
    number = max(s.number for s in segments(directory) if s.log_id == log_id)
    path = segment_path(directory, log_id, number)
    end = End(log_id, OpenSegment(path, number), Tree(), ZERO)
    before = manifest_path(directory, log_id, number - 1)
    if number > 1:
        if not before.exists():
            end.broken = f"{before.name} is missing"
            return end
        manifest = load_manifest(before)
        end.tree, end.last_hash = Tree.from_json(manifest.tree), manifest.last_hash
    if not path.exists():
        end.broken = f"{path.name} is closed or missing"
        return end
    manifest_path(directory, log_id, number).unlink(missing_ok=True)  # a rotation that got no further: not closed
    end.torn_bytes = _cut_torn_tail(path)
    _replay(end, path)
    return end


def _replay(end: End, path: Path) -> None:
    with path.open("rb") as file:
        for line in file:
            record = _parse(line)
            fits = record is not None and record.get("prev") == end.last_hash and record.get("seq") == end.tree.size
            if record is None or not fits:
                end.broken = f"broken at seq {end.tree.size}"
                return
            _take(end, line, record)


def _take(end: End, line: bytes, record: dict[str, Any]) -> None:
    body = line[:-1]
    end.segment.size_bytes += len(line)
    end.segment.digest.update(line)
    end.segment.count(record["kind"], record["seq"], record["ts"], record["prev"])
    end.tree.push(body)
    end.last_hash = line_hash(body)
    end.last_kind = record["kind"]
    if record["kind"] == "segment":
        end.key_id = record["segment"]["key_id"]


def _cut_torn_tail(path: Path) -> int:
    """Bytes cut: what follows the last LF."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        position = size
        while position > 0:
            start = max(0, position - 65536)
            file.seek(start)
            found = file.read(position - start).rfind(b"\n")
            if found >= 0:
                keep = start + found + 1
                break
            position = start
        else:
            keep = 0
        if keep != size:
            file.truncate(keep)
            os.fdatasync(file.fileno())
        return size - keep


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None


def _touched(segment: Segment) -> tuple[float, int]:
    assert segment.path is not None
    return segment.path.stat().st_mtime, segment.number
