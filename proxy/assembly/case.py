"""Recorded exchanges through assembly: a case folder in, what ``onlooker assemble`` prints of it out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from classifiers.call import ToolResult
from proxy.assembly import ExchangeAssembler
from proxy.assembly.folder import exchanges, json_object, raw_body
from proxy.assembly.shown import rendered
from proxy.events import Event, ResultSeen
from proxy.exchange import Ending, Head, Side
from proxy.wire import Frame
from proxy.wire.json_text import parse

Feed = Callable[[ExchangeAssembler, bytes], Iterator[Event]]
_SIDES = {"client": Side.REQUEST, "server": Side.RESPONSE}


def assemble_case(folder: Path, *, detect: bool = False) -> dict[str, Any]:
    """The folder's exchanges, assembled: {api, calls, context, results, unread}."""
    meta = json_object(folder / "meta.json")
    events, apis = _session(folder, meta, None if detect else meta.get("wire_api") or meta.get("api"))
    found = next((api for api in reversed(apis) if api is not None), None)
    if found is not None and None in apis:  # requests of one session speak one api, those without a reply too
        events, _ = _session(folder, meta, found)
    return {"api": found, **rendered(events)}


def _session(folder: Path, meta: dict[str, Any], api: str | None) -> tuple[list[Event], list[str | None]]:
    """Events of all exchanges in order, and the api each was read as."""
    memory: dict[str, Any] = {}
    events: list[Event] = []
    apis = []
    told = _Told()
    for exchange, body in exchanges(folder, meta, api):
        assembler = ExchangeAssembler(exchange, memory)
        events += told.new(replay(assembler, body, exchange.request_json))
        apis.append(assembler.api)
    return events, apis


class _Told:
    """Results of earlier requests of the session: a history repeats them in order, each is printed once."""

    def __init__(self) -> None:
        self._answers: dict[str, list[str | None]] = {}

    def new(self, events: list[Event]) -> list[Event]:
        place: dict[str, int] = {}
        return [e for e in events if not (isinstance(e, ResultSeen) and self._again(e.result, place))]

    def _again(self, result: ToolResult, place: dict[str, int]) -> bool:
        if not result.final or result.source != "request":
            return False
        key = repr(result.id) if result.id not in (None, "") else f"name {result.name}"
        nth = place[key] = place.get(key, -1) + 1
        answers = self._answers.setdefault(key, [])
        if nth < len(answers) and answers[nth] == result.digest:
            return True
        answers.append(result.digest)
        return False


def replay(assembler: ExchangeAssembler, body: bytes, request: Any = None, cut: Feed | None = None) -> list[Event]:
    """One exchange through an assembler; ``cut`` feeds the response in pieces of its own choosing."""
    exchange = assembler.exchange
    head, exchange.response, exchange.request_json = exchange.response or Head(status=200), None, None
    if head.status in (0, 101):
        assembler.response_head(head) if head.status else None
        return [*assembler.frames(dialogue(body)), *assembler.end(Ending.COMPLETE)]
    sent = b"" if request is None else raw_body(request)
    events = assembler.request_body(sent) + assembler.request_end()
    events += assembler.response_head(head)
    events += assembler.response_body(body) if cut is None else list(cut(assembler, body))
    return events + assembler.response_end(Ending.COMPLETE)


def dialogue(body: bytes) -> list[Frame]:
    """Frames of a recorded socket or pipe: JSON lines {"dir", "data" | "line"}."""
    frames = []
    for line in body.split(b"\n"):
        entry = parse(line)[0] if line.strip() else None
        if not isinstance(entry, dict):
            continue
        data, error = entry.get("data", entry.get("line")), None
        if isinstance(data, str):
            value, error = parse(data)
            data = data if error else value
        side = _SIDES.get(str(entry.get("dir")), Side.RESPONSE)
        frames.append(Frame(data, side=side, error=error, size_bytes=len(line)))
    return frames
