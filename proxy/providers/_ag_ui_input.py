"""AG-UI's RunAgentInput: what the client offers, answers, decides and merely repeats. A JSON body in, events out.

A repeated call is a claim and never a call. A tool message answers a client-executed call of the run before it, once:
the thread's memory knows which were answered. ``resume`` entries decide interrupts.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any

from classifiers.call import Approval, ApprovalState, Outcome, ToolResult
from proxy.events import Event, Facts, HistorySeen, ResultSeen, ToolsOffered
from proxy.exchange import Exchange
from proxy.providers._calls import hashed
from proxy.providers._memory import slot
from proxy.providers._reading import advertised, content_facts, is_late, trimmed


def is_run_input(body: Any) -> bool:
    """Whether a request body has RunAgentInput's shape (camelCase or snake_case)."""
    if not isinstance(body, dict):
        return False
    plain = camel(body)
    return isinstance(plain.get("messages"), list) and isinstance(plain.get("threadId"), str) and "runId" in plain


def camel(holder: dict[str, Any]) -> dict[str, Any]:
    """The object with snake_case keys respelled; a camelCase key that is present wins."""
    if not any("_" in key for key in holder):
        return holder
    respelled = {_camel(key): value for key, value in holder.items() if "_" in key}
    return {**respelled, **{key: value for key, value in holder.items() if "_" not in key}}


def _camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(word[:1].upper() + word[1:] for word in rest)


def thread_memory(exchange: Exchange, thread: str | None) -> dict[str, Any]:
    """``calls`` {id: {name, digest, run}}, ``answered`` {id: digest}, ``interrupts`` {id: …}, ``pending`` [ids]."""
    book = slot(exchange, "ag-ui", thread or exchange.id)
    for key in ("calls", "answered", "interrupts"):
        book.setdefault(key, {})
    book.setdefault("pending", [])
    return book


def read_input(exchange: Exchange, body: dict[str, Any]) -> Iterator[Event]:
    """Everything the request says: facts, tools, history, results, decisions, what went unanswered, in this order."""
    plain = camel(body)
    thread, run = plain.get("threadId"), plain.get("runId")
    book = thread_memory(exchange, thread if isinstance(thread, str) else None)
    yield Facts(
        {
            "protocol": "ag-ui",
            "thread_id": thread,
            "run_id": run,
            "conversation_id": thread,
            "session_ids": {"ag-ui.threadId": thread},
            **({"parent_run_id": plain["parentRunId"]} if plain.get("parentRunId") else {}),
        }
    )
    tools = plain.get("tools")
    found = [advertised(tool, "parameters") for tool in _objects(tools)]
    yield ToolsOffered(tuple(d for d in found if d is not None), present=isinstance(tools, list))
    messages = [camel(message) for message in _objects(plain.get("messages"))]
    yield from _history(messages, book, run)
    answered = yield from _answers(messages, book, thread, run)
    decided = yield from _decisions(plain.get("resume"), book, exchange, thread, run)
    yield from _continued(book, answered | decided, run)


def _objects(value: Any) -> Iterable[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def history_calls(messages: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """id -> (name, argument text) of the calls that assistant messages repeat."""
    found: dict[str, tuple[str, str]] = {}
    for message in messages:
        for call in _objects(message.get("toolCalls")):
            function = call.get("function")
            if isinstance(call.get("id"), str) and isinstance(function, dict):
                found[call["id"]] = (str(function.get("name", "")), str(function.get("arguments", "")))
    return found


def _history(messages: list[dict[str, Any]], book: dict[str, Any], run: Any) -> Iterator[Event]:
    claims = history_calls(messages)
    yield HistorySeen(tuple(claims), tuple(hashed(message)[:16] for message in messages))
    for call_id, (name, text) in claims.items():
        known, told = book["calls"].get(call_id), hashed([name, text])
        if known and (known["name"], known["digest"]) != (name, hashed(text)) and known.get("told") != told:
            known["told"] = told  # the history comes again every turn
            yield _sight(call_id, known["name"], run, {"history_disagrees": True})


def _answers(
    messages: list[dict[str, Any]], book: dict[str, Any], thread: Any, run: Any
) -> Generator[Event, None, set[str]]:
    """A ResultSeen for each tool message not seen before; returns the ids that are answered now."""
    names = {call_id: name for call_id, (name, _) in history_calls(messages).items()}
    for message in messages:
        call_id = message.get("toolCallId")
        if message.get("role") != "tool" or not isinstance(call_id, str):
            continue
        error, content = message.get("error"), message.get("content")
        if content is None and not error:
            continue  # a message without content answers nothing
        facts = content_facts(content if content is not None else "")
        before = book["answered"].get(call_id)
        if before == facts["digest"]:
            continue
        known = book["calls"].get(call_id, {})
        extra: dict[str, Any] = {"disagrees": True} if before is not None else {"executed_by": "client"}
        if before is None and known.get("offered") is False:
            extra["advertised"] = "no"
        if before is None:
            trimmed(book["answered"])[call_id] = facts["digest"]
        yield ResultSeen(
            ToolResult(
                id=call_id,
                name=known.get("name") or names.get(call_id),
                outcome=_outcome(error, content),
                final=before is None,
                source="request",
                asserted_by="request",
                reported_by="harness",
                error=str(error)[:500] if error else None,
                thread_id=thread if isinstance(thread, str) else None,
                run_id=run if isinstance(run, str) else None,
                extra=extra,
                **facts,
            )
        )
    return {message["toolCallId"] for message in messages if isinstance(message.get("toolCallId"), str)}


def _outcome(error: Any, content: Any) -> Outcome:
    if error:
        return Outcome.ERROR
    return Outcome.ANSWERED_EMPTY if content == "" else Outcome.UNKNOWN


def _decisions(
    entries: Any, book: dict[str, Any], exchange: Exchange, thread: Any, run: Any
) -> Generator[Event, None, set[str]]:
    """A later sight of the call for each ``resume`` entry; returns the ids decided. Only an explicit word approves."""
    decided: set[str] = set()
    for entry in map(camel, _objects(entries)):
        interrupt = entry.get("interruptId")
        known = book["interrupts"].get(interrupt, {}) if isinstance(interrupt, str) else {}
        payload = entry.get("payload") if isinstance(entry.get("payload"), dict) else {}
        call_id = known.get("call") or _call_named(payload)
        state = _decision(entry.get("status"), payload)
        if state is ApprovalState.APPROVED and is_late(exchange.started_ns, known.get("deadline")):
            state = ApprovalState.LATE
        if call_id is None:
            yield Facts({"decision": {"interrupt": interrupt, "state": state.value}})
            continue
        decided.add(call_id)
        rejected = state is ApprovalState.REJECTED
        yield ResultSeen(
            ToolResult(
                id=call_id,
                name=book["calls"].get(call_id, {}).get("name"),
                outcome=Outcome.REJECTED if rejected else Outcome.UNKNOWN,
                final=False,
                source="request",
                asserted_by="request",
                reported_by="harness",
                approval=Approval(state, deadline=known.get("deadline"), asserted_by="request"),
                thread_id=thread if isinstance(thread, str) else None,
                run_id=run if isinstance(run, str) else None,
                extra={"interrupt": interrupt},
            )
        )
    return decided


def _decision(status: Any, payload: Any) -> ApprovalState:
    if status == "cancelled":
        return ApprovalState.REJECTED
    approved = payload.get("approved")
    if status == "resolved" and isinstance(approved, bool):
        return ApprovalState.APPROVED if approved else ApprovalState.REJECTED
    return ApprovalState.UNKNOWN


def _call_named(payload: Any) -> str | None:
    """The call a payload speaks of, where the interrupt itself did not say."""
    call = payload.get("toolCall")
    holder = camel(call) if isinstance(call, dict) else camel(payload)
    found = holder.get("callId") or holder.get("toolCallId") or (holder.get("id") if isinstance(call, dict) else None)
    return found if isinstance(found, str) else None


def _continued(book: dict[str, Any], settled: set[str], run: Any) -> Iterator[Event]:
    """Calls the run before left to the client that this input neither answers nor decides."""
    left = [call_id for call_id in book["pending"] if call_id not in settled and call_id not in book["answered"]]
    book["pending"] = []
    for call_id in left:
        yield _sight(call_id, book["calls"].get(call_id, {}).get("name"), run, {"unanswered": "continued"})


def _sight(call_id: str, name: str | None, run: Any, extra: dict[str, Any]) -> Event:
    """Something this request tells about an earlier call that is neither its answer nor a decision."""
    return ResultSeen(
        ToolResult(
            id=call_id,
            name=name,
            final=False,
            source="request",
            asserted_by="request",
            run_id=run if isinstance(run, str) else None,
            extra=extra,
        )
    )
