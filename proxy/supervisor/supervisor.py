"""The supervising loop: one thread, one selector, signals through a socket pair; nothing here can block for long.

In: the configuration of ``run``. Out: processes, ``pids.json`` and ``running.json``. A relay that announces its drain
is replaced before it has finished, so the listening sockets always have somebody who accepts.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

from proxy.folders import private_directory
from proxy.lifeline import VARIABLE
from proxy.relay.counters import create
from proxy.relay.routes import RouteError, route
from proxy.spawn import command
from proxy.supervisor import state
from proxy.supervisor.errors import StartError
from proxy.supervisor.listeners import listeners
from proxy.supervisor.part import Part
from proxy.supervisor.parts import Parts
from proxy.supervisor.processes import catches, dismiss, is_relay
from proxy.supervisor.relay_config import DRAIN_S, relay_config
from proxy.supervisor.state import Running
from proxy.wakeups import woken

ANALYZER_S = 30.0  # how long the analyzer may take to finish what the relays left it
HANDLER_S = 10.0  # how long an analyzer may take until it handles SIGTERM
UNFINISHED = 4  # what the analyzer says when it could not write all of it
STARTER = "starter"  # the standard input of a supervisor somebody started for himself: closed when he is gone
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


class Supervisor:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        try:
            self.state = private_directory(Path(config["state"]))
            self.root = private_directory(Path(config["spool_dir"]))
            for name, spec in config["routes"].items():
                route(name, spec)
        except (OSError, RouteError) as error:
            raise StartError(str(error)) from None
        self._lock = state.lock(self.state)
        self._orphaned = self._orphans()
        self.listeners = listeners(config, shared=bool(self._orphaned))
        self.counters = self.root / "counters"
        workers = int(config.get("workers") or 1)
        create(self.counters, 2 * workers)
        self._workers = workers
        self.parts = Parts(workers, config.get("commands", {}))
        self._ready: set[int] = set()  # pids of relays that accept
        self._restarts = {"relay": 0, "analyzer": 0, "control": 0}
        self._selector = selectors.DefaultSelector()
        self._stopping = False
        self._lifeline = os.pipe()  # (theirs, ours): closed with us, however we end
        self.abandoned = False  # the starter ended and did not say stop

    def run(self, on_ready: Callable[[Running], None]) -> int:
        """Until SIGTERM or SIGINT; then drain. Returns the exit code: 0, or 4 when something is unrecorded."""
        with woken() as self._bell:
            self._signals()
            return self._until_stopped(on_ready)

    def _until_stopped(self, on_ready: Callable[[Running], None]) -> int:
        if self.config.get("starter"):
            self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ, STARTER)
        told = False
        while not self._stopping:
            self._start_due()
            if not told and len(self._ready) >= self._workers:
                told = True
                self._dismiss_orphans()
                on_ready(self._running())
            self._wait()
        return self._drain()

    # starting

    def _orphans(self) -> list[int]:
        """Relays of a supervisor that was killed: they still serve, until ours are ready. Its other parts leave now."""
        pids = state.left_pids(self.state)
        for role in ("analyzer", "control"):
            argv = self.config.get("commands", {}).get(role)
            if argv and isinstance(pids.get(role), int):
                dismiss(pids[role], argv)
        return [pid for pid in pids.get("relays", []) if isinstance(pid, int) and is_relay(pid)]

    def _start_due(self) -> None:
        now = time.monotonic()
        started = False
        for part in self.parts.wanted():
            if part.due is None or part.due > now:
                continue
            if part.starts:
                self._restarts[part.role] += 1
            if part.role == "relay":
                self._start_relay(part)
            else:
                self._start_other(part)
            started = True
        if started:
            self._write()

    def _start_other(self, part: Part) -> None:
        line = self._lifeline[0]
        fds: tuple[int, ...] = (line,)
        part.environment = {VARIABLE: str(line)}
        if part.role == "control" and self.listeners.control:
            number = self.listeners.control.fileno()
            part.environment |= {"ONLOOKER_CONTROL_FD": str(number)}
            fds = (line, number)
        part.start(part.argv, fds)

    def _start_relay(self, part: Part) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        slot = self.parts.free_slot()
        places = {"state": self.state, "root": self.root, "counters": self.counters}
        config = relay_config(self.config, self.listeners, **places, slot=slot, link_fd=theirs.fileno())
        part.environment = {"ONLOOKER_SLOT": str(slot)}
        fds = chain.from_iterable(self.listeners.descriptors().values())
        part.start(command("proxy.relay", json.dumps(config)), (*fds, theirs.fileno()))
        theirs.close()
        part.link = ours
        self._selector.register(ours, selectors.EVENT_READ, part)

    def _dismiss_orphans(self) -> None:
        for pid in self._orphaned:
            if is_relay(pid):
                os.kill(pid, signal.SIGTERM)

    # waiting

    def _signals(self) -> None:
        for number in _SIGNALS:
            signal.signal(number, lambda _number, _frame: None)
        self._bell.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ, None)

    def _wait(self) -> None:
        due = [p.due for p in self.parts.wanted() if p.due is not None]
        timeout = max(0.0, min(due) - time.monotonic()) if due else None
        for key, _ in self._selector.select(timeout):
            if key.data is None:
                for number in self._bell.recv(4096):
                    self._on_signal(number)
            elif key.data is STARTER:
                self._stopping = self.abandoned = True
            else:
                self._hear(key.data)
        self._reap()

    def _on_signal(self, number: int) -> None:
        if number in {signal.SIGTERM, signal.SIGINT}:
            self._stopping = True
        elif number == signal.SIGHUP:
            for part in self.parts.others:
                part.signal(signal.SIGHUP)

    def _hear(self, part: Part) -> None:
        """A relay says "ready" or "draining", or its end of the link closed."""
        assert part.link
        try:
            said = part.link.recv(4096)
        except OSError:
            said = b""
        if not said:
            self._selector.unregister(part.link)
            part.link.close()
            part.link = None
        if b"ready" in said and part.pid:
            self._ready.add(part.pid)
        if b"draining" in said and part in self.parts.relays and not self._stopping:
            self.parts.retire(part)
            self._restarts["relay"] += 1

    def _reap(self) -> None:
        gone = False
        for part in self.parts:
            if part.process is None or part.process.poll() is None:
                continue
            gone = True
            self._ready.discard(part.process.pid)
            if part.link:
                self._selector.unregister(part.link)
            part.died()
            if part.retiring:
                self.parts.retiring.remove(part)
        if gone:
            self._write()

    # stopping

    def _drain(self) -> int:
        if self.config.get("starter"):
            self._selector.unregister(sys.stdin.fileno())
        relays = [*self.parts.relays, *self.parts.retiring]
        within = float(self.config.get("drain_s", DRAIN_S))
        self._stop(relays, within + 5.0)
        self.listeners.close_data()
        analyzer = self.parts.of("analyzer")
        for part in analyzer:
            self._let_finish(part)
        self._stop(self.parts.of("control"), 5.0)
        state.remove(self.state)
        for fd in (self._lock, *self._lifeline):
            os.close(fd)
        return self._left_over(analyzer)

    def _left_over(self, analyzer: list[Part]) -> int:
        """0 when all that was captured is recorded; else 4 and a sentence: the spool keeps it for the next start."""
        ended = next((p.process.returncode for p in analyzer if p.process and p.process.returncode), 0)
        if not ended:
            return 0
        why = "a full disk? too little time?" if ended == UNFINISHED else f"it ended with status {ended}"
        state.say(
            f"onlooker: the analyzer could not record all that was captured ({why}): "
            f"the rest waits in {self.root}; the next start with this state records it\n"
        )
        return 4

    def _let_finish(self, part: Part) -> None:
        """Until the analyzer has read what the relays left it. One that dies of something else is started once more:
        all it had not recorded is in the spool."""
        until = time.monotonic() + ANALYZER_S
        for _ in range(2):
            self._await_handler(part)
            self._stop([part], max(until - time.monotonic(), 1.0))
            if part.process is None or part.process.returncode in {0, UNFINISHED} or time.monotonic() >= until:
                return

    def _await_handler(self, part: Part) -> None:
        """An analyzer that is starting, or was to be started, must hear SIGTERM as "drain", not die of it."""
        until = time.monotonic() + HANDLER_S
        while time.monotonic() < until:
            if part.process is None or part.process.poll() is not None:
                part.died()
                self._start_other(part)
            if catches(part.pid, signal.SIGTERM):
                return
            time.sleep(0.02)

    def _stop(self, parts: list[Part], within_s: float) -> None:
        """SIGTERM, wait, SIGKILL what does not leave."""
        for part in parts:
            part.signal(signal.SIGTERM)
        until = time.monotonic() + within_s
        while any(p.process and p.process.poll() is None for p in parts):
            left = until - time.monotonic()
            if left <= 0:
                for part in parts:
                    part.signal(signal.SIGKILL)
                until += 5.0
            for key, _ in self._selector.select(max(0.0, min(left, 0.5))):
                if key.data is None:
                    key.fileobj.recv(4096)  # type: ignore[union-attr]  # the bell: only to wake up
                else:
                    self._hear(key.data)

    # saying

    def _running(self) -> Running:
        control, counts = self.listeners.control_address, dict(self._restarts)
        listen, forward, transparent = self.listeners.addresses()
        places = str(self.counters), str(self.state), str(self.root)
        return Running(listen, control, *places, counts, forward, transparent)

    def _write(self) -> None:
        state.write(self.state, self._running(), self.parts.pids())
