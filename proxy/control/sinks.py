"""The sinks of the configuration, fed from the log while the control process lives.

In: the configuration. Out: a started ``SinkRunner``, its figures, and what an operator should know (a sink that is
configured wrong or fails is named as degraded; traffic and the log do not depend on it).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from audit.sink_runner import SinkRunner, open_sinks
from audit.sinks import Figure, Measuring, OpenSink, SinkError
from audit.state import State
from proxy.metrics import DEFINITIONS, Metrics, Snapshot
from proxy.settings import Config

LAST_FIGURES_S = 2.0  # at a stop; a receiver that takes longer has the figures of before
Figures = Callable[[], Awaitable[tuple[Snapshot, str]]]  # the instance's figures and the id of its log


class Sinks:
    def __init__(self, config: Config) -> None:
        self.problems: list[str] = []
        place = State(config.audit_dir.parent).sinks
        opened: dict[str, OpenSink] = {}
        for entry in config.sinks:
            try:
                opened |= open_sinks([entry], place, taken=opened)
            except (ValueError, OSError) as error:
                self.problems.append(str(error))
                sys.stderr.write(f"onlooker: {error}; records do not go there\n")
        self._runner = SinkRunner(config.audit_dir, place, opened)
        self._stopping = asyncio.Event()
        self._measuring = {n: s for n, s in opened.items() if isinstance(s, Measuring) and s.figures_s > 0}
        self._unmeasured: dict[str, str] = {}  # sink → why its newest figures did not arrive
        self._measured = asyncio.Event()  # set: send the figures a last time
        self._tasks: list[asyncio.Task[None]] = []
        self._task: asyncio.Task[None] | None = None

    def start(self, figures: Figures) -> None:
        loop = asyncio.get_running_loop()
        self._tasks = [
            loop.create_task(self._measure(name, sink, figures), name=f"figures-{name}")
            for name, sink in self._measuring.items()
        ]
        self._task = loop.create_task(self._runner.run(self._stopping), name="sinks")

    async def stop(self) -> None:
        """The figures are sent once more, and each sink finishes the batch it is at."""
        self._measured.set()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=LAST_FIGURES_S)
        self._stopping.set()
        if self._task is not None:
            await self._task

    async def _measure(self, name: str, sink: Measuring, figures: Figures) -> None:
        last = False
        while not last:
            with contextlib.suppress(TimeoutError):
                last = await asyncio.wait_for(self._measured.wait(), sink.figures_s)
            try:
                snapshot, log_id = await figures()
                await asyncio.to_thread(sink.measure, as_figures(snapshot), log_id)
                self._unmeasured.pop(name, None)
            except Exception as error:  # figures must not take the records with them; the next ones say as much
                self._unmeasured[name] = str(error) if isinstance(error, SinkError) else repr(error)

    def degraded(self) -> list[str]:
        failing = [f"sink {s.name}: {s.error}" for s in self._runner.status.values() if s.error]
        return [*self.problems, *failing, *(f"sink {n}: figures: {e}" for n, e in self._unmeasured.items())]

    def metrics(self, log: dict[str, Any]) -> Snapshot:
        """``log``: the analyzer's {id, next_seq}."""
        own = Metrics()
        for status in self._runner.status.values():
            own.inc("onlooker_sink_errors_total", status.errors, sink=status.name)
            own.inc("onlooker_sink_refused_total", status.rejected, sink=status.name)
            own.inc("onlooker_sink_lost_total", status.lost, sink=status.name)
            log_id, _, seq = status.up_to.rpartition(":")
            done = int(seq) + 1 if log_id == log.get("id") else 0
            own.set("onlooker_sink_lag_records", max(0, int(log.get("next_seq") or 0) - done), sink=status.name)
        return own.snapshot()


def as_figures(snapshot: Snapshot) -> list[Figure]:
    return [
        Figure(
            name=d.name,
            help=d.help,
            counter=d.kind == "counter",
            series=[(dict(zip(d.labels, labels, strict=True)), value) for labels, value in snapshot.get(d.name, [])],
        )
        for d in DEFINITIONS
    ]
