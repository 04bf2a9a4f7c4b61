"""The chained log: records in, ids out; written when ``append`` returns, synced within 50 ms by one thread.

Each line carries the hash of the exact bytes before it. A checkpoint is signed every 1,000 records, every 60 s while
records come, and once they pause; files rotate by size and time, also when nothing happened. One writer per directory.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from audit.checkpoint import Signer
from audit.clock import Clock
from audit.segment import LogUnwritableError
from audit.tail import last_records
from audit.writer import ChainWriter, Health, Limits, Record, Sync, Write


class LogInUseError(RuntimeError):
    """Another process writes this log."""


class AuditLog:
    """Append-only, thread-safe. ``guard`` is the privacy boundary every record passes (``audit/privacy.py``)."""

    def __init__(
        self,
        directory: Path,
        signer: Signer,
        guard: Callable[[Record], Record],
        *,
        writer: str = "w0",
        limits: Limits | None = None,
        clock: Clock | None = None,
        policy_hashes: Sequence[str] = (),
        write: Write = os.write,
        fdatasync: Sync = os.fdatasync,
        after_rotation: Callable[[AuditLog, Path], None] | None = None,
    ) -> None:
        self.directory = directory
        self._guard, self._limits, self._after_rotation = guard, limits or Limits(), after_rotation
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock_fd = _lock(directory)
        self._changed = threading.Condition()
        self._closing = False
        self._synced_seq, self._synced_records = -1, 0
        try:
            self._chain = ChainWriter(
                directory,
                signer,
                writer=writer,
                limits=self._limits,
                clock=clock or Clock(),
                write=write,
                fdatasync=fdatasync,
                policies=policy_hashes,
            )
        except BaseException:
            os.close(self._lock_fd)
            raise
        self._chain.segment.settle()  # what an earlier life wrote and never synced counts from here on
        self._synced_seq, self._synced_records = self._chain.tree.size - 1, self._chain.health.records
        self._thread = threading.Thread(target=self._sync_forever, name="audit-sync", daemon=True)
        self._thread.start()

    @property
    def log_id(self) -> str:
        return self._chain.log_id

    @property
    def key_id(self) -> str:
        return self._chain.signer.key_id

    @property
    def health(self) -> Health:
        return self._chain.health

    @property
    def next_seq(self) -> int:
        return self._chain.tree.size

    @property
    def acknowledged_seq(self) -> int:
        """The newest record known to be on the disk (fdatasync returned); -1 before the first."""
        return self._synced_seq

    def append(self, record: Record) -> str:
        """The record's id, once write(2) has returned. Raises LogUnwritableError with the log unchanged."""
        guarded = self._guard(record)
        with self._changed:
            waited = self._waiting
            try:
                self._chain.before_record()
                identity = self._chain.put(guarded)
            except LogUnwritableError:
                raise
            except OSError as error:  # a rotation or a checkpoint the disk refused, before the record
                self.health.error = str(error)
                raise LogUnwritableError(error.errno, str(error)) from error
            if not waited or self._waiting >= self._limits.sync_records > waited:
                self._changed.notify_all()
            return identity

    @property
    def in_doubt(self) -> str | None:
        """Why records that were written may not be on the disk: its last fdatasync failed. None: no such doubt."""
        return self.health.error if self._chain.segment.doubtful else None

    def wait_acknowledged(self, seq: int, timeout_s: float = 5.0) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._synced_seq >= seq, timeout_s)

    def tail(self, count: int) -> list[Record]:
        """The newest ``count`` records of this log, oldest first."""
        return last_records(self.directory, self.log_id, count)

    def known_src(self, count: int = 100_000) -> set[tuple[str, int | str, int]]:
        """(writer, exchange, ordinal) of the newest records: what recovery must not write again."""
        sources = (r.get("src") for r in self.tail(count))
        return {(s["writer"], s["exchange"], s["ordinal"]) for s in sources if s}

    def set_policy_hashes(self, hashes: Sequence[str]) -> None:
        """Named in the header of the files to come."""
        with self._changed:
            self._chain.policies = tuple(hashes)

    def checkpoint(self) -> None:
        """Sign now."""
        with self._changed:
            self._chain.sign()

    def rotate(self) -> None:
        with self._changed:
            self._chain.rotate()

    def close(self) -> None:
        """Sign, sync, let go of the lock."""
        with self._changed:
            if self._closing:
                return
            self._chain.close()
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._chain.segment.close()
        os.close(self._lock_fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _waiting(self) -> int:
        """Records written and not yet synced."""
        return self._chain.health.records - self._synced_records

    def _sync_forever(self) -> None:
        while not self._closing or self._waiting:
            with self._changed:
                self._changed.wait_for(lambda: self._closing or self._waiting > 0, self._limits.idle_s)
                if self._waiting:
                    self._changed.wait_for(self._batch_is_full, self._limits.sync_s)
            if not self._sync() and self._closing:
                return
            with self._changed:
                if not self._closing:
                    self._chain.tick()
            while self._chain.closed:
                path = self._chain.closed.pop(0)
                if self._after_rotation is not None:
                    self._after_rotation(self, path)

    def _batch_is_full(self) -> bool:
        return self._closing or self._waiting >= self._limits.sync_records

    def _sync(self) -> bool:
        """fdatasync outside the lock, on a duplicate: a rotation may close the file meanwhile. False: it failed."""
        with self._changed:
            if not self._waiting:
                return True
            records, upto = self._chain.health.records, self._chain.tree.size - 1
            segment = self._chain.segment
            fd, mark = os.dup(segment.fd), segment.mark()
        try:
            segment.sync(fd, *mark)
        except OSError as error:
            self.health.error = f"{self.directory}: fdatasync: {error.strerror or error}"
            return False
        finally:
            os.close(fd)
        with self._changed:
            if mark[1] is not None:  # the doubt is over
                self.health.error = None
            self._synced_seq, self._synced_records = upto, records
            self._changed.notify_all()
        return True


def _lock(directory: Path) -> int:
    path = directory / ".lock"
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(fd)
        raise LogInUseError(f"{directory}: process {owner} writes this log; a log has one writer") from error
    os.ftruncate(fd, 0)
    os.pwrite(fd, str(os.getpid()).encode(), 0)
    return fd
