"""A desk with a log in memory, and exchanges as the spool would give them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proxy.analyzer.analyzer import Analyzer
from proxy.analyzer.desk import Desk
from proxy.analyzer.guard import Guard
from proxy.analyzer.judge import NoJudge
from proxy.analyzer.writer import RecordWriter
from proxy.exchange import Ending, Side
from proxy.metrics import Metrics
from proxy.sessions.book import SessionBook
from proxy.sessions.peer import PeerFinder
from proxy.settings import Config, SpoolSettings
from proxy.spool.events import BodyEnded, BodySeen, Ended, HeadSeen, Opened, SpoolEvent


class MemoryLog:
    """The log's promise without its files: ids in order, records as written."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def append(self, record: dict[str, Any]) -> str:
        identity = f"log:{len(self.records)}"
        self.records.append({**record, "id": identity, "seq": len(self.records)})
        return identity

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [r for r in self.records if r["kind"] == kind]


class Bench:
    """One analyzer over one log; ``again`` is the next life over the same log."""

    def __init__(self, folder: Path, log: MemoryLog | None = None, **config: Any) -> None:
        self.folder, self.log = folder, log or MemoryLog()
        self.config = Config(state=str(folder), spool=SpoolSettings(str(folder / "spool")), **config)
        metrics = Metrics()
        self.peers = PeerFinder()
        self.guard = Guard(folder / "in-hand")
        self.desk = Desk(
            self.config,
            RecordWriter(self.log, metrics),
            NoJudge(),
            self.guard,
            metrics,
            self.peers,
            SessionBook(self.config.session_idle_s, self.config.launch.session if self.config.launch else None),
        )
        self.analyzer = Analyzer(self.desk)

    def feed(self, events: list[SpoolEvent]) -> None:
        for event in events:
            self.analyzer.take(event)

    def close(self) -> None:
        self.peers.close()
        self.guard.close()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


@pytest.fixture
def make_bench(tmp_path: Path) -> Iterator[Any]:
    made: list[Bench] = []

    def make(log: MemoryLog | None = None, **config: Any) -> Bench:
        made.append(Bench(tmp_path, log, **config))
        return made[-1]

    yield make
    for one in made:
        one.close()


def sse(events: list[dict[str, Any]]) -> bytes:
    return b"".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n".encode() for e in events)


def tool_stream(name: str, arguments: dict[str, Any], call_id: str) -> bytes:
    """A model's streamed answer that asks for one tool."""
    text = json.dumps(arguments)
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    message = {"id": f"msg_{call_id}", "type": "message", "role": "assistant", "model": "m-1", "content": []}
    return sse(
        [
            {"type": "message_start", "message": {**message, "usage": {"input_tokens": 7, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": text[:5]},
            },
            {
                "type": "content_block_delta",
                "index": 0,
                "delta": {"type": "input_json_delta", "partial_json": text[5:]},
            },
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
        ]
    )


def spool_events(
    number: int,
    request: dict[str, Any],
    response: bytes,
    *,
    headers: tuple[str, ...] = ("User-Agent: claude-cli/2.1.197 (external)", "X-Claude-Code-Session-Id: s-1"),
    path: str = "/v1/messages",
    ending: Ending = Ending.COMPLETE,
    content_type: str = "text/event-stream",
    meta: dict[str, Any] | None = None,
    cut: int | None = None,
) -> list[SpoolEvent]:
    w, t = "r0-test", 1_000_000 * number
    body = json.dumps(request).encode()
    head = "\r\n".join(
        [f"POST {path} HTTP/1.1", "Host: api.example", "Content-Type: application/json", *headers, "", ""]
    )
    answer = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\n\r\n"
    opened = {
        "upstream": "api.example:443",
        "route": "anthropic",
        "connection": 1,
        "wall_ns": 10**18 + t,
        **(meta or {}),
    }
    pieces = [response] if cut is None else [response[:cut], response[cut:]]
    return [
        Opened(w, number, t, opened),
        HeadSeen(w, number, t, Side.REQUEST, head.encode(), {"x-api-key": "k1:ab12"}),
        BodySeen(w, number, t, Side.REQUEST, body),
        BodyEnded(w, number, t, Side.REQUEST, Ending.COMPLETE),
        HeadSeen(w, number, t + 1, Side.RESPONSE, answer.encode()),
        *(BodySeen(w, number, t + 2, Side.RESPONSE, p) for p in pieces),
        BodyEnded(w, number, t + 3, Side.RESPONSE, ending),
        Ended(w, number, t + 3, ending, len(head) + len(body), len(answer) + len(response)),
    ]


@pytest.fixture
def wire() -> Any:
    """The builders above, for tests (a folder without packages cannot import its conftest)."""

    class Wire:
        exchange = staticmethod(spool_events)
        tool = staticmethod(tool_stream)

    return Wire
