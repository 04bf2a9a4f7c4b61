"""The command's end and our signals wake the same wait."""

import os
import signal
from collections import UserDict

from proxy.run.launch import run_command
from proxy.wakeups import woken


def test_a_signal_that_comes_before_the_wait_is_not_missed():
    kept = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with woken() as wakeups:
            signal.raise_signal(signal.SIGUSR1)
            wakeups.settimeout(60)
            assert wakeups.recv(8) == bytes([signal.SIGUSR1])
    finally:
        signal.signal(signal.SIGUSR1, kept)


def test_handlers_and_the_wakeup_descriptor_are_put_back():
    numbers = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGWINCH)
    before = [signal.getsignal(n) for n in numbers]
    assert run_command(["sh", "-c", "trap '' USR1; kill -USR1 $PPID; exit 3"], os.environ) == 3
    assert [signal.getsignal(n) for n in numbers] == before
    assert signal.set_wakeup_fd(-1) == -1


def test_a_command_that_was_stopped_and_goes_on_is_waited_for():
    goes_on = "(while sleep 0.1; do kill -CONT $$ 2>/dev/null || exit; done) &"
    assert run_command(["sh", "-c", f"{goes_on} kill -STOP $$; exit 6"], os.environ) == 6


def test_an_interrupt_that_comes_before_the_command_is_there_reaches_it():
    class Slow(UserDict):
        def keys(self):
            signal.raise_signal(signal.SIGINT)
            return super().keys()

    assert run_command(["sleep", "60"], Slow(os.environ)) == 130
