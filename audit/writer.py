"""The chain's writer: what one record, one checkpoint and one rotation do to the files. No threads, no locks.

In: guarded records. Out: lines, notes, manifests. ``audit/log.py`` puts the lock and the sync thread around it.
"""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from audit import record as records
from audit.chain import ZERO, Tree, line_hash
from audit.checkpoint import Signer
from audit.clock import Clock, boot_id, stamp
from audit.files import manifest_path, segment_path, write_atomically
from audit.json_text import encode
from audit.recovery import End, find_end, newest_log
from audit.segment import LogUnwritableError, OpenSegment

Record = dict[str, Any]
Write = Callable[[int, bytes], int]
Sync = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Limits:
    segment_bytes: int = 32 << 20
    segment_s: float = 3600.0
    checkpoint_records: int = 1000
    checkpoint_s: float = 60.0
    idle_s: float = 2.0  # a checkpoint this long after the last record, so a quiet log's end is proven
    sync_s: float = 0.04  # and the disk, so that acknowledged is within 50 ms
    sync_records: int = 256
    step_ms: float = 1000.0


@dataclass(slots=True)
class Health:
    """Read by readiness and metrics; ``error`` is None again once a record was written."""

    records: int = 0
    written_bytes: int = 0
    failed_appends: int = 0
    error: str | None = None
    kinds: dict[str, int] = field(default_factory=dict)


class ChainWriter:
    """Continues the newest log of ``directory``, or begins one."""

    def __init__(
        self,
        directory: Path,
        signer: Signer,
        *,
        writer: str,
        limits: Limits,
        clock: Clock,
        write: Write,
        fdatasync: Sync,
        policies: Sequence[str],
    ) -> None:
        self.directory, self.signer, self.limits, self.clock = directory, signer, limits, clock
        self.policies = tuple(policies)
        self.health = Health()
        self.closed: list[Path] = []  # files that rotation left behind, for compression and retention
        self._name, self._write, self._fdatasync, self._boot_id = writer, write, fdatasync, boot_id()
        self._offset_ns = clock.wall_ns() - clock.mono_ns()
        self._since_checkpoint = 0
        self._last_put_ns = self._checkpoint_ns = clock.mono_ns()
        self.log_id, self.tree, self.last_hash = "", Tree(), ZERO
        self.segment: OpenSegment
        self._take_up()

    def put(self, record: Record) -> str:
        """Write one line; its id. Raises LogUnwritableError with the log unchanged."""
        if not self.segment.records and record["kind"] != "segment":
            self.put(self._header())
        seq, kind, prev = self.tree.size, record["kind"], self.last_hash
        self._last_put_ns = mono = self.clock.mono_ns()
        ts = stamp(self.clock.wall_ns())
        identity = f"{self.log_id}:{seq}"
        stamped = {"schema": record["schema"], "kind": kind, "seq": seq, "ts": ts, "mono_ns": mono}
        stamped |= {"boot_id": self._boot_id, "log_id": self.log_id, "id": identity}
        line = encode({**stamped, **record, "prev": prev}) + b"\n"
        try:
            self.segment.append(line)
        except LogUnwritableError as error:
            self.health.failed_appends += 1
            self.health.error = str(error)
            raise
        self.segment.count(kind, seq, ts, prev)
        body = line[:-1]
        self.tree.push(body)
        self.last_hash = line_hash(body)
        self._since_checkpoint += kind != "checkpoint"
        self._note_written(kind, len(line))
        return identity

    def before_record(self) -> None:
        """What clock, count and size owe the log before the next record."""
        offset = self.clock.wall_ns() - self.clock.mono_ns()
        step_ms = (offset - self._offset_ns) / 1e6
        if abs(step_ms) >= self.limits.step_ms:
            self._offset_ns = offset
            self.rotate()  # so that within a file time only goes forward, and can be searched
            self.put(records.clock_step(delta_ms=round(step_ms, 1)))
        if self._since_checkpoint >= self.limits.checkpoint_records:
            self.sign()
        if self.segment.size_bytes >= self.limits.segment_bytes:
            self.rotate()

    def tick(self) -> None:
        """What passing time owes the log."""
        now = self.clock.mono_ns()
        if self._since_checkpoint:
            idle = now - self._last_put_ns >= self.limits.idle_s * 1e9
            due = now - self._checkpoint_ns >= self.limits.checkpoint_s * 1e9
            if idle or due:
                self._attempt(self.sign)
        if now - self.segment.opened_ns >= self.limits.segment_s * 1e9:
            self._attempt(self.rotate)

    def sign(self) -> None:
        """A checkpoint record over what is before it, then a note beside the log that covers that record too."""
        size, root = self.tree.size, self.tree.root()
        note = self.signer.note(self._origin, size, root)
        self.put(records.checkpoint(size=size, root="sha256:" + root.hex(), note=note))
        self._since_checkpoint = 0
        self._checkpoint_ns = self.clock.mono_ns()
        note = self.signer.note(self._origin, self.tree.size, self.tree.root())
        write_atomically(self.directory / f"{self.log_id}.checkpoint", note.encode())
        notes = os.open(self.directory / f"{self.log_id}.checkpoints", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(notes, "ab") as file:
            file.write(note.encode() + b"\n")

    def rotate(self) -> None:
        """Sign, leave a manifest, begin the next file. A step a full disk refuses leaves the old file open."""
        self.sign()
        old = self.segment
        old.settle()
        manifest = old.manifest(self.log_id, self.last_hash, self.tree, self.signer.key_id)
        manifest.save(manifest_path(self.directory, self.log_id, old.number))
        self._open_segment(old.number + 1)
        old.close()
        self.closed.append(old.path)
        self.put(self._header())

    def close(self) -> None:
        if self._since_checkpoint:
            self._attempt(self.sign)

    def _take_up(self) -> None:
        log_id = newest_log(self.directory)
        end = None if log_id is None else find_end(self.directory, log_id)
        if end is None:
            self._begin(None)
        elif end.broken or end.key_id not in {None, self.signer.key_id}:
            self._begin(end)
        else:
            self._resume(end)

    def _begin(self, previous: End | None) -> None:
        host = "".join(c if c.isalnum() else "-" for c in socket.gethostname().lower())[:32] or "host"
        self.log_id = f"{host}-{secrets.token_hex(3)}-{self._name}"
        write_atomically(self.directory / f"{self.log_id}.pub.pem", self.signer.public_pem)
        self._open_segment(1)
        self.put(self._header())
        if previous is not None:
            why = previous.broken or "the signing key changed"
            self.put(records.recovered(torn_bytes=previous.torn_bytes, reason=why, previous_log=previous.log_id))

    def _resume(self, end: End) -> None:
        self.log_id, self.tree, self.last_hash = end.log_id, end.tree, end.last_hash
        self.segment = end.segment
        self.segment.write, self.segment.fdatasync = self._write, self._fdatasync
        self.segment.opened_ns = self.clock.mono_ns()
        self.segment.open()
        self._catch_up_with_the_clock(end.segment.last_ts)
        if end.torn_bytes or end.last_kind != "checkpoint":
            last = self.tree.size - 1
            self.put(records.recovered(torn_bytes=end.torn_bytes, reason="unclean end", last_seq=last))

    def _catch_up_with_the_clock(self, last_ts: str) -> None:
        """A wall clock set back while nobody wrote is a step as well: the next file begins with it."""
        back_ms = (self.clock.wall_ns() / 1e6) - datetime.fromisoformat(last_ts).timestamp() * 1e3 if last_ts else 0.0
        if back_ms <= -self.limits.step_ms:
            self.rotate()
            self.put(records.clock_step(delta_ms=round(back_ms, 1)))

    def _open_segment(self, number: int) -> None:
        path = segment_path(self.directory, self.log_id, number)
        segment = OpenSegment(
            path, number, opened_ns=self.clock.mono_ns(), write=self._write, fdatasync=self._fdatasync
        )
        segment.open()
        self.segment = segment

    def _header(self) -> Record:
        before = manifest_path(self.directory, self.log_id, self.segment.number - 1)
        return records.segment(
            number=self.segment.number,
            key_id=self.signer.key_id,
            origin=self._origin,
            previous_manifest=line_hash(before.read_bytes()) if before.exists() else None,
            policy_hashes=self.policies,
        )

    @property
    def _origin(self) -> str:
        return f"onlooker.example/{self.log_id}"

    def _note_written(self, kind: str, size_bytes: int) -> None:
        health = self.health
        health.records += 1
        health.written_bytes += size_bytes
        health.kinds[kind] = health.kinds.get(kind, 0) + 1
        health.error = None

    def _attempt(self, step: Callable[[], None]) -> None:
        """Housekeeping that a full disk may refuse: tried again at the next tick, visible in ``health``."""
        try:
            step()
        except OSError as error:
            self.health.error = str(error)
