"""Who is on the other end of a loopback connection: uid, pid and program, from Linux's socket tables.

In: the peer's ``host:port`` as the relay saw it. Out: ``{addr, uid, pid, exe}`` with None for what cannot be known.
Asked once per connection, answered by a thread of its own: neither the relay nor the analyzer's loop waits.
Source: proc(5), /proc/net/tcp and /proc/<pid>/fd.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

KEPT_CONNECTIONS = 20_000


class PeerFinder:
    """``ask`` early, ``get`` when a record is written. A peer that left before the look-up has uid and pid None."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._found: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._pids: list[int] = []  # where sockets were found before: looked at first
        self._queue: SimpleQueue[str | None] = SimpleQueue()
        self._pending: set[str] = set()
        self._done = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="peers", daemon=True)
        self._thread.start()

    def ask(self, addr: str) -> None:
        if addr in self._found:
            return
        self._found[addr] = {"addr": addr, "uid": None, "pid": None, "exe": None}
        while len(self._found) > KEPT_CONNECTIONS:
            self._found.popitem(last=False)
        if _is_loopback(addr):
            self._pending.add(addr)
            self._queue.put(addr)

    def get(self, addr: str, wait_s: float = 0.05) -> dict[str, Any]:
        """What is known; a look-up still running is waited for, shortly, so that one caller is always one caller."""
        with self._done:
            self._done.wait_for(lambda: addr not in self._pending, wait_s)
        return self._found.get(addr) or {"addr": addr, "uid": None, "pid": None, "exe": None}

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join(1.0)

    def _run(self) -> None:
        while (addr := self._queue.get()) is not None:
            with contextlib.suppress(OSError, ValueError):
                for known in self.look_up(addr):  # the uid at once: finding the process can take long on a full machine
                    self._found[addr] = known
            with self._done:
                self._pending.discard(addr)
                self._done.notify_all()

    def look_up(self, addr: str) -> Iterator[dict[str, Any]]:
        """What is known, then what more is: the uid first, then pid and program."""
        found: dict[str, Any] = {"addr": addr, "uid": None, "pid": None, "exe": None}
        row = _socket_row(self._proc, addr)
        if row is not None:
            uid, inode = row
            found = {**found, "uid": uid}
            yield found
            pid = self._owner(f"socket:[{inode}]")
            if pid is not None:
                found = {**found, "pid": pid, "exe": _program(self._proc, pid)}
        yield found

    def _owner(self, link: str) -> int | None:
        known = list(self._pids)
        others = (int(p) for p in os.listdir(self._proc) if p.isdigit() and int(p) not in known)  # noqa: PTH208 - names only
        for pid in (*known, *others):
            if _holds(self._proc / str(pid) / "fd", link):
                self._pids = [pid, *(p for p in known if p != pid)][:8]
                return pid
        return None


def _is_loopback(addr: str) -> bool:
    try:
        return ipaddress.ip_address(addr.rpartition(":")[0].strip("[]")).is_loopback
    except ValueError:
        return False


def _socket_row(proc: Path, addr: str) -> tuple[int, str] | None:
    """(uid, inode) of the socket bound to ``addr``; one in TIME_WAIT on that port (inode 0) is somebody's past."""
    host, _, port = addr.rpartition(":")
    ip = ipaddress.ip_address(host.strip("[]"))
    name = "tcp" if ip.version == 4 else "tcp6"
    packed = ip.packed
    words = b"".join(packed[i : i + 4][::-1] for i in range(0, len(packed), 4))
    wanted = f"{words.hex().upper()}:{int(port):04X}"
    for line in (proc / "net" / name).read_text().splitlines()[1:]:
        columns = line.split()
        if columns[1] == wanted and columns[9] != "0":
            return int(columns[7]), columns[9]
    return None


def _holds(folder: Path, link: str) -> bool:
    """A descriptor may be closed while its folder is read: that one is passed over, not the process."""
    try:
        with os.scandir(folder) as entries:
            return any(_link(entry.path) == link for entry in entries)
    except OSError:
        return False


def _link(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 - a name from scandir
    except OSError:
        return ""


def _program(proc: Path, pid: int) -> str | None:
    """The program's name; an interpreter's script says more than the interpreter and both are kept short."""
    try:
        return (proc / str(pid) / "comm").read_text().strip() or None
    except OSError:
        return None
