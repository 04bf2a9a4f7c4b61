"""Recorded exchanges of every kind: how each is read, and which kind a file on disk is.

In: a path, its name in records, a list that takes what could not be read. Out: the capture's events, as if the relay
had just taken them. Nothing given is changed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from proxy.scan.har import har_events
from proxy.scan.pcap import pcap_events
from proxy.scan.recording import RecordingError
from proxy.spool.events import SpoolEvent
from proxy.spool.tail import SpoolTail

_BY_SUFFIX = {".har": "har", ".pcap": "pcap", ".pcapng": "pcap", ".cap": "pcap"}


def kind_of(path: Path) -> str | None:
    """``har``, ``pcap`` or ``spool``; None for anything else, which is a history or not ours to read."""
    if path.is_dir():
        return "spool" if any(path.glob("*/seg-*")) else None
    return _BY_SUFFIX.get(path.suffix.lower())


def _spool_events(folder: Path, _name: str, _problems: list[str]) -> Iterator[SpoolEvent]:
    """From a copy: reading a spool puts its bell beside it."""
    if not folder.is_dir() or not any(folder.rglob("seg-*")):
        raise RecordingError(f"{folder}: not a spool; a folder with one folder of seg-* files per relay was expected")
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(folder, Path(copy) / "spool", ignore=shutil.ignore_patterns("wake*"))
        tail = SpoolTail(Path(copy) / "spool")
        while events := tail.poll():
            yield from events
        tail.close()


EXCHANGES: dict[str, Callable[[Path, str, list[str]], Iterator[SpoolEvent]]] = {
    "har": har_events,
    "pcap": pcap_events,
    "spool": _spool_events,
}


def names(paths: Sequence[Path]) -> list[str]:
    """What each file is called in records: two of one name in different folders are told apart."""
    seen: Counter[str] = Counter()
    made = []
    for path in paths:
        seen[path.name] += 1
        made.append(path.name if seen[path.name] == 1 else f"{path.name}#{seen[path.name]}")
    return made
