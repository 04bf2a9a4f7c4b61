"""Bedrock's Converse shapes: blocks by ``contentBlockIndex``, whole messages, and what a request says.

Shared by Converse itself and by the Nova models behind InvokeModel, which speak the same shapes inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from classifiers.call import ExecutedBy, Outcome, ToolCall
from proxy.events import CallClosed, Event, Facts, HistorySeen, ResultSeen, ToolsOffered
from proxy.exchange import Ending, Exchange
from proxy.providers import _history
from proxy.providers._calls import (
    EVERYTHING,
    arguments,
    definition,
    fields,
    given,
    ident,
    known,
    patterns,
    result,
    rows,
    short,
    text,
)
from proxy.providers._usage import usage
from proxy.wire import Frame

BLOCKS_CAP = 4096
EVENTS = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}
)
_LIMITS = ("max_tokens", "model_context_window_exceeded")
# In an event's name or body, so in any framing; the ends of blocks matter while one is open.
TEXT_ONLY = patterns(
    rb"toolUse", rb"toolResult", rb"messageStop", rb"metadata", rb"exception", rb'"output"', rb'"message"', rb"\\u"
)
IN_BLOCKS = (*TEXT_ONLY, *patterns(rb"contentBlockStop"))
_MARKED = {"error": Outcome.ERROR, "success": Outcome.OK}


@dataclass(slots=True)
class _Block:
    start: dict[str, Any]
    ordinal: int
    parts: list[str] = field(default_factory=list)


class ConverseAssembly:
    def __init__(self, api: str) -> None:
        self._api = api
        self._open: dict[Any, _Block] = {}
        self._results: dict[Any, dict[str, Any]] = {}
        self._doubtful: _Block | None = None  # stopped with text that is no JSON: the stop reason may say it was cut
        self._count = 0

    @property
    def markers(self) -> tuple[re.Pattern[bytes], ...]:
        """What comes right after a doubtful call decides about it, text too."""
        if self._doubtful is not None:
            return EVERYTHING
        return IN_BLOCKS if self._open or self._results else TEXT_ONLY

    def request(self, exchange: Exchange) -> Iterator[Event]:
        return request_events(exchange, fields(exchange.request_json), self._api)

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.event.startswith("exception:"):
            kind = frame.event.removeprefix("exception:")
            yield Facts({"error": f"{kind}: {short(data) or ''}"[:200]})
        if frame.error is not None or not isinstance(data, dict):
            return
        if frame.event in EVENTS:
            yield from self._event(frame.event, data)
        elif isinstance(data.get("output"), dict):
            yield from self._whole(data)
        else:  # Nova inside InvokeModel: {"contentBlockStart": {…}}
            for key in EVENTS & data.keys():
                yield from self._event(key, fields(data[key]))
            if frame.whole and text(data.get("message")):
                yield Facts({"error": short(data)})

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - what is open is cut off, however it ended
        yield from self._settled(cut=False)
        for index in list(self._open):
            yield from self._stop(index, complete=False)

    def _event(self, kind: str, data: dict[str, Any]) -> Iterator[Event]:
        index = ident(data.get("contentBlockIndex"))
        yield from self._settled(cut=kind == "messageStop" and data.get("stopReason") in _LIMITS)
        if kind == "contentBlockStart":
            yield from self._stop(index, complete=False)  # another block on an open place: nothing closed that one
            self._start(index, fields(data.get("start")))
        elif kind == "contentBlockDelta":
            self._append(index, fields(data.get("delta")))
        elif kind == "contentBlockStop":
            yield from self._stop(index, complete=True)
        elif kind == "messageStop":
            for left in list(self._open):
                yield from self._stop(left, complete=False)
            yield Facts(known(finish_reason=text(data.get("stopReason"))))
        elif kind == "metadata" and usage(data.get("usage")):
            yield Facts({"usage": usage(data.get("usage"))})

    def _start(self, index: Any, start: dict[str, Any]) -> None:
        if isinstance(start.get("toolUse"), dict) and len(self._open) < BLOCKS_CAP:
            self._open[index] = _Block(start["toolUse"], self._count)
            self._count += 1
        elif isinstance(start.get("toolResult"), dict) and len(self._results) < BLOCKS_CAP:
            self._results[index] = {**start["toolResult"], "content": []}

    def _append(self, index: Any, delta: dict[str, Any]) -> None:
        if index in self._open:
            self._open[index].parts.append(text(fields(delta.get("toolUse")).get("input")))
        elif index in self._results:
            self._results[index]["content"] += rows(delta.get("toolResult"))

    def _stop(self, index: Any, *, complete: bool) -> Iterator[Event]:
        block, said = self._open.pop(index, None), self._results.pop(index, None)
        if block is not None:
            streamed = "".join(block.parts)
            body = arguments(streamed) if streamed or not complete else given({})
            if complete and body.get("arguments_valid") is False:
                self._doubtful = block
            else:
                yield _call(block.start, body, block.ordinal, complete=complete)
        if said is not None and complete:
            yield _result(said, source="stream")

    def _settled(self, *, cut: bool) -> Iterator[Event]:
        block, self._doubtful = self._doubtful, None
        if block is not None:
            yield _call(block.start, arguments("".join(block.parts)), block.ordinal, complete=not cut)

    def _whole(self, data: dict[str, Any]) -> Iterator[Event]:
        for block in rows(fields(data["output"].get("message")).get("content")):
            if isinstance(block.get("toolUse"), dict):
                said = block["toolUse"].get("input")
                yield _call(block["toolUse"], given({} if said in (None, "") else said), self._count, complete=True)
                self._count += 1
            elif isinstance(block.get("toolResult"), dict):
                yield _result(block["toolResult"], source="stream")
        yield Facts(known(finish_reason=text(data.get("stopReason")), usage=usage(data.get("usage"))))


def _call(use: dict[str, Any], body: dict[str, Any], ordinal: int, *, complete: bool) -> CallClosed:
    kind = text(use.get("type")) or "toolUse"
    return CallClosed(
        ToolCall(
            name=text(use.get("name")),
            id=ident(use.get("toolUseId")),
            kind=kind,
            executed_by=ExecutedBy.PROVIDER if kind == "server_tool_use" else ExecutedBy.CLIENT,
            complete=complete,
            ordinal=ordinal,
            **body,
        )
    )


def _result(said: dict[str, Any], *, source: str, names: dict[Any, str] | None = None) -> ResultSeen:
    asked = source == "request"
    id_ = ident(said.get("toolUseId"))
    return ResultSeen(
        result(
            id_,
            said.get("content"),
            _MARKED.get(text(said.get("status")), Outcome.UNKNOWN),
            name=(names or {}).get(id_),
            source=source,
            asserted_by="request" if asked else "response",
            reported_by="harness" if asked else "provider",
        )
    )


def request_events(exchange: Exchange, body: dict[str, Any], api: str) -> Iterator[Event]:
    model = exchange.request.path.partition("/model/")[2].partition("/")[0]
    yield Facts(known(protocol=api, model=model.replace("%3A", ":")))
    settings = fields(body.get("toolConfig"))
    yield _offered(settings)
    messages = body.get("messages")
    if not isinstance(messages, list):
        return
    hashes = _history.chain(messages)
    blocks = [b for m in rows(messages) for b in rows(m.get("content"))]
    uses = [fields(b.get("toolUse")) for b in blocks if "toolUse" in b]
    yield HistorySeen(call_ids=tuple(ident(u.get("toolUseId")) for u in uses), prefix_hashes=hashes)
    names = {u["toolUseId"]: text(u.get("name")) for u in uses if text(u.get("toolUseId"))}
    for message in rows(messages):
        for block in rows(message.get("content")):
            if isinstance(block.get("toolResult"), dict):
                yield _result(block["toolResult"], source="request", names=names)


def _offered(settings: dict[str, Any]) -> ToolsOffered:
    tools = settings.get("tools")
    choice = fields(settings.get("toolChoice"))
    forced = "*" if "any" in choice else text(fields(choice.get("tool")).get("name")) or None
    specs = [fields(t.get("toolSpec") or t.get("systemTool")) for t in rows(tools)]
    found = [
        definition(s["name"], s.get("description"), fields(s.get("inputSchema")).get("json"))
        for s in specs
        if text(s.get("name"))
    ]
    return ToolsOffered(tuple(found), present=isinstance(tools, list), forced=forced)
