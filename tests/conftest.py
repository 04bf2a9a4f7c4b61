"""What holds for all tests."""

import signal


def pytest_configure():
    """A job in a shell's background ignores interrupts, and so would all that the tests start and interrupt."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
