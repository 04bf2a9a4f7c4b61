"""Run a command as if onlooker were not there: same terminal, same signals, same exit code.

In: the command and its environment. Out: its exit code (128 + n when signal n ended it). The terminal's own signals
reach the command by themselves, it is in our process group; what is sent to us alone is passed on.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from types import FrameType

_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # the terminal sends these to the whole group
_PASSED_ON = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH)


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Raises OSError when the command cannot be started."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []  # what arrived before there was anybody to pass it on to

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    before = {s: signal.getsignal(s) for s in (*_TERMINAL, *_PASSED_ON)}
    for number in _TERMINAL:
        signal.signal(number, lambda *_: None)  # a handler, not SIG_IGN: ignored signals are inherited
    for number in _PASSED_ON:
        signal.signal(number, pass_on)
    try:
        child = subprocess.Popen(list(command), env=dict(environment))
        for arrived in early:
            child.send_signal(arrived)
        code = child.wait()
    finally:
        for kept, handler in before.items():
            signal.signal(kept, handler)
    return 128 - code if code < 0 else code
