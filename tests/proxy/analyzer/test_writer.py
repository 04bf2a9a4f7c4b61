"""A log that cannot be written is tried again, also while stopping: room may just have come."""

import threading

import pytest

from audit.segment import LogUnwritableError
from proxy.analyzer.writer import LogClosedError, RecordWriter
from proxy.metrics import Metrics


class FullLog:
    """Refuses ``refusals`` times, then takes what it is given."""

    def __init__(self, refusals):
        self.refusals, self.records = refusals, []

    def append(self, record):
        if self.refusals:
            self.refusals -= 1
            raise LogUnwritableError("no space")
        self.records.append(record)
        return f"log:{len(self.records)}"


def stopping():
    event = threading.Event()
    event.set()
    return event


def test_a_log_that_gets_room_while_stopping_holds_the_record():
    log = FullLog(refusals=2)
    writer = RecordWriter(log, Metrics(), stopping())
    assert writer.write({"kind": "gap"}) == "log:1"
    assert writer.unwritable is None


def test_a_log_that_stays_full_lets_a_stopping_process_go():
    writer = RecordWriter(FullLog(refusals=10**6), Metrics(), stopping())
    with pytest.raises(LogClosedError):
        writer.write({"kind": "gap"})
    assert writer.unwritable == "no space"
