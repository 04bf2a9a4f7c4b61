"""The newest records of one log, read backwards from the end of its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from audit.files import segments
from audit.segment_reader import lines_of


def last_records(directory: Path, log_id: str, count: int) -> list[dict[str, Any]]:
    """At most ``count`` records, oldest first; a half-written last line is left out."""
    taken: list[bytes] = []
    for segment in sorted((s for s in segments(directory) if s.log_id == log_id), key=lambda s: -s.number):
        if segment.path is None or len(taken) >= count:
            break
        lines = list(lines_of(segment.path))
        taken = lines[-(count - len(taken)) :] + taken
    return [orjson.loads(line) for line in taken]
