"""Where one writer's segments are: in its directory, or moved to disk because the spool was filling.

In: the two directories. Out: numbers, descriptors, sizes. A segment is moved one way and whole, so looking in memory
first and on disk second always finds it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


def segment_name(number: int) -> str:
    return f"seg-{number:010d}"


def numbers(directory: Path) -> list[int]:
    """Of the segments in one directory, oldest first."""
    try:
        return sorted(int(n[4:]) for n in os.listdir(directory) if n.startswith("seg-"))  # noqa: PTH208 - names only, no Path each
    except (FileNotFoundError, NotADirectoryError):
        return []


@dataclass(frozen=True, slots=True)
class Segments:
    """``moved``: where the spool's overflow puts this writer's segments, or None when there is no overflow."""

    directory: Path
    moved: Path | None = None

    def numbers(self) -> list[int]:
        here = numbers(self.directory)
        return sorted({*here, *numbers(self.moved)}) if self.moved else here

    def open(self, number: int) -> int:
        """A descriptor for reading. FileNotFoundError when it is in neither place."""
        try:
            return os.open(self.directory / segment_name(number), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            if self.moved is None:
                raise
        return os.open(self.moved / segment_name(number), os.O_RDONLY | os.O_CLOEXEC)

    def size(self, number: int) -> int:
        """Bytes; 0 when it is gone."""
        return size_of(self.directory / segment_name(number)) or (
            size_of(self.moved / segment_name(number)) if self.moved else 0
        )

    def drop(self, number: int) -> None:
        for directory in (self.directory, self.moved):
            if directory is not None:
                try:
                    (directory / segment_name(number)).unlink(missing_ok=True)
                except NotADirectoryError:
                    pass  # whatever is in the overflow's place, no segment is there


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
