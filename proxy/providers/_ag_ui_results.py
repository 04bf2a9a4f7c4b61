"""What an AG-UI run tells about its calls beside their text: answers, interrupts, what is left pending.

Event fields in, ResultSeen and Facts out. A RESULT marks no error: outcomes stay unknown unless a message says so.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from classifiers.call import Approval, ApprovalState, Outcome, ToolResult
from proxy.events import Event, Facts, ResultSeen
from proxy.providers._ag_ui_input import camel
from proxy.providers._ag_ui_state import RunState
from proxy.providers._calls import rows
from proxy.providers._reading import content_facts, trimmed


def answer(run: RunState, call_id: str, content: Any, error: Any) -> Iterator[Event]:
    """The producer answers a call; the same answer again is nothing, another one disagrees."""
    facts = content_facts(content)
    before = run.answered.get(call_id)
    if before == facts["digest"]:
        return
    name = run.name_of(call_id)
    listed = run.lists(name)
    extra: dict[str, Any] = {"executed_by": "agent", "advertised": "yes" if listed else "not_needed"}
    if listed:
        extra["answered_by_producer"] = True  # an advertised tool is the client's to run
    if before is None:
        run.answered[call_id] = facts["digest"]
        trimmed(run.memory()["answered"])[call_id] = facts["digest"]
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
            run_id=run.run,
            thread_id=run.thread,
            extra=extra,
            **facts,
        )
    )


def snapshot(run: RunState, event: dict[str, Any]) -> Iterator[Event]:
    """A snapshot repeats messages; only a tool message nobody reported yet says something new."""
    for message in map(camel, rows(event.get("messages"))):
        call_id, content, error = message.get("toolCallId"), message.get("content"), message.get("error")
        if message.get("role") != "tool" or not isinstance(call_id, str) or not (error or content is not None):
            continue
        if call_id not in run.answered and call_id not in run.memory()["answered"]:
            yield from answer(run, call_id, content if content is not None else "", error)


def pending(run: RunState, declared: Any) -> Generator[Event, None, list[str]]:
    """What the run leaves unanswered; returns those ids. An absent or empty list is derived, never read as none."""
    memory = run.memory()
    derived = [i for i in run.closed if i not in run.answered and i not in memory["answered"]]
    told = [i for i in declared if isinstance(i, str)] if isinstance(declared, list) else None
    memory["pending"] = derived[-1024:]
    run.closed.clear()
    if told or derived:
        yield Facts({"pending": {"declared": told, "derived": derived}})
    for call_id in sorted(set(told) ^ set(derived)) if told else ():
        if call_id in run.book.calls:
            yield sight(run, call_id, {"pending_disagrees": True, "declared": call_id not in derived})
    return derived


def interrupts(run: RunState, items: Any) -> Iterator[Event]:
    """Each interrupt asks a person; one that names a call makes that call wait for approval."""
    for item in map(camel, rows(items)):
        key, call_id, deadline = item.get("id"), item.get("toolCallId"), item.get("expiresAt")
        deadline = deadline if isinstance(deadline, str) else None
        if isinstance(key, str):
            trimmed(run.memory()["interrupts"])[key] = {"call": call_id, "deadline": deadline}
        if isinstance(call_id, str):
            approval = Approval(ApprovalState.REQUIRED, deadline=deadline, asserted_by="response")
            yield sight(run, call_id, {"interrupt": key, "reason": item.get("reason")}, approval=approval)
        else:
            yield Facts({"interrupt": {"id": key, "reason": item.get("reason"), "deadline": deadline}})


def sight(run: RunState, call_id: str, extra: dict[str, Any], **more: Any) -> Event:
    """Something the run tells about a call that is no answer to it."""
    return ResultSeen(
        ToolResult(
            id=call_id,
            name=run.name_of(call_id),
            final=False,
            reported_by="agent",
            run_id=run.run,
            thread_id=run.thread,
            extra=extra,
            **more,
        )
    )


def usage(event: dict[str, Any]) -> dict[str, Any]:
    """``{"usage": {…}}`` summed over the models the run used, or nothing."""
    entries = rows(event.get("usage"))
    found = {
        ours: sum(row[theirs] for row in entries if isinstance(row.get(theirs), int))
        for ours, theirs in _TOKENS.items()
        if any(isinstance(row.get(theirs), int) for row in entries)
    }
    return {"usage": found} if found else {}


_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cached": "cachedInputTokens",
    "reasoning": "reasoningTokens",
}
