"""Messages of the control process, dealt with: hooks become calls and results, admin changes reach the judge.

In: an inbox ``Message``. Out: records, each once: the place of a message in its file is its place in the capture.
"""

from __future__ import annotations

import time
from typing import Any

from audit.record import disposition
from classifiers.discover import discover
from proxy.analyzer.analyzer import Analyzer
from proxy.analyzer.events import apply_events
from proxy.analyzer.tracked import Tracked
from proxy.assembly import ExchangeAssembler
from proxy.exchange import Exchange
from proxy.hooks import HookReader
from proxy.inbox import Message
from proxy.sessions.identity import Identity


def on_message(analyzer: Analyzer, message: Message) -> None:
    desk = analyzer.desk
    if message.kind == "hook":
        said = message.body
        on_hook(analyzer, message.start, str(said.get("client")), said.get("body"), said.get("pid"))
        return
    if message.kind == "disposition":
        lines = [disposition(**{k: message.body[k] for k in ("action", "state", "reason", "by")})]
    else:
        lines = desk.judge.command(message.kind, message.body)
    for number, line in enumerate(lines):
        desk.writer.write({**line, "src": {"writer": "inbox", "exchange": message.start, "ordinal": number}})


def on_hook(analyzer: Analyzer, place: int, client: str, body: dict[str, Any], pid: int | None = None) -> None:
    """``pid``: the agent's process by its hook's word; it only helps to find the model's sight of the same call."""
    reader = next((r for r in _readers() if r.client == client), None)
    if reader is None:
        return
    seen = reader.read(body, analyzer.desk.shared)
    exchange = Exchange(id=f"hooks/{place}", started_ns=time.time_ns(), connection=f"hooks/{seen.session}")
    tracked = Tracked(
        writer="hooks",
        number=place,
        exchange=exchange,
        assembler=ExchangeAssembler(exchange),
        identity=Identity(agent=client, session=("hook", seen.session) if seen.session else None),
        facts={**seen.facts, "caller_pid": pid},
        wall_offset_ns=time.time_ns() - time.monotonic_ns(),
        last_mono_ns=time.monotonic_ns(),
        imported_as=f"{client}-hooks",
    )
    apply_events(analyzer.desk, tracked, seen.events)
    ended = analyzer.desk.book.end(seen.session) if seen.session_ended and seen.session else None
    if ended is not None:
        analyzer.end_session(ended, "hook")


def _readers() -> tuple[HookReader, ...]:
    return discover("proxy.hooks", "HOOK")
