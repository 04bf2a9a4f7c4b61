"""One open file of the log: whole lines in, or nothing. Tracks what its manifest will say.

A write that comes up short (a full disk took 87 of 600 bytes once) is undone with ftruncate before it is reported.
After a failed fdatasync the kernel may have dropped what it could not write, and says so only once (fsync(2), EIO): the
bytes not known to be on the disk are then compared with what was appended and written again before the next try.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.chain import Tree
from audit.files import Manifest


class LogUnwritableError(OSError):
    """The disk would not take the line; the log is as it was before. The caller keeps the record or declares a gap."""


@dataclass(slots=True)
class OpenSegment:
    """``write`` and ``fdatasync`` have os's signatures: a test hands in a disk that fills up or fails."""

    path: Path
    number: int
    size_bytes: int = 0
    records: int = 0
    first_seq: int = 0
    first_prev: str = ""
    first_ts: str = ""
    last_ts: str = ""
    clock_steps: int = 0
    opened_ns: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    digest: Any = field(default_factory=hashlib.sha256)
    fd: int = -1
    write: Any = os.write
    fdatasync: Any = os.fdatasync
    synced_bytes: int = 0
    doubtful: bool = False

    def open(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self.fd = os.open(self.path, flags, 0o600)

    def append(self, line: bytes) -> None:
        """``line`` ends in LF. Raises LogUnwritableError with the file unchanged."""
        try:
            written = self.write(self.fd, line)
        except OSError as error:
            self._undo()
            raise LogUnwritableError(error.errno, f"{self.path}: {error.strerror}") from error
        if written != len(line):
            self._undo()
            raise LogUnwritableError(28, f"{self.path}: only {written} of {len(line)} bytes were taken")
        self.size_bytes += written
        self.digest.update(line)

    def count(self, kind: str, seq: int, ts: str, prev: str) -> None:
        if not self.records:
            self.first_seq, self.first_ts, self.first_prev = seq, ts, prev
        self.records += 1
        self.last_ts = max(self.last_ts, ts)  # the checkpoint that ends a file is signed after a clock stepped back
        self.kinds[kind] += 1
        self.clock_steps += kind == "clock_step"

    def manifest(self, log_id: str, last_hash: str, tree: Tree, key_id: str) -> Manifest:
        return Manifest(
            log_id=log_id,
            number=self.number,
            first_seq=self.first_seq,
            last_seq=self.first_seq + self.records - 1,
            size_bytes=self.size_bytes,
            sha256=self.digest.hexdigest(),
            first_ts=self.first_ts,
            last_ts=self.last_ts,
            first_prev=self.first_prev,
            last_hash=last_hash,
            clock_steps=self.clock_steps,
            kinds=dict(self.kinds),
            tree=tree.to_json(),
            key_id=key_id,
        )

    def mark(self) -> tuple[int, Any]:
        """How long the file is now and, when it is in doubt, the digest of that much: what ``sync`` takes."""
        return self.size_bytes, self.digest.copy() if self.doubtful else None

    def sync(self, fd: int, upto: int, digest: Any) -> None:
        """The first ``upto`` bytes are on the disk when this returns. Raises OSError; the next try starts over."""
        try:
            if digest is not None:
                self._write_again(upto, digest)
            self.fdatasync(fd)
        except OSError:
            self.doubtful = True
            raise
        self.doubtful = self.doubtful and digest is None
        self.synced_bytes = max(self.synced_bytes, upto)

    def settle(self) -> None:
        """All that was appended is on the disk when this returns. Raises OSError."""
        self.sync(self.fd, *self.mark())

    def close(self) -> None:
        if self.fd >= 0:
            if self.doubtful or self.synced_bytes < self.size_bytes:
                self.settle()
            os.close(self.fd)
            self.fd = -1

    def _write_again(self, upto: int, digest: Any) -> None:
        with self.path.open("r+b", buffering=0) as file:
            kept = file.read(upto)
            if hashlib.sha256(kept).digest() != digest.digest():
                raise OSError(errno.EIO, f"{self.path}: what was written is no longer what the disk gives back")
            os.pwrite(file.fileno(), kept[self.synced_bytes :], self.synced_bytes)

    def _undo(self) -> None:
        os.ftruncate(self.fd, self.size_bytes)
