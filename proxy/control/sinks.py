"""The sinks of the configuration, fed from the log while the control process lives.

In: the configuration. Out: a started ``SinkRunner``, its figures, and what an operator should know (a sink that is
configured wrong or fails is named as degraded; traffic and the log do not depend on it).
"""

from __future__ import annotations

import asyncio
from typing import Any

from audit.sink_runner import SinkRunner, open_sinks
from audit.sinks import OpenSink
from audit.state import State
from proxy.metrics import Metrics, Snapshot
from proxy.settings import Config


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
        self._runner = SinkRunner(config.audit_dir, place, opened)
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._runner.run(self._stopping), name="sinks")

    async def stop(self) -> None:
        """Each sink finishes the batch it is at."""
        self._stopping.set()
        if self._task is not None:
            await self._task

    def degraded(self) -> list[str]:
        failing = [f"sink {s.name}: {s.error}" for s in self._runner.status.values() if s.error]
        return self.problems + failing

    def metrics(self, log: dict[str, Any]) -> Snapshot:
        """``log``: the analyzer's {id, next_seq}."""
        own = Metrics()
        for status in self._runner.status.values():
            own.inc("onlooker_sink_errors_total", status.errors, sink=status.name)
            log_id, _, seq = status.up_to.rpartition(":")
            done = int(seq) + 1 if log_id == log.get("id") else 0
            own.set("onlooker_sink_lag_records", max(0, int(log.get("next_seq") or 0) - done), sink=status.name)
        return own.snapshot()
