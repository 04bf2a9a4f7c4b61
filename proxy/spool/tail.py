"""The analyzer's end of the spool: follows every writer's directory, from a checkpoint, and deletes what is done with.

tail = SpoolTail(root, saved_checkpoint_or_None)
events = tail.poll()          # bounded; [] when there is nothing new
saved = tail.checkpoint()     # JSON-safe; what poll returned so far is behind it
tail.release(saved)           # after ``saved`` is durable: segments before it are deleted
tail.wait(1.0)                # sleep until a relay wrote something; no polling
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from proxy.folders import private_directory
from proxy.spool.events import SpoolEvent
from proxy.spool.follower import Follower
from proxy.spool.wake import Wake


class SpoolTail:
    """Every writer below ``root``; see the module docstring. ``checkpoint`` is what an earlier life saved.

    ``overflow``: where segments were moved when the spool filled (``proxy/spool/overflow.py``).
    """

    def __init__(self, root: Path, checkpoint: dict[str, Any] | None = None, overflow: Path | None = None) -> None:
        self.root, self._overflow = private_directory(root), overflow
        self._wake = Wake(root)
        self._followers: dict[str, Follower] = {}
        for name, saved in (checkpoint or {}).get("writers", {}).items():
            if (root / name).is_dir() or (overflow and (overflow / name).is_dir()):
                self._follow(name, saved)
        self._left_behind()

    def fileno(self) -> int:
        """Readable when a relay wrote something; for a loop of one's own, with ``doze`` and ``rouse``."""
        return self._wake.fileno()

    def poll(self) -> list[SpoolEvent]:
        """What is new since the last call, in order per writer. Bounded: call again until it is empty."""
        for entry in os.scandir(self.root):
            if entry.name in self._followers or entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
                continue  # a dot: a writer still making its directory
            self._follow(entry.name, None)
        return [event for f in self._followers.values() for event in f.poll()]

    def _follow(self, name: str, saved: dict[str, Any] | None) -> None:
        self._followers[name] = Follower(self.root / name, saved, self._overflow and self._overflow / name)

    def _left_behind(self) -> None:
        """Writers of whom only what was moved is left: memory was lost (a reboot), the disk was not."""
        there = os.scandir(self._overflow) if self._overflow and self._overflow.is_dir() else ()
        for entry in there:
            if entry.name not in self._followers and not (self.root / entry.name).is_dir():
                self._follow(entry.name, None)

    def wait(self, timeout_s: float) -> list[SpoolEvent]:
        """``poll``, sleeping up to ``timeout_s`` for something to come."""
        self._wake.doze()
        events = self.poll()
        if events:
            self._wake.rouse()
            return events
        self._wake.wait(timeout_s)
        return self.poll()

    def doze(self) -> None:
        """Ask for a bell on ``fileno``; poll once more before sleeping."""
        self._wake.doze()

    def rouse(self) -> None:
        self._wake.rouse()

    def checkpoint(self) -> dict[str, Any]:
        """The position behind everything ``poll`` returned, and the decoding state there. JSON-safe."""
        return {"version": 1, "writers": {n: f.checkpoint() for n, f in self._followers.items()}}

    def release(self, upto: dict[str, Any]) -> None:
        """``upto`` is durable: delete segments before it, and directories of writers that are finished."""
        for name, saved in upto["writers"].items():
            follower = self._followers.get(name)
            if follower is None:
                continue
            if saved["finished"]:
                for directory in (follower.segments.directory, follower.segments.moved):
                    if directory is not None:
                        shutil.rmtree(directory, ignore_errors=True)
                self._followers.pop(name)
                continue
            follower.read_bytes = 0
            for number in follower.segments.numbers():
                if number < saved["segment"]:
                    follower.segments.drop(number)

    @property
    def followed(self) -> bool:
        """Whether a writer that is not finished is being followed."""
        return any(not f.finished for f in self._followers.values())

    @property
    def read_bytes(self) -> int:
        """Read since the last ``release``: what the next one may give back."""
        return sum(f.read_bytes for f in self._followers.values())

    def behind_bytes(self) -> int:
        """Captured and not yet polled: the analyzer's lag in bytes."""
        total = 0
        for f in self._followers.values():
            sizes = {n: f.segments.size(n) for n in f.segments.numbers()}
            total += sum(size for n, size in sizes.items() if n > f.segment)
            total += max(0, sizes.get(f.segment, 0) - f.offset)
        return total

    def close(self) -> None:
        for f in self._followers.values():
            f.close()
        self._wake.close()
