"""What a log's directory holds, read with the standard library alone: files, manifests, lines, the public key.

In: paths. Out: plain values. Ships in every bundle beside ``verify.py``; the product itself uses ``audit/files.py``.
"""

from __future__ import annotations

import io
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

try:
    from audit.notes import parse_public_pem
except ImportError:  # lying beside this file in a bundle
    from notes import parse_public_pem  # type: ignore[no-redef,import-not-found]

_NAME = re.compile(r"(?P<log>.+)\.(?P<number>[0-9]{6})\.(?:jsonl|jsonl\.zst|manifest\.json)")


class BrokenError(Exception):
    """The log is not what was written; ``seq`` is the first record that does not fit."""

    def __init__(self, seq: int, why: str) -> None:
        super().__init__(why)
        self.seq, self.why = seq, why


def log_ids(directory: Path) -> list[str]:
    return sorted({match["log"] for p in directory.iterdir() if (match := _NAME.fullmatch(p.name))})


def last_number(directory: Path, log_id: str) -> int:
    found = (_NAME.fullmatch(p.name) for p in directory.iterdir())
    return max((int(m["number"]) for m in found if m and m["log"] == log_id), default=0)


def public_key(directory: Path, log_id: str, key: Path | None = None) -> bytes | None:
    path = key or directory / f"{log_id}.pub.pem"
    if not path.exists():
        return None
    try:
        return parse_public_pem(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def manifest_path(directory: Path, log_id: str, number: int) -> Path:
    return directory / f"{log_id}.{number:06d}.manifest.json"


def manifest_of(directory: Path, log_id: str, number: int, seq: int) -> dict[str, Any] | None:
    path = manifest_path(directory, log_id, number)
    if not path.exists():
        return None
    try:
        value = json.loads(path.read_bytes())
        return {k: value[k] for k in ("first_seq", "last_seq", "first_prev", "last_hash", "sha256", "tree")}
    except (ValueError, KeyError, TypeError):
        raise BrokenError(seq, f"{path.name} is not a manifest") from None


def lines(path: Path) -> Iterator[bytes]:
    if path.exists():
        with path.open("rb") as file:
            yield from written(file)
        return
    packed = path.with_name(path.name + ".zst")
    try:
        import zstandard  # noqa: PLC0415 - optional here: the zstd program does as well
    except ImportError:
        with subprocess.Popen(["zstd", "-dcq", str(packed)], stdout=subprocess.PIPE) as unpack:
            assert unpack.stdout is not None
            yield from unpack.stdout
        return
    with packed.open("rb") as file:
        yield from io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file), 1 << 20)


def written(file: Iterable[bytes]) -> Iterator[bytes]:
    """Lines as far as they were written: none after one without LF, which a file that grows gives the rest of."""
    for line in file:
        yield line
        if not line.endswith(b"\n"):
            return


def load(line: bytes, seq: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except ValueError:
        raise BrokenError(seq, "the line is not JSON") from None
    if not isinstance(value, dict):
        raise BrokenError(seq, "the line is not a record")
    return value
