"""Feeds every sink from the log by its own cursor: in order, at least once, with back-off; nothing is dropped.

In: the log's directory, opened sinks. Out: cursors on disk and one status per sink. Hosted by a process with an event
loop; the sinks themselves block and run on threads.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from audit.cursor import Cursor, read_batch
from audit.sinks import OpenSink, Record, Sink, SinkError
from classifiers.discover import discover

LONGEST_WAIT_S = 30.0


@dataclass(slots=True)
class SinkStatus:
    """``lag_s``: age of the newest record sent when it was sent; ``lost``: deleted by retention before it was sent."""

    name: str
    sent: int = 0
    batches: int = 0
    errors: int = 0
    rejected: int = 0
    lost: int = 0
    lag_s: float = 0.0
    error: str | None = None
    up_to: str = ""


def open_sinks(
    configured: Sequence[Mapping[str, Any]], place: Path, *, taken: Collection[str] = ()
) -> dict[str, OpenSink]:
    """The ``sinks:`` list: one mapping {name: options} each; two of a name are told apart as otlp, otlp-2.

    ``taken``: labels given out before. Raises ValueError naming the sink and what is wrong with it.
    """
    known: dict[str, Sink] = {s.name: s for s in discover("audit.sinks", "SINK")}
    out: dict[str, OpenSink] = {}
    for entry in configured:
        ((name, options),) = entry.items()
        if name not in known:
            raise ValueError(f"sinks: unknown sink {name!r}; expected {', '.join(sorted(known))}")
        same = sum(1 for n in (*taken, *out) if n.split("-")[0] == name)
        label = name if not same else f"{name}-{same + 1}"
        out[label] = known[name].open(options or {}, place / label)
    return out


class SinkRunner:
    """``wait_s``: the first pause after a failure; it doubles up to LONGEST_WAIT_S."""

    def __init__(
        self,
        directory: Path,
        cursors: Path,
        sinks: Mapping[str, OpenSink],
        *,
        poll_s: float = 0.25,
        wait_s: float = 0.2,
    ) -> None:
        self._directory, self._cursors, self._sinks = directory, cursors, dict(sinks)
        self._poll_s, self._wait_s = poll_s, wait_s
        self.status = {name: SinkStatus(name) for name in sinks}

    def report(self) -> list[dict[str, Any]]:
        return [asdict(s) for s in self.status.values()]

    async def run(self, stopping: asyncio.Event) -> None:
        """Until ``stopping``; then each sink finishes the batch it is at and is closed."""
        async with asyncio.TaskGroup() as group:
            for name, sink in self._sinks.items():
                group.create_task(self._feed(name, sink, stopping), name=f"sink-{name}")

    async def drain(self) -> None:
        """Until every sink has what the log has now (a command's end). Raises SinkError."""
        for name, sink in self._sinks.items():
            while await self._step(name, sink):
                pass

    async def _feed(self, name: str, sink: OpenSink, stopping: asyncio.Event) -> None:
        wait_s = self._wait_s
        try:
            while not stopping.is_set():
                try:
                    moved = await self._step(name, sink, stopping)
                except Exception as error:  # a sink that breaks must not take the others with it
                    self._failed(name, error)
                    asked_s = error.retry_after_s if isinstance(error, SinkError) else None
                    pause = wait_s if asked_s is None else asked_s
                    await _wait(stopping, pause * random.uniform(0.8, 1.2))  # noqa: S311 - spreads retries, no secret
                    wait_s = min(wait_s * 2, LONGEST_WAIT_S)
                    continue
                wait_s = self._wait_s
                if not moved:
                    await _wait(stopping, self._poll_s)
        finally:
            await asyncio.to_thread(sink.close)

    async def _step(self, name: str, sink: OpenSink, stopping: asyncio.Event | None = None) -> bool:
        """One batch; False: nothing new. Raises SinkError with the cursor unmoved."""
        place = self._cursors / f"{name}.cursor"
        cursor = await asyncio.to_thread(Cursor.load, place)
        lines, after = await self._batch(sink, cursor, stopping)
        if not lines:
            return False
        batch = [orjson.loads(line) for line in lines]
        sent = await asyncio.to_thread(sink.send, batch)
        status = self.status[name]
        if sent.rejected:
            status.rejected += await self._one_by_one(sink, batch)
            status.error = sent.why
        else:
            status.error = None
        await asyncio.to_thread(after.save, place)
        status.sent += len(batch)
        status.batches += 1
        status.lost, status.up_to = after.lost, batch[-1]["id"]
        status.lag_s = max(0.0, time.time() - _seconds(batch[-1]["ts"]))
        return True

    async def _batch(
        self, sink: OpenSink, cursor: Cursor, stopping: asyncio.Event | None
    ) -> tuple[list[bytes], Cursor]:
        """What is there; a sink that lingers waits for more before a small batch goes."""
        deadline = time.monotonic() + (sink.linger_s if stopping is not None else 0.0)
        while True:
            lines, after = await asyncio.to_thread(read_batch, self._directory, cursor, max_records=sink.batch_records)
            left = deadline - time.monotonic()
            if len(lines) >= sink.batch_records or left <= 0 or not lines or stopping is None or stopping.is_set():
                return lines, after
            await _wait(stopping, min(left, self._poll_s))

    async def _one_by_one(self, sink: OpenSink, batch: Sequence[Record]) -> int:
        """A refusal that does not say which record it means: each alone, so one bad record stops no other."""
        refused = 0
        for record in batch:
            refused += (await asyncio.to_thread(sink.send, [record])).rejected
        return refused

    def _failed(self, name: str, error: Exception) -> None:
        status = self.status[name]
        status.errors += 1
        status.error = str(error) if isinstance(error, SinkError) else f"{type(error).__name__}: {error}"


async def _wait(stopping: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return


def _seconds(ts: str) -> float:

    return datetime.fromisoformat(ts).timestamp()
