"""Lines of one segment, plain or compressed, from the start or from an offset. Whole lines only, LF removed."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import zstandard

from audit.stored import written


def lines_of(path: Path, offset: int = 0) -> Iterator[bytes]:
    """From byte ``offset`` of the plain bytes; a last line without LF is still being written and is not given."""
    with open_segment(path) as file:
        if offset:
            file.seek(offset)
        for line in written(file):
            if line.endswith(b"\n"):
                yield line[:-1]


def open_segment(path: Path) -> BinaryIO:
    if path.suffix != ".zst":
        return path.open("rb")
    stream = zstandard.ZstdDecompressor().stream_reader(path.open("rb"), closefd=True)
    return io.BufferedReader(stream, 1 << 20)
