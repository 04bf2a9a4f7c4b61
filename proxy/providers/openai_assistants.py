"""OpenAI Assistants: runs that wait for tool outputs, polled or streamed; outputs come in a request of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from classifiers.call import ExecutedBy, Outcome, ToolCall
from proxy.events import CallClosed, Event, Facts, ResultSeen
from proxy.exchange import Ending, Exchange
from proxy.providers._calls import fields, given, ident, known, patterns, result, rows, short, text
from proxy.providers._chat_request import offered
from proxy.providers._memory import shown_before
from proxy.providers._usage import usage
from proxy.wire import Frame

NAME = "openai-assistants"


class RunAssembly:
    """Polling shows the same run again and again: a call is told when it is first seen."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._asked = False

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body = fields(exchange.request_json)
        thread = exchange.request.path.partition("/threads/")[2].partition("/")[0]
        yield Facts(known(protocol=NAME, model=text(body.get("model")), thread_id=thread))
        if "tools" in body:
            self._asked = True
            yield offered(body)
        for output in rows(body.get("tool_outputs")):
            yield ResultSeen(
                result(
                    output.get("tool_call_id"),
                    output.get("output"),
                    source="request",
                    asserted_by="request",
                    reported_by="harness",
                )
            )

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.error is None and isinstance(frame.data, dict):
            yield from self._object(frame.data)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - calls come whole, nothing is ever open
        return iter(())

    def _object(self, data: dict[str, Any]) -> Iterator[Event]:
        kind = text(data.get("object"))
        if kind == "list":
            for inner in rows(data.get("data")):
                yield from self._object(inner)
        elif kind == "thread.run":
            yield from self._run(data)
        elif kind == "thread.run.step" and data.get("status") == "completed":
            yield from self._step(data)
        if data.get("error"):
            yield Facts({"error": short(data["error"])})

    def _run(self, run: dict[str, Any]) -> Iterator[Event]:
        ids = known(response_id=text(run.get("id")), thread_id=text(run.get("thread_id")))
        status, counts = text(run.get("status")), usage(run.get("usage"))
        yield Facts(ids | known(model=text(run.get("model")), finish_reason=status, usage=counts))
        if not self._asked and isinstance(run.get("tools"), list):
            yield offered(run)
        waiting = fields(fields(run.get("required_action")).get("submit_tool_outputs"))
        for ordinal, call in enumerate(rows(waiting.get("tool_calls"))):
            said = fields(call.get("function"))
            if self._first_sight(run.get("id"), call.get("id")):
                yield _call(call, text(said.get("name")), said.get("arguments"), ExecutedBy.CLIENT, ordinal)

    def _step(self, step: dict[str, Any]) -> Iterator[Event]:
        """Provider-run tools appear only in completed steps; functions were told when the run asked for them."""
        for ordinal, call in enumerate(rows(fields(step.get("step_details")).get("tool_calls"))):
            kind = text(call.get("type"))
            if kind == "function" or not self._first_sight(step.get("run_id"), call.get("id")):
                continue
            said = fields(call.get(kind))
            body = {"code": said.get("input")} if kind == "code_interpreter" else said
            yield _call(call, kind, body, ExecutedBy.PROVIDER, ordinal)
            content = said.get("outputs", said.get("results"))
            yield ResultSeen(result(call.get("id"), content, Outcome.OK, name=kind, reported_by="provider"))

    def _first_sight(self, run: Any, call: Any) -> bool:
        return not shown_before(self._exchange, NAME, text(run), [text(call)], always=True)


def _call(call: dict[str, Any], name: str, said: Any, where: ExecutedBy, ordinal: int) -> CallClosed:
    return CallClosed(
        ToolCall(
            name=name,
            id=ident(call.get("id")),
            kind=text(call.get("type")) or "function",
            executed_by=where,
            ordinal=ordinal,
            **({} if said is None else given(said)),
        )
    )


class _Provider:
    name = NAME
    dialect_of: str | None = None
    reads_ahead = True
    markers = patterns(rb"tool", rb"required_action", rb"thread\.run", rb"error", rb"\\u")

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        said = fields(first.data) if first is not None else {}
        listed = rows(said.get("data"))[:1] if said.get("object") == "list" else []
        shaped = any(text(o.get("object")).startswith("thread") for o in (said, *listed))
        return 60 * shaped + 20 * ("tool_outputs" in fields(exchange.request_json))

    def open(self, exchange: Exchange) -> RunAssembly:
        return RunAssembly(exchange)


PROVIDER = _Provider()
