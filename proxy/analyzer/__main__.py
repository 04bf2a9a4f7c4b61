"""``python -m proxy.analyzer CONFIG``: follows the spool and writes the log until told to stop.

In: the configuration as JSON, ``@file`` or ``-``; the spool's bell, the inbox, signals. Out: records; a status file
twice a second. SIGTERM drains: what is captured is read, the state is saved, the log is signed. Without a supervisor it
does so by itself once no relay is left. Killed at any moment it loses nothing and repeats nothing.
"""

from __future__ import annotations

import signal
import sys
import time

from audit.log import LogInUseError
from classifiers import classify
from classifiers.call import ToolCall
from proxy.analyzer.guard import leaves_when_stuck, still_alive
from proxy.analyzer.judging import load_judge
from proxy.analyzer.messages import on_message
from proxy.analyzer.pace import Pace
from proxy.analyzer.report import report
from proxy.analyzer.start import Running, start
from proxy.analyzer.writer import LogClosedError
from proxy.lifeline import cut, lifeline
from proxy.settings import Config
from proxy.spool.events import SpoolEvent

WAIT_S = 0.25
HOUSEKEEPING_S = 0.5
DRAIN_S = 25.0
CLOCK_STEP_S = 0.5  # as the relay sees one
UNFINISHED = 4  # the log or the state could not be written, or time was up: the spool keeps what is left


class Loop:
    """One life. ``turn`` is everything that happens between two waits."""

    def __init__(self, running: Running) -> None:
        self.running = running
        running.desk.writer.while_waiting = self._waits
        self._next_housekeeping = 0.0
        self._pace = Pace(running.config.spool.cap_bytes)
        self._offset_s = time.time() - time.monotonic()
        self._lifeline = lifeline()
        self._saved: tuple[int, int, int] | None = None  # where the last snapshot stands: an idle instance writes none

    def run(self) -> None:
        stopping = self.running.stopping
        self._housekeeping(time.monotonic())  # what is in force is said before the first call is judged
        while not stopping.is_set():
            self.turn(WAIT_S)
        deadline = time.monotonic() + DRAIN_S
        while self.turn(0.0) and time.monotonic() < deadline:
            pass
        if self.running.config.launch is not None and not self.running.analyzer.open:
            self.running.analyzer.end_all("exit")
        self._housekeeping(time.monotonic(), force=True)

    def turn(self, wait_s: float) -> bool:
        """Read what is there; True when there was something."""
        running = self.running
        events = running.tail.poll()
        while not events and running.analyzer.at_rest.one():
            events = running.tail.poll()
        if not events and wait_s:
            events = running.tail.wait(wait_s)
        if events:
            with leaves_when_stuck():
                self._take(events)
        for message in running.inbox.messages():
            on_message(running.analyzer, message)
        if not events:  # all that an earlier life could have seen is read
            running.analyzer.resume.clear()
            running.desk.writer.forget_known()
            if not running.tail.followed and cut(self._lifeline):
                running.stopping.set()  # supervisor and relays are gone, and all they captured is read
        self._housekeeping(time.monotonic())
        return bool(events)

    def _take(self, events: list[SpoolEvent]) -> None:
        """A batch may take long on a busy machine: as long as events pass, that is work and no hang."""
        said = time.monotonic()
        for event in events:
            self.running.analyzer.take(event)
            if (now := time.monotonic()) - said > HOUSEKEEPING_S:
                said = now
                still_alive()
                report(self.running)

    def _waits(self) -> None:
        """The log cannot be written: nobody may take the waiting for a hang, and /readyz has to know."""
        still_alive()
        report(self.running)

    def _housekeeping(self, now: float, *, force: bool = False) -> None:
        running = self.running
        if now >= self._next_housekeeping or force:
            self._next_housekeeping = now + HOUSEKEEPING_S
            for line in running.desk.judge.poll():
                running.desk.writer.write(line)
            self._clock()
            running.analyzer.end_idle(time.time())
            report(running)
        stand = (running.analyzer.read_events, running.inbox.offset, running.log.next_seq)
        if (stand != self._saved and self._pace.due(now, running.tail.read_bytes)) or force:
            began = time.monotonic()
            self._saved = stand if running.save() else None
            self._pace.saved(began, time.monotonic())

    def _clock(self) -> None:
        """A wall clock that was set must not end sessions, nor keep them for ever."""
        wall_s = time.time()
        offset_s = wall_s - time.monotonic()
        step_s, self._offset_s = offset_s - self._offset_s, offset_s
        if abs(step_s) >= CLOCK_STEP_S:
            self.running.analyzer.clock_stepped(step_s, wall_s)


def main(argv: list[str]) -> int:
    if len(argv) != 1:
        sys.stderr.write("usage: python -m proxy.analyzer JSON | @FILE | -\n")
        return 2
    config = Config.from_argument(argv[0])
    judge = load_judge(config)
    try:
        running = start(config, judge)
    except (LogInUseError, OSError) as error:
        sys.stderr.write(f"analyzer: {error}\n")
        return 3
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: running.stopping.set())
    classify(ToolCall("Bash", {"command": "true"}, '{"command":"true"}', arguments_valid=True))  # load what is lazy
    report(running)  # from here on it counts as up
    try:
        Loop(running).run()
        complete = not running.tail.behind_bytes() and running.keeper.error is None
    except LogClosedError:
        complete = False
    finally:
        running.close()
    return 0 if complete else UNFINISHED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
