"""Messages from the control process to the analyzer: hook sightings, bindings, dispositions.

In: JSON values. Out: one line each, appended to a memory-backed file beside the spool, read back in order from an
offset the analyzer keeps in its checkpoint. Not inside the spool: its readers own every folder there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

MAX_LINE_BYTES = 8 << 20  # also the largest hook body control accepts
MAX_FILE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Message:
    """``end`` is the file offset behind it: the cursor to keep once it is dealt with."""

    kind: str
    body: Any
    start: int
    end: int


def inbox_file(spool_dir: str) -> Path:
    return Path(spool_dir + ".inbox") / "messages.jsonl"


class Outbox:
    """The writing end. ``put`` returns False when the inbox is full: the sender answers neutrally all the same."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def put(self, kind: str, body: Any) -> bool:
        line = json.dumps({"kind": kind, "body": body}, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
        if len(line) > MAX_LINE_BYTES or os.fstat(self._fd).st_size + len(line) > MAX_FILE_BYTES:
            return False
        return os.write(self._fd, line) == len(line)

    def close(self) -> None:
        os.close(self._fd)


class Inbox:
    """The reading end. A line cut off by a crash of the writer is skipped when the next one begins behind it."""

    def __init__(self, path: Path, offset: int = 0) -> None:
        self._path, self.offset = path, offset

    def messages(self) -> list[Message]:
        """What arrived since the last time. Costs one stat when nothing did."""
        try:
            size = self._path.stat().st_size
        except OSError:
            return []
        if size == self.offset:
            return []
        if size < self.offset:  # a reboot emptied the memory-backed file
            self.offset = 0
        with self._path.open("rb") as file:
            file.seek(self.offset)
            return list(self._read(file))

    def _read(self, file: BufferedReader) -> Iterator[Message]:
        while line := file.readline(MAX_LINE_BYTES):
            if not line.endswith(b"\n"):
                return
            start, self.offset = self.offset, self.offset + len(line)
            message = _parse(line, start, self.offset)
            if message is not None:
                yield message


def _parse(line: bytes, start: int, end: int) -> Message | None:
    try:
        value = json.loads(line)
        return Message(str(value["kind"]), value["body"], start, end)
    except (ValueError, KeyError, TypeError):
        return None
