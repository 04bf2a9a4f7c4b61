"""Records into the log, each exactly once, whatever happened before.

In: record dictionaries with their ``src``. Out: the record's id. What an earlier life already wrote (found in the
log's tail by ``src``) keeps its id and is not written again. A log that cannot be written is tried again until it can:
the spool holds the traffic meanwhile, and what does not fit there becomes a gap.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, Protocol

from audit.segment import LogUnwritableError
from proxy.metrics import Metrics

RETRY_S = 0.2
LAST_TRIES_S = 1.0
Source = tuple[str, int | str, int]


class Log(Protocol):
    """What the analyzer needs of ``audit.log.AuditLog``."""

    def append(self, record: dict[str, Any]) -> str: ...


class LogClosedError(Exception):
    """The analyzer is stopping and the log still cannot be written."""


class RecordWriter:
    """``known``: records of an earlier life by their place in the capture."""

    def __init__(self, log: Log, metrics: Metrics, stopping: threading.Event | None = None) -> None:
        self._log, self._metrics = log, metrics
        self._stopping = stopping or threading.Event()
        self._known: OrderedDict[Source, str] = OrderedDict()
        self.unwritable: str | None = None
        self._last_try = 0.0
        self.skipped = 0
        self.caught_up = False
        self.while_waiting: Callable[[], None] = lambda: None  # says so outside, tells the watchdog we are alive

    def remember(self, records: Iterable[dict[str, Any]]) -> None:
        for record in records:
            src = record.get("src")
            if src and "id" in record:
                self._known[src["writer"], src["exchange"], src["ordinal"]] = record["id"]

    def known(self, src: dict[str, Any]) -> str | None:
        return self._known.get((src["writer"], src["exchange"], src["ordinal"])) if self._known else None

    def forget_known(self) -> None:
        """The capture an earlier life saw is read to its end: nothing can repeat any more."""
        self._known.clear()
        self.caught_up = True

    def write(self, record: dict[str, Any]) -> str:
        """The record's id. Raises LogClosedError only when the process is to stop and the log is unwritable."""
        src = record.get("src")
        earlier = self.known(src) if src else None
        if earlier is not None:
            self.skipped += 1
            return earlier
        while True:
            try:
                identity = self._log.append(record)
            except LogUnwritableError as error:
                self.unwritable = str(error)
                self._metrics.inc("onlooker_log_write_errors_total")
                self.while_waiting()
                if self._out_of_time():
                    raise LogClosedError from error
                continue
            self.unwritable = None
            self._metrics.inc("onlooker_records_written_total", kind=record["kind"])
            return identity

    def _out_of_time(self) -> bool:
        """Waits for the next try. True once the process has been stopping for ``LAST_TRIES_S``: room may come late."""
        if not self._stopping.wait(RETRY_S):
            return False
        now = time.monotonic()
        self._last_try = self._last_try or now + LAST_TRIES_S
        if now >= self._last_try:
            return True
        time.sleep(RETRY_S)
        return False
