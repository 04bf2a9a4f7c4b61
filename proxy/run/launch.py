"""Run a command as if onlooker were not there: same terminal, same signals, same exit code.

In: the command and its environment. Out: its exit code (128 + n when signal n ended it). The terminal's own signals
reach the command by themselves, it is in our process group; what is sent to us alone is passed on. A command that a
signal ended could not put the terminal's modes back: they are, as a shell does.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from types import FrameType
from typing import Any

from proxy.wakeups import woken

_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # the terminal sends these to the whole group
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)
_AT_ONCE = 4096  # wake-ups read in one go


def run_command(command: Sequence[str], environment: Mapping[str, str], held: Sequence[int] = ()) -> int:
    """Raises OSError when the command cannot be started. ``held``: descriptors it keeps open as long as it lives."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []  # what arrived before there was anybody to pass it on to

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    def await_child(number: int, _frame: FrameType | None) -> None:
        """The command gets the terminal's signals by itself, but not those that came before there was one."""
        if child is None:
            early.append(number)

    before = {s: signal.getsignal(s) for s in (*_TERMINAL, *_PASSED_ON, signal.SIGCHLD)}
    modes = _terminal_modes()
    for number in _TERMINAL:
        signal.signal(number, await_child)  # a handler, not SIG_IGN: ignored signals are inherited
    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # with a handler the end of the child is a wake-up like any other
    try:
        with woken() as wakeups:
            child = subprocess.Popen(list(command), env=dict(environment), pass_fds=tuple(held))
            for arrived in early:
                child.send_signal(arrived)
            while (code := child.poll()) is None:
                wakeups.recv(_AT_ONCE)
        if code < 0:
            _put_back(modes)
    finally:
        for kept, handler in before.items():
            signal.signal(kept, handler)
    return 128 - code if code < 0 else code


def _terminal_modes() -> list[Any] | None:
    try:
        return termios.tcgetattr(sys.__stdin__) if sys.__stdin__ else None
    except (termios.error, ValueError, OSError):
        return None  # no terminal


def _put_back(modes: list[Any] | None) -> None:
    """Modes only; if somebody else owns the terminal now, it stays theirs."""
    if modes is None or sys.__stdin__ is None:
        return
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        if os.tcgetpgrp(sys.__stdin__.fileno()) == os.getpgrp():
            termios.tcsetattr(sys.__stdin__, termios.TCSADRAIN, modes)
    except (termios.error, OSError):
        pass
    finally:
        signal.signal(signal.SIGTTOU, before)
