"""One AG-UI exchange: event frames in, closed calls, results and run facts out (AG-UI 1.0; SSE and binary alike).

A call is yielded when it closes, not when the run ends. Who executes it may only turn out later, so it is said in two
steps: *client* at once when the tool was advertised, else *unknown*; an answer in the stream then revises it in the
result's ``extra`` (``executed_by: agent``). The same holds for ``advertised``. Nothing is decided from ``rawEvent``,
``RAW``, ``CUSTOM`` or ``RUN_STARTED.input``: they repeat. State is bounded by the exchange's capture cap and MAX_CALLS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from classifiers.call import Outcome
from proxy.events import CallClosed, Event, Facts, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import _ag_ui_results as told
from proxy.providers._ag_ui_calls import OpenCall
from proxy.providers._ag_ui_input import camel, is_run_input, read_input
from proxy.providers._ag_ui_state import RunState
from proxy.providers._calls import fields
from proxy.providers._reading import arguments_of_text
from proxy.wire import Frame


class AgUiRun:
    def __init__(self, exchange: Exchange, content_type: str = "text/event-stream") -> None:
        self.state = RunState(exchange)
        self._content_type = content_type
        self._where = "none"  # none | active | finished | errored

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body, state = exchange.request_json, self.state
        if not is_run_input(body):
            return
        plain = camel(body)
        state.thread, state.run = plain["threadId"], plain["runId"] if isinstance(plain["runId"], str) else None
        for event in read_input(exchange, body):
            if isinstance(event, ToolsOffered) and event.present:
                state.offered = {tool.name: tool for tool in event.definitions}
            yield event

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.side is Side.REQUEST or frame.data == "":
            return
        if not isinstance(frame.data, dict):
            if frame.error is None:  # the driver says what could not be decoded
                yield Unread(self._content_type, frame.size_bytes, "an event that is not a JSON object")
            yield from self._refuse("an event that is not JSON")
            return
        event = camel(frame.data)
        kind = event.get("type")
        if not isinstance(kind, str):
            return
        yield from self._order(kind)
        for call in self._lanes_closed_by(kind, event):
            yield self._closed(call, complete=kind != "RUN_ERROR" or _parses(call))
        handler = _HANDLERS.get(kind)
        if handler is not None:
            yield from handler(self, event)
        yield from self._complaints(frame.size_bytes)

    def close(self, ending: Ending) -> Iterator[Event]:
        yield from (self._closed(call, complete=False) for call in self.state.book.still_open())
        if self._where == "active":
            yield from told.pending(self.state, None)
            yield Facts({"finish_reason": "cut off", "error": f"the stream ended without a terminal event ({ending})"})

    def _order(self, kind: str) -> Iterator[Event]:
        """The official client's rules on where an event may stand."""
        allowed, why = _ORDER[self._where]
        if (kind in allowed) is (self._where == "active"):
            yield from self._refuse(why)

    def _refuse(self, why: str) -> Iterator[Event]:
        if not self.state.rejected:
            self.state.rejected = True
            yield Facts({"client_would_reject": why})

    def _complaints(self, size_bytes: int) -> Iterator[Event]:
        """What the book found wrong with the event just read."""
        book = self.state.book
        yield from (Unread(self._content_type, size_bytes, why) for why in book.unread)
        for why in book.violations:
            yield from self._refuse(why)
        book.unread.clear()
        book.violations.clear()

    def _lanes_closed_by(self, kind: str, event: dict[str, Any]) -> Iterable[OpenCall]:
        if kind in _CLOSE_ALL:
            return self.state.book.close_lanes()
        if kind in _CLOSE_NONE or kind not in _KNOWN:
            return ()
        owner = event.get("subagentRunId")
        return self.state.book.close_lane(owner if isinstance(owner, str) else None)

    def _closed(self, call: OpenCall, *, complete: bool) -> Event:
        return CallClosed(self.state.closed_call(call, complete=complete))

    # events

    def start(self, event: dict[str, Any]) -> Iterator[Event]:
        self.state.book.start(event, self.state.batch)
        return iter(())

    def args(self, event: dict[str, Any]) -> Iterator[Event]:
        self.state.book.args(event)
        return iter(())

    def end(self, event: dict[str, Any]) -> Iterator[Event]:
        for call in self.state.book.end(event):
            yield self._closed(call, complete=True)

    def chunk(self, event: dict[str, Any]) -> Iterator[Event]:
        for call in self.state.book.chunk(event, self.state.batch):
            yield self._closed(call, complete=True)

    def result(self, event: dict[str, Any]) -> Iterator[Event]:
        call_id, content = event.get("toolCallId"), event.get("content")
        if not isinstance(call_id, str) or content is None:
            return self._refuse("a result without an id or content")
        return told.answer(self.state, call_id, content, None)

    def snapshot(self, event: dict[str, Any]) -> Iterator[Event]:
        return told.snapshot(self.state, event)

    def run_started(self, event: dict[str, Any]) -> Iterator[Event]:
        state = self.state
        if self._where != "none":
            state.batch += 1
        if self._where in ("finished", "errored"):
            state.book.forget()  # an id that comes again in the next run is another call, or the same re-emitted
        self._where = "active"
        state.closed.clear()
        state.thread = event["threadId"] if isinstance(event.get("threadId"), str) else state.thread
        state.run = event["runId"] if isinstance(event.get("runId"), str) else state.run
        ids = {"thread_id": state.thread, "run_id": state.run, "conversation_id": state.thread}
        yield Facts({"protocol": "ag-ui", **ids})

    def run_finished(self, event: dict[str, Any]) -> Iterator[Event]:
        for call in self.state.book.still_open():
            self.state.book.violations.append(f"RUN_FINISHED while {call.id} is open")
            yield self._closed(call, complete=False)
        outcome = camel(fields(event.get("outcome")))
        yield from told.interrupts(self.state, outcome.get("interrupts"))
        declared = outcome.get("pendingToolCallIds", event.get("pendingToolCallIds"))
        unanswered = yield from told.pending(self.state, declared)
        for call_id in unanswered if outcome.get("type") == "cancelled" else ():
            yield told.sight(self.state, call_id, {}, outcome=Outcome.CANCELLED, end_reason="run cancelled")
        yield Facts({"finish_reason": outcome.get("type") or "finished", **told.usage(event)})
        self._where = "finished"

    def run_error(self, event: dict[str, Any]) -> Iterator[Event]:
        yield from (self._closed(call, complete=False) for call in self.state.book.still_open())
        yield from told.pending(self.state, None)
        error = {"message": str(event.get("message", ""))[:500], "code": event.get("code")}
        yield Facts({"finish_reason": "error", "error": error, **told.usage(event)})
        self._where = "errored"


def _parses(call: OpenCall) -> bool:
    """A chunked call that RUN_ERROR closes is complete only if its text is whole."""
    return arguments_of_text("".join(call.text))["arguments_valid"] is True


# Where the run stands -> (types, complaint): inside a run those types are wrong, elsewhere all others are.
_ORDER: dict[str, tuple[frozenset[str], str]] = {
    "none": (frozenset({"RUN_STARTED", "RUN_ERROR"}), "the first event is not RUN_STARTED"),
    "active": (frozenset({"RUN_STARTED"}), "RUN_STARTED inside a run"),
    "finished": (frozenset({"RUN_STARTED", "RUN_ERROR"}), "an event after RUN_FINISHED"),
    "errored": (frozenset({"RUN_STARTED"}), "an event after RUN_ERROR"),
}

_HANDLERS: dict[str, Callable[[AgUiRun, dict[str, Any]], Iterator[Event]]] = {
    "TOOL_CALL_START": AgUiRun.start,
    "TOOL_CALL_ARGS": AgUiRun.args,
    "TOOL_CALL_END": AgUiRun.end,
    "TOOL_CALL_CHUNK": AgUiRun.chunk,
    "TOOL_CALL_RESULT": AgUiRun.result,
    "MESSAGES_SNAPSHOT": AgUiRun.snapshot,
    "RUN_STARTED": AgUiRun.run_started,
    "RUN_FINISHED": AgUiRun.run_finished,
    "RUN_ERROR": AgUiRun.run_error,
}

_CLOSE_ALL = frozenset({"RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT"})
# These pass beside a chunked call without closing it (chunk expansion of the official client).
_CLOSE_NONE = frozenset(
    {
        "TOOL_CALL_CHUNK",
        "RAW",
        "ACTIVITY_SNAPSHOT",
        "ACTIVITY_DELTA",
        "REASONING_ENCRYPTED_VALUE",
        "SUBAGENT_STARTED",
    }
)
_KNOWN = frozenset(_HANDLERS) | {
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "TEXT_MESSAGE_CHUNK",
    "STATE_SNAPSHOT",
    "STATE_DELTA",
    "CUSTOM",
    "STEP_STARTED",
    "STEP_FINISHED",
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END",
    "REASONING_MESSAGE_CHUNK",
    "REASONING_END",
    "SUBAGENT_FINISHED",
    "SUBAGENT_ERROR",
    *_CLOSE_NONE,
}

EVENT_TYPES = _KNOWN
