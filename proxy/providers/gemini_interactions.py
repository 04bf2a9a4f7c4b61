"""Gemini Interactions: steps streamed as events, whole, or polled; ``previous_interaction_id`` chains them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import ExecutedBy, ToolCall
from proxy.events import CallClosed, Event, Facts, ResultSeen, ToolsOffered
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import (
    arguments,
    by_flag,
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
from proxy.providers._memory import shown_before
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "gemini-interactions"
STEPS_CAP = 4096


class InteractionAssembly:
    def __init__(self) -> None:
        self._exchange: Exchange | None = None
        self._id = ""
        self._open: dict[Any, tuple[dict[str, Any], list[str]]] = {}

    def request(self, exchange: Exchange) -> Iterator[Event]:
        self._exchange = exchange
        body = fields(exchange.request_json)
        model, before = text(body.get("model")), text(body.get("previous_interaction_id"))
        yield Facts(known(protocol=NAME, model=model, previous_response_id=before))
        if body:
            yield _offered(body)
        for step in rows(body.get("input")):
            if text(step.get("type")).endswith("_result"):
                yield _result(step, source="request")

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.error is not None or not isinstance(data, dict):
            return
        kind = text(data.get("event_type"))
        if not kind and ("steps" in data or data.get("object") == "interaction"):
            yield from self._whole(data)
        elif kind == "step.start":
            if ident(data.get("index")) in self._open:  # another step on an open place: nothing closed that one
                yield from self._stop(ident(data.get("index")), complete=False)
            if len(self._open) < STEPS_CAP:
                self._open[ident(data.get("index"))] = (dict(fields(data.get("step"))), [])
        elif kind == "step.delta":
            self._append(data)
        elif kind == "step.stop":
            yield from self._stop(ident(data.get("index")))
        elif kind.startswith("interaction."):
            yield from self._learn(fields(data.get("interaction")))
        if data.get("error"):
            yield Facts({"error": short(data["error"])})

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - what is open is cut off, however it ended
        for index in list(self._open):
            yield from self._stop(index, complete=False)

    def _append(self, data: dict[str, Any]) -> None:
        """Text of a function's arguments, or what a provider's own step turns out to hold, as values."""
        delta = fields(data.get("delta"))
        kind, index = text(delta.get("type")), ident(data.get("index"))
        if index not in self._open:
            return
        step, parts = self._open[index]
        if kind.startswith("arguments"):
            parts.append(text(delta.get("arguments")))
        elif kind.endswith(("_call", "_result")):
            step |= {k: v for k, v in delta.items() if k != "type" and v is not None}

    def _stop(self, index: Any, *, complete: bool = True) -> Iterator[Event]:
        step, parts = self._open.pop(index, ({}, []))
        yield from self._step(step, "".join(parts), index if isinstance(index, int) else 0, complete=complete)

    def _whole(self, data: dict[str, Any]) -> Iterator[Event]:
        yield from self._learn(data)
        for index, step in enumerate(rows(data.get("steps") or data.get("outputs"))):
            yield from self._step(step, "", index, complete=True)

    def _learn(self, said: dict[str, Any]) -> Iterator[Event]:
        self._id = text(said.get("id")) or self._id
        model, status = text(said.get("model")), text(said.get("status"))
        counts = usage(said.get("usage"))
        yield Facts(known(response_id=text(said.get("id")), model=model, finish_reason=status, usage=counts))

    def _step(self, step: dict[str, Any], streamed: str, index: int, *, complete: bool) -> Iterator[Event]:
        kind = text(step.get("type"))
        if kind.endswith("_result"):
            yield _result(step, source="stream")
        elif kind.endswith("_call") and not self._polled_before(step, index):
            ours = kind == "function_call"
            start = step.get("arguments")
            yield CallClosed(
                ToolCall(
                    name=text(step.get("name")) or kind.removesuffix("_call"),
                    id=ident(step.get("id")),
                    kind="function" if ours else kind,
                    executed_by=ExecutedBy.CLIENT if ours else ExecutedBy.PROVIDER,
                    complete=complete,
                    server=text(step.get("server_name")) or None,
                    ordinal=index,
                    **(arguments(streamed) if streamed else given({} if start is None else start)),
                )
            )

    def _polled_before(self, step: dict[str, Any], index: int) -> bool:
        if self._exchange is None or not self._id:
            return False
        return shown_before(self._exchange, NAME, self._id, [f"{index}:{step.get('id')}"])


def _offered(body: dict[str, Any]) -> ToolsOffered:
    tools = body.get("tools")
    found = [(text(t.get("name")) or text(t.get("type")), t) for t in rows(tools)]
    return ToolsOffered(
        tuple(definition(name, t.get("description"), t.get("parameters")) for name, t in found if name),
        present=isinstance(tools, list),
        forced="*" if body.get("tool_choice") == "any" else None,
    )


def _result(step: dict[str, Any], *, source: str) -> ResultSeen:
    asked = source == "request"
    return ResultSeen(
        result(
            step.get("call_id"),
            step.get("result"),
            by_flag(step.get("is_error")),
            name=text(step.get("name")) or None,
            source=source,
            asserted_by="request" if asked else "response",
            reported_by="harness" if asked else "provider",
        )
    )


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    markers = patterns(rb"_call", rb"_result", rb"arguments", rb"step\.st", rb"interaction\.", rb"error", rb"\\u")

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        said = fields(first.data) if first is not None else {}
        shaped = said.get("object") == "interaction" or text(said.get("event_type")).startswith(
            ("interaction.", "step.")
        )
        body = fields(exchange.request_json)
        asked = "input" in body and exchange.request.path.rstrip("/").endswith("/interactions")
        return 60 * shaped + 20 * asked

    def open(self, exchange: Exchange) -> InteractionAssembly:  # noqa: ARG002 - the provider signature
        return InteractionAssembly()


PROVIDER = _Provider()
