"""Histories through the same pipeline as live traffic: sessions, classification, policies, records.

In: files and their readers. Out: a fresh log below the state folder, and how many files and lines could not be read.
The histories are only read; nothing leaves the machine.
"""

from __future__ import annotations

import contextlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from audit import record
from audit.record import Around
from audit.state import State
from classifiers.discover import discover
from proxy.analyzer.analyzer import Analyzer
from proxy.analyzer.desk import Desk
from proxy.analyzer.events import apply_events
from proxy.analyzer.guard import Guard
from proxy.analyzer.judging import load_judge
from proxy.analyzer.tracked import Tracked
from proxy.analyzer.writer import RecordWriter
from proxy.assembly import ExchangeAssembler
from proxy.exchange import Exchange
from proxy.folders import private_folder
from proxy.metrics import Metrics
from proxy.scan import Entry, Reader
from proxy.scan.recording import RecordingError
from proxy.sessions.book import SessionBook
from proxy.sessions.identity import Identity
from proxy.sessions.peer import PeerFinder
from proxy.settings import Config
from proxy.spool.events import SpoolEvent


@dataclass(slots=True)
class Reviewed:
    files: Counter[str] = field(default_factory=Counter)
    unreadable: list[str] = field(default_factory=list)


def readers() -> list[Reader]:
    """One of each, new: a reader remembers what it has told."""
    return [make() for make in discover("proxy.scan", "READER")]


def found(home: Path, environment: Mapping[str, str], since: float) -> list[tuple[Reader, Path]]:
    """Histories touched since then, oldest first per agent."""
    return [(r, p) for r in readers() for p in r.files(home, environment) if p.stat().st_mtime >= since]


def review(
    config: Config,
    work: Iterable[tuple[Reader, Path]],
    progress: Callable[[Path], None] = lambda _path: None,
    recorded: Iterable[tuple[str, Path, Iterable[SpoolEvent]]] = (),
) -> Reviewed:
    """``config.state`` is the scan's own folder: what an earlier scan left there goes.

    ``recorded``: (kind, path, events) of exchanges, reviewed with the histories.
    """
    done = Reviewed()
    with fresh_desk(config) as desk:
        for reader, path in work:
            progress(path)
            _file(desk, reader, path, done)
        analyzer = Analyzer(desk)
        for kind, path, events in recorded:
            progress(path)
            done.files[kind] += 1
            _exchanges(analyzer, path, events, done)
    return done


def replay(config: Config, work: Iterable[tuple[Path, Iterable[SpoolEvent]]]) -> Reviewed:
    """Recorded exchanges through the analyzer, as if the relay had just captured them."""
    done = Reviewed()
    with fresh_desk(config) as desk:
        analyzer = Analyzer(desk)
        for path, events in work:
            _exchanges(analyzer, path, events, done)
    return done


def _exchanges(analyzer: Analyzer, path: Path, events: Iterable[SpoolEvent], done: Reviewed) -> None:
    try:
        for event in events:
            analyzer.take(event)
    except RecordingError as error:
        done.unreadable.append(str(error))
    except OSError as error:
        done.unreadable.append(f"{path}: {error.strerror}")


@contextlib.contextmanager
def fresh_desk(config: Config) -> Iterator[Desk]:
    """A desk over a new log below ``config.state``; at the end every session ends."""
    state = private_folder(Path(config.state))
    for folder in ("audit", "analyzer"):
        shutil.rmtree(state / folder, ignore_errors=True)
    audit = State(state)
    guard = audit.guard(rules=config.privacy.rules, identities=config.privacy.identities)
    metrics, peers = Metrics(), PeerFinder()
    with audit.open_log(guard=guard) as log:
        desk = Desk(
            config=config,
            writer=RecordWriter(log, metrics),
            judge=load_judge(config),
            guard=Guard(state / "analyzer" / "in-hand"),
            metrics=metrics,
            peers=peers,
            book=SessionBook(idle_s=float("inf")),
        )
        for line in desk.judge.poll():
            desk.writer.write(line)
        yield desk
        Analyzer(desk).end_all("import_end")
    peers.close()
    desk.guard.close()


def _file(desk: Desk, reader: Reader, path: Path, done: Reviewed) -> None:
    done.files[reader.agent] += 1
    try:
        for number, entry in enumerate(reader.read(path)):
            _entry(desk, reader.agent, path, number, entry)
    except OSError as error:
        done.unreadable.append(f"{path}: {error.strerror}")


def _entry(desk: Desk, agent: str, path: Path, number: int, entry: Entry) -> None:
    place = f"{path.parent.name}/{path.name}"
    if entry.problem is not None:
        around = Around(origin=desk.origin, src={"writer": f"import:{place}", "exchange": number, "ordinal": 0})
        desk.writer.write(
            record.unread(
                content_type="application/jsonl", size_bytes=entry.size_bytes, reason=entry.problem, around=around
            )
        )
        return
    exchange = Exchange(id=f"{place}:{number}", started_ns=int(entry.at * 1e9))
    tracked = Tracked(
        writer=f"import:{place}",
        number=number,
        exchange=exchange,
        assembler=ExchangeAssembler(exchange),
        identity=Identity(
            agent=agent,
            version=entry.version,
            agent_id=entry.facts.get("agent_id"),
            session=("import", entry.session),
        ),
        facts=dict(entry.facts),
        wall_offset_ns=int(entry.at * 1e9),
        imported_as=f"{agent}-history",
        turned=not entry.turn,
    )
    apply_events(desk, tracked, list(entry.events))
    if entry.turn and tracked.session is not None:
        tracked.session.turn += 1
