"""One AG-UI exchange: event frames in, closed calls, results and run facts out (AG-UI 1.0; SSE and binary alike).

A call is yielded when it closes, not when the run ends. Who executes it may only turn out later, so it is said in two
steps: *client* at once when the tool was advertised, else *unknown*; an answer in the stream then revises it in the
result's ``extra`` (``executed_by: agent``). The same holds for ``advertised``. Nothing is decided from ``rawEvent``,
``RAW``, ``CUSTOM`` or ``RUN_STARTED.input``: they repeat. State is bounded by the exchange's capture cap and MAX_CALLS.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from classifiers.call import (
    Advertised,
    Approval,
    ApprovalState,
    Definition,
    ExecutedBy,
    ObservedAt,
    Outcome,
    ToolCall,
    ToolResult,
)
from proxy.events import CallClosed, Event, Facts, ResultSeen, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Side
from proxy.providers._ag_ui_calls import CallBook, OpenCall
from proxy.providers._ag_ui_input import camel, is_run_input, read_input, thread_memory
from proxy.providers._calls import hashed
from proxy.providers._reading import arguments_of_text, content_facts, trimmed
from proxy.wire import Frame


@dataclass(slots=True)
class AgUiRun:
    exchange: Exchange
    content_type: str = "text/event-stream"
    book: CallBook = field(default_factory=CallBook)
    offered: dict[str, Definition] | None = None  # None: no tool list was seen
    thread: str | None = None
    run: str | None = None
    batch: int = 0
    state: str = "none"  # none | active | finished | errored
    rejected: bool = False  # the official client has aborted by now
    closed: dict[str, str] = field(default_factory=dict)  # calls of this run, closed: id -> name
    answered: dict[str, str] = field(default_factory=dict)  # id -> digest, whole exchange

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body = exchange.request_json
        if not is_run_input(body):
            return
        plain = camel(body)
        self.thread, self.run = plain["threadId"], plain["runId"] if isinstance(plain["runId"], str) else None
        for event in read_input(exchange, body):
            if isinstance(event, ToolsOffered) and event.present:
                self.offered = {tool.name: tool for tool in event.definitions}
            yield event

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.side is Side.REQUEST or frame.data == "":
            return
        if not isinstance(frame.data, dict):
            if frame.error is None:  # the driver says what could not be decoded
                yield Unread(self.content_type, frame.size_bytes, "an event that is not a JSON object")
            yield from self._refuse("an event that is not JSON")
            return
        event = camel(frame.data)
        kind = event.get("type")
        if not isinstance(kind, str):
            return
        yield from self._order(kind)
        for call in self._lanes_closed_by(kind, event):
            yield from self._closed(call, complete=kind != "RUN_ERROR" or _parses(call))
        handler = _HANDLERS.get(kind)
        if handler is not None:
            yield from handler(self, event)
        for why in self.book.unread:
            yield Unread(self.content_type, frame.size_bytes, why)
        for why in self.book.violations:
            yield from self._refuse(why)
        self.book.unread.clear()
        self.book.violations.clear()

    def close(self, ending: Ending) -> Iterator[Event]:
        for call in self.book.still_open():
            yield from self._closed(call, complete=False)
        if self.state == "active":
            yield from self._pending(None)
            yield Facts({"finish_reason": "cut off", "error": f"the stream ended without a terminal event ({ending})"})

    def _order(self, kind: str) -> Iterator[Event]:
        """The official client's rules on where an event may stand."""
        if self.state == "none" and kind not in ("RUN_STARTED", "RUN_ERROR"):
            yield from self._refuse("the first event is not RUN_STARTED")
        elif self.state == "active" and kind == "RUN_STARTED":
            yield from self._refuse("RUN_STARTED inside a run")
        elif self.state == "finished" and kind not in ("RUN_STARTED", "RUN_ERROR"):
            yield from self._refuse("an event after RUN_FINISHED")
        elif self.state == "errored" and kind != "RUN_STARTED":
            yield from self._refuse("an event after RUN_ERROR")

    def _refuse(self, why: str) -> Iterator[Event]:
        if not self.rejected:
            self.rejected = True
            yield Facts({"client_would_reject": why})

    def _lanes_closed_by(self, kind: str, event: dict[str, Any]) -> Iterable[OpenCall]:
        if kind in _CLOSE_ALL:
            return self.book.close_lanes()
        if kind in _CLOSE_NONE or kind not in _KNOWN:
            return ()
        owner = event.get("subagentRunId")
        return self.book.close_lane(owner if isinstance(owner, str) else None)

    # calls

    def start(self, event: dict[str, Any]) -> Iterator[Event]:
        self.book.start(event, self.batch)
        return iter(())

    def args(self, event: dict[str, Any]) -> Iterator[Event]:
        self.book.args(event)
        return iter(())

    def end(self, event: dict[str, Any]) -> Iterator[Event]:
        for call in self.book.end(event):
            yield from self._closed(call, complete=True)

    def chunk(self, event: dict[str, Any]) -> Iterator[Event]:
        for call in self.book.chunk(event, self.batch):
            yield from self._closed(call, complete=True)

    def _closed(self, call: OpenCall, *, complete: bool) -> Iterator[Event]:
        text = "".join(call.text)
        again = call.closings > (1 if complete else 0)
        reopened, extra = self._seen_before(call, text) if not again else (True, {})
        if complete:
            self.closed[call.id] = call.name
        if call.other_names:
            extra["other_names"] = list(call.other_names)
        fields = arguments_of_text(text)
        doubled = fields.pop("conflicts", ())
        reject = self.rejected or bool(self.book.violations) or not complete
        listed = self.offered is not None and call.name in self.offered
        yield CallClosed(
            ToolCall(
                name=call.name,
                id=call.id,
                **fields,
                executed_by=self._executor(call.id, listed=listed),
                advertised=self._advertised(call.id, listed=listed),
                definition=self.offered.get(call.name) if self.offered else None,
                complete=complete,
                batch=call.batch,
                ordinal=call.ordinal,
                parent_message=call.parent,
                run_id=self.run,
                thread_id=self.thread,
                subagent_id=call.owner,
                observed_at=ObservedAt.AGUI_EVENT,
                client_would_reject=reject,
                reopened=reopened,
                conflicts=(*call.conflicts, *doubled),
                extra=extra,
            )
        )

    def _executor(self, call_id: str, *, listed: bool) -> ExecutedBy:
        if call_id in self.answered:
            return ExecutedBy.AGENT
        return ExecutedBy.CLIENT if listed else ExecutedBy.UNKNOWN

    def _advertised(self, call_id: str, *, listed: bool) -> Advertised:
        if listed:
            return Advertised.YES
        return Advertised.NOT_NEEDED if call_id in self.answered else Advertised.UNKNOWN

    def _seen_before(self, call: OpenCall, text: str) -> tuple[bool, dict[str, Any]]:
        """Whether an earlier run of the thread closed this very call (servers re-emit it after an approval)."""
        calls, digest = self._memory()["calls"], hashed(text)
        before = calls.pop(call.id, None)
        trimmed(calls)[call.id] = {
            "name": call.name,
            "digest": digest,
            "run": self.run,
            "offered": None if self.offered is None else call.name in self.offered,
        }
        if before is None:
            return False, {}
        same = (before["name"], before["digest"]) == (call.name, digest)
        if same and call.id not in self._memory()["answered"]:
            return True, {}
        return False, {"id_reused": True}

    def _memory(self) -> dict[str, Any]:
        return thread_memory(self.exchange, self.thread)

    # results

    def result(self, event: dict[str, Any]) -> Iterator[Event]:
        call_id, content = event.get("toolCallId"), event.get("content")
        if not isinstance(call_id, str) or content is None:
            yield from self._refuse("a result without an id or content")
            return
        yield from self._answer(call_id, content, None)

    def snapshot(self, event: dict[str, Any]) -> Iterator[Event]:
        """A snapshot repeats messages; only a tool message nobody reported yet says something new."""
        messages = event.get("messages")
        for message in messages if isinstance(messages, list) else ():
            plain = camel(message) if isinstance(message, dict) else {}
            call_id, content, error = plain.get("toolCallId"), plain.get("content"), plain.get("error")
            if plain.get("role") != "tool" or not isinstance(call_id, str) or not (error or content is not None):
                continue
            if call_id not in self.answered and call_id not in self._memory()["answered"]:
                yield from self._answer(call_id, content if content is not None else "", error)

    def _answer(self, call_id: str, content: Any, error: Any) -> Iterator[Event]:
        facts = content_facts(content)
        before = self.answered.get(call_id)
        if before == facts["digest"]:
            return
        memory = self._memory()
        known = self.book.calls.get(call_id)
        name = known.name if known else memory["calls"].get(call_id, {}).get("name")
        listed = self.offered is not None and name in self.offered
        extra: dict[str, Any] = {"executed_by": "agent", "advertised": "yes" if listed else "not_needed"}
        if listed:
            extra["answered_by_producer"] = True  # an advertised tool is the client's to run
        if before is None:
            self.answered[call_id] = facts["digest"]
            trimmed(memory["answered"])[call_id] = facts["digest"]
        else:
            extra["disagrees"] = True
        yield ResultSeen(
            ToolResult(
                id=call_id,
                name=name,
                outcome=Outcome.ERROR if error else Outcome.ANSWERED_EMPTY if content == "" else Outcome.UNKNOWN,
                final=before is None,
                source="stream",
                reported_by="agent",
                error=str(error)[:500] if error else None,
                run_id=self.run,
                thread_id=self.thread,
                extra=extra,
                **facts,
            )
        )

    # the run

    def run_started(self, event: dict[str, Any]) -> Iterator[Event]:
        if self.state != "none":
            self.batch += 1
        self.state = "active"
        self.closed.clear()
        self.thread = event["threadId"] if isinstance(event.get("threadId"), str) else self.thread
        self.run = event["runId"] if isinstance(event.get("runId"), str) else self.run
        yield Facts({"protocol": "ag-ui", "thread_id": self.thread, "run_id": self.run, "conversation_id": self.thread})

    def run_finished(self, event: dict[str, Any]) -> Iterator[Event]:
        for call in self.book.still_open():
            self.book.violations.append(f"RUN_FINISHED while {call.id} is open")
            yield from self._closed(call, complete=False)
        outcome = event.get("outcome") if isinstance(event.get("outcome"), dict) else {}
        assert isinstance(outcome, dict)
        outcome = camel(outcome)
        yield from self._interrupts(outcome.get("interrupts"))
        declared = outcome.get("pendingToolCallIds", event.get("pendingToolCallIds"))
        unanswered = yield from self._pending(declared)
        if outcome.get("type") == "cancelled":
            yield from (self._cancelled(call_id) for call_id in unanswered)
        yield Facts({"finish_reason": outcome.get("type") or "finished", **_usage(event)})
        self.state = "finished"

    def run_error(self, event: dict[str, Any]) -> Iterator[Event]:
        for call in self.book.still_open():
            yield from self._closed(call, complete=False)
        yield from self._pending(None)
        error = {"message": str(event.get("message", ""))[:500], "code": event.get("code")}
        yield Facts({"finish_reason": "error", "error": error, **_usage(event)})
        self.state = "errored"

    def _pending(self, declared: Any) -> Generator[Event, None, list[str]]:
        """What the run leaves unanswered; returns those ids. An absent or empty list is derived, never read as none."""
        memory = self._memory()
        derived = [i for i in self.closed if i not in self.answered and i not in memory["answered"]]
        told = [i for i in declared if isinstance(i, str)] if isinstance(declared, list) else None
        memory["pending"] = derived[-1024:]
        self.closed.clear()
        if told or derived:
            yield Facts({"pending": {"declared": told, "derived": derived}})
        for call_id in sorted(set(told) ^ set(derived)) if told else ():
            if call_id in self.book.calls:
                yield self._sight(call_id, {"pending_disagrees": True, "declared": call_id not in derived})
        return derived

    def _cancelled(self, call_id: str) -> Event:
        return self._sight(call_id, {}, outcome=Outcome.CANCELLED, end_reason="run cancelled")

    def _sight(self, call_id: str, extra: dict[str, Any], **more: Any) -> Event:
        """Something the run tells about a call that is no answer to it."""
        return ResultSeen(
            ToolResult(
                id=call_id,
                name=self.book.calls[call_id].name,
                final=False,
                reported_by="agent",
                run_id=self.run,
                thread_id=self.thread,
                extra=extra,
                **more,
            )
        )

    def _interrupts(self, interrupts: Any) -> Iterator[Event]:
        """Each interrupt asks a person; one that names a call makes that call wait for approval."""
        for item in interrupts if isinstance(interrupts, list) else ():
            plain = camel(item) if isinstance(item, dict) else {}
            key, call_id, deadline = plain.get("id"), plain.get("toolCallId"), plain.get("expiresAt")
            deadline = deadline if isinstance(deadline, str) else None
            memory = self._memory()
            if isinstance(key, str):
                trimmed(memory["interrupts"])[key] = {"call": call_id, "deadline": deadline}
            if not isinstance(call_id, str):
                yield Facts({"interrupt": {"id": key, "reason": plain.get("reason"), "deadline": deadline}})
                continue
            known = self.book.calls.get(call_id)
            yield ResultSeen(
                ToolResult(
                    id=call_id,
                    name=known.name if known else memory["calls"].get(call_id, {}).get("name"),
                    final=False,
                    reported_by="agent",
                    approval=Approval(ApprovalState.REQUIRED, deadline=deadline, asserted_by="response"),
                    run_id=self.run,
                    thread_id=self.thread,
                    extra={"interrupt": key, "reason": plain.get("reason")},
                )
            )


def _parses(call: OpenCall) -> bool:
    """A chunked call that RUN_ERROR closes is complete only if its text is whole."""
    return arguments_of_text("".join(call.text))["arguments_valid"] is True


def _usage(event: dict[str, Any]) -> dict[str, Any]:
    entries = event.get("usage")
    rows = [row for row in entries if isinstance(row, dict)] if isinstance(entries, list) else []
    found = {
        ours: sum(row[theirs] for row in rows if isinstance(row.get(theirs), int))
        for ours, theirs in _TOKENS.items()
        if any(isinstance(row.get(theirs), int) for row in rows)
    }
    return {"usage": found} if found else {}


_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cached": "cachedInputTokens",
    "reasoning": "reasoningTokens",
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
