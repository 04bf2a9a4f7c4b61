"""Whether the log holds, by the shipped verifier in a process of its own: a page never waits for a million hashes.

In: the log's directory. Out: the last answer with its time; ``start`` asks again. One check at a time.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from audit.files import segments
from audit.notes import parse_note, signed_by
from audit.stored import public_key
from proxy.review.child import run_module

AT_ONCE_BYTES = 64 << 20  # a log up to this size is checked when the page is first opened
_MEANS = {0: "valid", 3: "unproven", 4: "broken"}


@dataclass(frozen=True, slots=True)
class Answer:
    """``said``: the verifier's lines, one per log. ``state``: valid | unproven | broken | failed."""

    state: str
    said: tuple[str, ...]
    at: float
    took_s: float


@dataclass(slots=True)
class Verification:
    audit_dir: Path
    last: Answer | None = None
    running: bool = False
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self) -> None:
        if not self.running and self.audit_dir.is_dir():
            self.running = True
            task = asyncio.get_running_loop().create_task(self._run(), name="verify")
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def start_if_small(self) -> None:
        if self.last is None and _size(self.audit_dir) <= AT_ONCE_BYTES:
            self.start()

    async def stop(self) -> None:
        """End the check that runs: a control process that is told to end does not wait for a million hashes."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self) -> None:
        begun = time.monotonic()
        try:
            code, out, _ = await run_module("audit.verify", str(self.audit_dir), merged=True)
            state, said = _MEANS.get(code, "failed"), out.splitlines()
        except OSError as error:
            state, said = "failed", [str(error)]
        self.last = Answer(state, tuple(said[-8:]), time.time(), time.monotonic() - begun)
        self.running = False


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The newest note of a log: how many records it covers, and whether this log's key signed it."""

    log_id: str
    size: int
    signed: bool


def checkpoints(audit_dir: Path) -> list[Checkpoint]:
    """One per log that has a note; a note that is none counts as not signed."""
    out = []
    for path in sorted(audit_dir.glob("*.checkpoint")) if audit_dir.is_dir() else ():
        log_id = path.name.removesuffix(".checkpoint")
        try:
            note, public = parse_note(path.read_text("utf-8")), public_key(audit_dir, log_id)
            out.append(Checkpoint(log_id, note.size, public is not None and signed_by(note, public)))
        except (ValueError, OSError):
            out.append(Checkpoint(log_id, 0, signed=False))
    return out


def _size(audit_dir: Path) -> int:
    paths = [s.path for s in segments(audit_dir) if s.path is not None]
    return sum(p.stat().st_size for p in paths if p.exists())
