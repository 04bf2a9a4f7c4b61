"""Signals as something that can be read: a socket in which any signal of this process leaves its number as a byte.

A blocking wait misses a signal that comes just before it begins: its handler runs only once the wait returns.
"""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def woken() -> Iterator[socket.socket]:
    """The socket, while inside. Only signals with a handler count; only to be called in the main thread."""
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    before = signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
    try:
        yield reading
    finally:
        signal.set_wakeup_fd(before)
        reading.close()
        writing.close()
