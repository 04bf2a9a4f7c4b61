"""Mistral's conversations API: ``function.call`` entries for the client, ``tool.execution`` entries run there.

Streamed as events named after the entry; call fragments share an id, and the response's end closes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import Approval, ApprovalState, ExecutedBy, Outcome, ToolCall
from proxy.events import CallClosed, Event, Facts, ResultSeen
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import arguments, fields, given, ident, known, patterns, result, rows, short, text
from proxy.providers._chat_request import offered
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "mistral-conversations"
OPEN_CAP = 1024
_STARTS = ("conversation.response.", "message.output", "function.call", "tool.execution", "agent.handoff")


class ConversationAssembly:
    def __init__(self) -> None:
        self._open: dict[Any, tuple[dict[str, Any], list[str]]] = {}
        self._count = 0

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body = fields(exchange.request_json)
        told = exchange.request.path.partition("/conversations/")[2].partition("/")[0]
        yield Facts(known(protocol=NAME, model=text(body.get("model")), conversation_id=told))
        if body:
            yield offered(body)
        for entry in rows(body.get("inputs")):
            if entry.get("type") == "function.result":
                id_, said = entry.get("tool_call_id"), entry.get("result")
                yield ResultSeen(result(id_, said, source="request", asserted_by="request", reported_by="harness"))

    def frame(self, frame: Frame) -> Iterator[Event]:
        data = frame.data
        if frame.error is not None or not isinstance(data, dict):
            return
        kind = text(data.get("type")) or frame.event
        if "outputs" in data:
            yield from self._whole(data)
        elif kind in ("function.call.delta", "tool.execution.started", "tool.execution.delta"):
            self._grow(kind, data)
        elif kind == "tool.execution.done":
            yield from self._close(ident(data.get("id")))
            yield _ran(data)
        elif kind == "conversation.response.started":
            yield Facts(known(conversation_id=text(data.get("conversation_id"))))
        elif kind == "conversation.response.done":
            for key in list(self._open):
                yield from self._close(key)
            yield Facts(known(usage=usage(data.get("usage"))))
        elif kind == "conversation.response.error":
            yield Facts(known(error=short(data)))

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - what is open is cut off, however it ended
        for key in list(self._open):
            yield from self._close(key, complete=False)

    def _grow(self, kind: str, data: dict[str, Any]) -> None:
        key = ident(data.get("id"), data.get("tool_call_id"))
        if key not in self._open and len(self._open) < OPEN_CAP:
            self._open[key] = ({**data, "type": kind.rpartition(".")[0]}, [])
        if key in self._open:
            self._open[key][1].append(text(data.get("arguments")))

    def _close(self, key: Any, *, complete: bool = True) -> Iterator[Event]:
        entry, parts = self._open.pop(key, ({}, []))
        if entry:
            yield self._call(entry, arguments("".join(parts)), complete=complete)

    def _whole(self, data: dict[str, Any]) -> Iterator[Event]:
        for entry in rows(data.get("outputs")):
            if entry.get("type") in ("function.call", "tool.execution"):
                yield self._call(entry, given(entry.get("arguments")), complete=True)
            if entry.get("type") == "tool.execution":
                yield _ran(entry)
        yield Facts(known(conversation_id=text(data.get("conversation_id")), usage=usage(data.get("usage"))))

    def _call(self, entry: dict[str, Any], body: dict[str, Any], *, complete: bool) -> CallClosed:
        ours = entry.get("type") == "function.call"
        self._count += 1
        return CallClosed(
            ToolCall(
                name=text(entry.get("name")),
                id=ident(entry.get("tool_call_id"), entry.get("id")),
                kind="function" if ours else "tool.execution",
                executed_by=ExecutedBy.CLIENT if ours else ExecutedBy.PROVIDER,
                complete=complete,
                approval=_APPROVALS.get(text(entry.get("confirmation_status")), Approval()),
                ordinal=self._count - 1,
                **body,
            )
        )


_APPROVALS = {
    said: Approval(state, asserted_by="response")
    for said, state in (
        ("pending", ApprovalState.REQUIRED),
        ("allowed", ApprovalState.APPROVED),
        ("denied", ApprovalState.REJECTED),
    )
}


def _ran(entry: dict[str, Any]) -> ResultSeen:
    name = text(entry.get("name")) or None
    return ResultSeen(result(entry.get("id"), entry.get("info"), Outcome.UNKNOWN, name=name, reported_by="provider"))


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    markers = patterns(rb"function\.call", rb"tool\.execution", rb"conversation\.response", rb"error", rb"\\u")

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        said = fields(first.data) if first is not None else {}
        named = text(said.get("type")) or (first.event if first is not None else "")
        shaped = said.get("object") == "conversation.response" or named.startswith(_STARTS)
        asked = "inputs" in fields(exchange.request_json) and "/conversations" in exchange.request.path
        return 60 * shaped + 20 * asked

    def open(self, exchange: Exchange) -> ConversationAssembly:  # noqa: ARG002 - the provider signature
        return ConversationAssembly()


PROVIDER = _Provider()
