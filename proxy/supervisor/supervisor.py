"""The supervising loop: one thread, one selector, signals through a socket pair; nothing here can block for long.

In: the configuration of ``run``. Out: processes, ``pids.json`` and ``running.json``. A relay that announces its drain
is replaced before it has finished, so the listening sockets always have somebody who accepts.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from proxy.folders import private_directory
from proxy.lifeline import VARIABLE
from proxy.relay.counters import create
from proxy.relay.routes import RouteError, route
from proxy.spawn import command
from proxy.supervisor.part import Part
from proxy.supervisor.sockets import bind, close, shown

DRAIN_S = 30.0
ANALYZER_S = 30.0  # how long the analyzer may take to finish what the relays left it
HANDLER_S = 10.0  # how long an analyzer may take until it handles SIGTERM
UNFINISHED = 4  # what the analyzer says when it could not write all of it
LEFTOVER_S = 5.0  # how long a part of a killed supervisor may take to leave
STARTER = "starter"  # the standard input of a supervisor somebody started for himself: closed when he is gone
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


class StartError(Exception):
    """Nothing was started. ``code`` is the exit code; the message is one sentence for the operator."""

    def __init__(self, message: str, code: int = 3) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Running:
    """What runs where, as written to running.json."""

    listen: list[str]
    control: str | None
    counters: str
    state: str
    spool_dir: str
    restarts: dict[str, int]
    forward: list[str] = field(default_factory=list)
    transparent: list[str] = field(default_factory=list)


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
        self._lock = self._only_one()
        orphans = self._orphans()
        listen = config["listen"]
        self.sockets = [self._bind(a, shared=bool(orphans)) for a in ([listen] if isinstance(listen, str) else listen)]
        forward = config.get("forward_listen")
        self.forward = [self._bind(forward, shared=bool(orphans))] if forward else []
        transparent = config.get("transparent_listen")
        tproxy = bool(config.get("tproxy"))
        self.transparent = [self._bind(transparent, shared=bool(orphans), tproxy=tproxy)] if transparent else []
        control = config.get("control_listen")
        self.control = self._bind(control, shared=bool(orphans)) if control else None
        self.counters = self.root / "counters"
        workers = int(config.get("workers") or 1)
        create(self.counters, 2 * workers)
        self._workers = workers
        self._orphaned = orphans
        commands = config.get("commands", {})
        self.relays = [Part("relay", ()) for _ in range(workers)]
        self.others = [Part(role, commands[role]) for role in ("analyzer", "control") if commands.get(role)]
        self._retiring: list[Part] = []
        self._ready: set[int] = set()  # pids of relays that accept
        self._restarts = {"relay": 0, "analyzer": 0, "control": 0}
        self._selector = selectors.DefaultSelector()
        self._stopping = False
        self._lifeline = os.pipe()  # (theirs, ours): closed with us, however we end
        self.abandoned = False  # the starter ended and did not say stop

    def run(self, on_ready: Callable[[Running], None]) -> int:
        """Until SIGTERM or SIGINT; then drain. Returns the exit code: 0, or 4 when something is unrecorded."""
        self._signals()
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

    def _only_one(self) -> int:
        fd = os.open(self.state / "supervisor.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            raise StartError(f"{self.state}: another onlooker runs on this state", 4) from None
        return fd

    def _orphans(self) -> list[int]:
        """Relays of a supervisor that was killed: they still serve, until ours are ready. Its other parts leave now."""
        try:
            pids = json.loads((self.state / "pids.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        for role in ("analyzer", "control"):
            argv = self.config.get("commands", {}).get(role)
            if argv and isinstance(pids.get(role), int):
                _dismiss(pids[role], argv)
        return [pid for pid in pids.get("relays", []) if isinstance(pid, int) and _is_relay(pid)]

    def _bind(self, address: str, *, shared: bool, tproxy: bool = False) -> socket.socket:
        try:
            return bind(address, shared=shared, tproxy=tproxy)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "host:port was expected"
            raise StartError(f"{address}: cannot listen here: {why}") from None

    def _start_due(self) -> None:
        now = time.monotonic()
        started = False
        for part in (*self.relays, *self.others):
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
        if part.role == "control" and self.control:
            part.environment |= {"ONLOOKER_CONTROL_FD": str(self.control.fileno())}
            fds = (line, self.control.fileno())
        part.start(part.argv, fds)

    def _start_relay(self, part: Part) -> None:
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        listening = [s.fileno() for s in self.sockets]
        forward = [s.fileno() for s in self.forward]
        transparent = [s.fileno() for s in self.transparent]
        own = [shown(self.control)] if self.control else []
        # a relay that still drains keeps its slot of the counters page: its successor takes one nobody has
        taken = {int(r.environment["ONLOOKER_SLOT"]) for r in (*self.relays, *self._retiring) if r.process}
        slot = next(n for n in range(len(taken) + 1) if n not in taken)
        config = {
            "routes": self.config["routes"],
            "spool_dir": str(self.root),
            "spool_cap": self.config.get("spool_cap"),
            "key_file": str(self.config.get("key_file") or private_directory(self.state / "keys") / "fingerprint.key"),
            "counters": str(self.counters),
            "slot": slot,
            "listen_fds": listening,
            "forward_fds": forward,
            "transparent_fds": transparent,
            "forward": self.config.get("forward", {}),
            "upstream_proxy": self.config.get("upstream_proxy"),
            "no_proxy": self.config.get("no_proxy", []),
            "own": own,
            "control_fd": theirs.fileno(),
            "drain_s": self.config.get("drain_s", DRAIN_S),
            "loop": self.config.get("loop", "auto"),
        }
        part.environment = {"ONLOOKER_SLOT": str(slot)}
        part.start(command("proxy.relay", json.dumps(config)), (*listening, *forward, *transparent, theirs.fileno()))
        theirs.close()
        part.link = ours
        self._selector.register(ours, selectors.EVENT_READ, part)

    def _dismiss_orphans(self) -> None:
        for pid in self._orphaned:
            if _is_relay(pid):
                os.kill(pid, signal.SIGTERM)

    # waiting

    def _signals(self) -> None:
        reading, writing = socket.socketpair()
        reading.setblocking(False)
        writing.setblocking(False)
        signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, lambda _number, _frame: None)
        self._bells = reading, writing
        self._selector.register(reading, selectors.EVENT_READ, None)

    def _wait(self) -> None:
        due = [p.due for p in (*self.relays, *self.others) if p.due is not None]
        timeout = max(0.0, min(due) - time.monotonic()) if due else None
        for key, _ in self._selector.select(timeout):
            if key.data is None:
                for number in self._bells[0].recv(4096):
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
            for part in self.others:
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
        if b"draining" in said and part in self.relays and not self._stopping:
            part.retiring = True
            self._retiring.append(part)
            self._restarts["relay"] += 1
            self.relays[self.relays.index(part)] = Part("relay", ())

    def _reap(self) -> None:
        gone = False
        for part in (*self.relays, *self._retiring, *self.others):
            if part.process is None or part.process.poll() is None:
                continue
            gone = True
            self._ready.discard(part.process.pid)
            if part.link:
                self._selector.unregister(part.link)
            part.died()
            if part.retiring:
                self._retiring.remove(part)
        if gone:
            self._write()

    # stopping

    def _drain(self) -> int:
        if self.config.get("starter"):
            self._selector.unregister(sys.stdin.fileno())
        relays = [*self.relays, *self._retiring]
        within = float(self.config.get("drain_s", DRAIN_S))
        self._stop(relays, within + 5.0)
        for sock in (*self.sockets, *self.forward, *self.transparent):
            close(sock)
        analyzer = [p for p in self.others if p.role == "analyzer"]
        for part in analyzer:
            self._let_finish(part)
        self._stop([p for p in self.others if p.role == "control"], 5.0)
        for name in ("pids.json", "running.json"):
            _remove(self.state / name)
        for fd in (self._lock, *self._lifeline):
            os.close(fd)
        return self._left_over(analyzer)

    def _left_over(self, analyzer: list[Part]) -> int:
        """0 when all that was captured is recorded; else 4 and a sentence: the spool keeps it for the next start."""
        ended = next((p.process.returncode for p in analyzer if p.process and p.process.returncode), 0)
        if not ended:
            return 0
        why = "a full disk? too little time?" if ended == UNFINISHED else f"it ended with status {ended}"
        _say(
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
            if _catches(part.pid, signal.SIGTERM):
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
        control = shown(self.control) if self.control else None
        listen = [shown(s) for s in self.sockets]
        counts = dict(self._restarts)
        forward, transparent = [shown(s) for s in self.forward], [shown(s) for s in self.transparent]
        places = str(self.counters), str(self.state), str(self.root)
        return Running(listen, control, *places, counts, forward, transparent)

    def _write(self) -> None:
        pids = {
            "supervisor": os.getpid(),
            "relays": [p.pid for p in (*self.relays, *self._retiring) if p.pid],
            "analyzer": next((p.pid for p in self.others if p.role == "analyzer"), None),
            "control": next((p.pid for p in self.others if p.role == "control"), None),
        }
        _replace(self.state / "running.json", asdict(self._running()))
        _replace(self.state / "pids.json", pids)


def _replace(path: Path, value: object) -> None:
    """Write JSON so that a reader sees the old or the new, never half. A full disk is no reason to stop serving."""
    beside = path.with_suffix(".new")
    try:
        fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8") as out:
            json.dump(value, out)
        beside.replace(path)
    except OSError as error:
        _say(f"onlooker: {path}: {error.strerror}\n")


def _say(text: str) -> None:
    """To standard error; that may be a file on the very disk that failed."""
    with contextlib.suppress(OSError):
        sys.stderr.write(text)


def _remove(path: Path) -> None:
    """A disk that became read-only keeps the file; who reads it finds that nothing runs there."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _say(f"onlooker: {path}: {error.strerror}\n")


def _catches(pid: int | None, number: int) -> bool:
    """Whether the process handles the signal; True where that cannot be seen."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return not Path("/proc/self/status").exists()
    return bool(int(text.partition("SigCgt:")[2].split()[0], 16) >> (number - 1) & 1)


def _is_relay(pid: int) -> bool:
    return b"proxy.relay" in _command_line(pid)


def _dismiss(pid: int, argv: Sequence[str]) -> None:
    """End a process left over from a killed supervisor, if it is still the one that was started."""
    command = b"\0".join(os.fsencode(a) for a in argv) + b"\0"
    until = time.monotonic() + LEFTOVER_S
    number = signal.SIGTERM
    while _command_line(pid) == command:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        if time.monotonic() > until:
            number = signal.SIGKILL
        time.sleep(0.05)


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
