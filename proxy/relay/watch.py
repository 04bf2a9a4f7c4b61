"""Sees a peer leave while its transport is paused: a loop that does not read a socket hears neither FIN nor RST.

A second epoll, itself watched by the loop, holds the paused descriptors with EPOLLRDHUP. Where there is no epoll
(macOS) nothing is watched, and a paused peer's leaving is seen on resume.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable


class Watch:
    """One per loop. ``add`` when reading is paused, ``drop`` when it resumes or the transport is lost."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._gone: dict[int, Callable[[], None]] = {}
        self._loop = loop
        self._epoll = select.epoll() if hasattr(select, "epoll") else None
        if self._epoll:
            loop.add_reader(self._epoll.fileno(), self._ready)

    def add(self, fd: int, gone: Callable[[], None]) -> None:
        """Call ``gone`` once if the peer of ``fd`` sends FIN or RST."""
        if not self._epoll or fd < 0:
            return
        if fd not in self._gone:
            self._epoll.register(fd, select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR)
        self._gone[fd] = gone

    def drop(self, fd: int) -> None:
        if self._epoll and self._gone.pop(fd, None):
            try:
                self._epoll.unregister(fd)
            except OSError:
                pass  # closed already: the kernel took it out

    def close(self) -> None:
        if self._epoll:
            self._loop.remove_reader(self._epoll.fileno())
            self._epoll.close()

    def _ready(self) -> None:
        assert self._epoll
        for fd, _ in self._epoll.poll(0):
            gone = self._gone.get(fd)
            self.drop(fd)
            if gone:
                gone()
