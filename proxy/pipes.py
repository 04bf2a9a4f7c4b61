"""A child process between our own standard streams, every byte as it came, and each one shown before it is passed on.

In: a command, and ``seen(side, bytes)`` that is called before the bytes are forwarded (REQUEST: ours to the child).
Out: the child's exit status. Standard error is the child's own. Two threads with blocking reads and writes: whatever
arrives leaves at once, a reader that stalls holds up its own direction and nothing else, and no descriptor we share
with our parent is switched to non-blocking.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

from proxy.exchange import Side

READ_BYTES = 64 << 10
TICK_S = 1.0
LINGER_S = 1.0  # after the child is gone: how long something else may still hold its output open
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)

Seen = Callable[[Side, bytes], None]
_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


def run_child(argv: Sequence[str], seen: Seen, tick: Callable[[], None]) -> int:
    """Run ``argv`` to its end; ``tick`` is called about once a second. Returns its status as subprocess gives it.

    Raises OSError when the command cannot be started. Only to be called in the main thread (signals).
    """
    child = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    before = _pass_signals_on(child)
    inward = threading.Thread(target=_pump, args=(0, child.stdin.fileno(), Side.REQUEST, seen, child.stdin.close))
    outward = threading.Thread(target=_pump, args=(child.stdout.fileno(), 1, Side.RESPONSE, seen, child.stdout.close))
    inward.daemon = outward.daemon = True  # blocked in read(0) when the child ends first: nobody can wake that
    inward.start()
    outward.start()
    try:
        while True:
            try:
                status = child.wait(TICK_S)
                break
            except subprocess.TimeoutExpired:
                tick()
        outward.join(LINGER_S)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return status


def _pump(source: int, target: int, side: Side, seen: Seen, close: Callable[[], None]) -> None:
    """Bytes from one descriptor to the other until either ends; then the child's end is closed, so both sides know."""
    try:
        while data := os.read(source, READ_BYTES):
            seen(side, data)
            view = memoryview(data)
            while view:
                view = view[os.write(target, view) :]
    except OSError:
        pass  # a closed reader: closing the child's end below tells the other side
    finally:
        close()


def _pass_signals_on(child: subprocess.Popen[bytes]) -> dict[signal.Signals, _Handler]:
    """Signals sent to us reach the child; an interrupt from the terminal has reached it already, with its group."""

    def forward(number: int, _frame: FrameType | None) -> None:
        if number != signal.SIGINT or not _from_terminal():
            child.send_signal(number)

    return {number: signal.signal(number, forward) for number in (signal.SIGINT, *_PASSED_ON)}


def _from_terminal() -> bool:
    """Whether our process group is the foreground of a terminal, whose Ctrl-C goes to all of the group."""
    try:
        fd = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(fd)


def leave_as(status: int) -> None:
    """End this process the way the child ended: its exit code, or death by the same signal."""
    sys.stdout.flush()
    sys.stderr.flush()
    if status < 0:
        number = -status
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(status if status >= 0 else 128 - status)
