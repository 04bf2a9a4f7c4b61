"""How a log lies on disk: names of segments, manifests and notes, and the manifest's shape.

``<dir>/<log_id>.<number:06d>.jsonl`` (``.zst`` once compressed), ``….manifest.json`` beside each closed one,
``<log_id>.checkpoint`` (newest note), ``<log_id>.checkpoints`` (all of them), ``<log_id>.pub.pem``.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_NAME = re.compile(r"(?P<log>[A-Za-z0-9_.-]+)\.(?P<number>\d{6})\.(?P<kind>jsonl|jsonl\.zst|manifest\.json)")


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of a log; ``path`` is None when only the manifest is left."""

    log_id: str
    number: int
    path: Path | None
    manifest: Path | None

    @property
    def key(self) -> tuple[str, int]:
        return self.log_id, self.number


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a closed segment held. ``tree``: the compact range after its last line. Hashes are of the plain bytes."""

    log_id: str
    number: int
    first_seq: int
    last_seq: int
    size_bytes: int
    sha256: str
    first_ts: str
    last_ts: str
    first_prev: str
    last_hash: str
    clock_steps: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    tree: dict[str, Any] = field(default_factory=dict)
    key_id: str = ""

    def save(self, path: Path) -> None:
        write_atomically(path, (json.dumps(asdict(self), indent=1) + "\n").encode())


def segment_path(directory: Path, log_id: str, number: int) -> Path:
    return directory / f"{log_id}.{number:06d}.jsonl"


def manifest_path(directory: Path, log_id: str, number: int) -> Path:
    return directory / f"{log_id}.{number:06d}.manifest.json"


def load_manifest(path: Path) -> Manifest:
    """Raises ValueError naming the file when it is not a manifest."""
    try:
        return Manifest(**json.loads(path.read_bytes()))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a segment manifest: {error}") from error


def segments(directory: Path) -> Iterator[Segment]:
    """Every segment of every log here, by log and number; a plain file wins over its compressed copy."""
    found: dict[tuple[str, int], dict[str, Path]] = {}
    for path in directory.iterdir() if directory.is_dir() else ():
        if match := _NAME.fullmatch(path.name):
            found.setdefault((match["log"], int(match["number"])), {})[match["kind"]] = path
    for (log_id, number), kinds in sorted(found.items()):
        lines = kinds.get("jsonl") or kinds.get("jsonl.zst")
        yield Segment(log_id, number, lines, kinds.get("manifest.json"))


def write_atomically(path: Path, data: bytes) -> None:
    """Replace ``path`` (0600) so that a reader sees the old bytes or the new ones."""
    temporary = path.with_name(path.name + ".new")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fdatasync(file.fileno())
    temporary.replace(path)
