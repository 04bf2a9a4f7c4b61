"""What the requests of a ToolCall API say: direct calls, handed-in results, decisions, and claims.

A request body (camelCase) in, events out. Only ``mcp-call-tool`` makes a call; history sent along creates nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from classifiers.call import Approval, ApprovalState, ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, HistorySeen, ResultSeen
from proxy.exchange import Exchange
from proxy.providers._ag_ui_input import camel
from proxy.providers._calls import rows, short, text
from proxy.providers._reading import arguments_of_value, content_facts, is_late
from proxy.providers._toolcall_memory import Look
from proxy.providers._toolcall_object import sights
from proxy.providers._toolcall_state import ToolCallState


def action_of(exchange: Exchange) -> str:
    """The last word of the path, lower case, without ``-sync``."""
    last = exchange.request.path.rstrip("/").rpartition("/")[2].lower()
    return last.removesuffix("-sync").removesuffix("sync")


def tool_called(state: ToolCallState, body: dict[str, Any]) -> Iterator[Event]:
    """``mcp-call-tool``: this request is the call; the reply holds its result."""
    name = text(body.get("name")) or text(body.get("toolName"))
    value = next((body[key] for key in ("argumentsJson", "arguments", "input") if body.get(key) is not None), None)
    ident = body.get("id") if isinstance(body.get("id"), str) else None
    state.asked = {"name": name, "id": ident}
    yield CallClosed(
        ToolCall(
            name=name,
            id=ident,
            **arguments_of_value(value),
            kind="toolcall_schema",
            executed_by=ExecutedBy.MCP_SERVER,
            server=text(body.get("serverId")) or None,
            thread_id=state.scope or None,
            observed_at=ObservedAt.SCHEMA_API,
            asserted_by="request",
        )
    )


def results_handed_in(state: ToolCallState, body: dict[str, Any]) -> Iterator[Event]:
    """A client tool's results; one that comes after its deadline will be refused by the server."""
    for item in _result_items(body):
        call_id = item.get("toolCallId") or item.get("id")
        known = state.memory.known(str(call_id), state.scope) or {}
        yield from state.conversation(state.memory.last_scope(str(call_id)))
        content = next((item[key] for key in ("resultJson", "result", "content", "output") if key in item), None)
        error = item.get("error") or item.get("errorMessage")
        late = is_late(state.exchange.started_ns, known.get("client_deadline"))
        yield ResultSeen(
            ToolResult(
                id=str(call_id),
                name=text(item.get("name")) or known.get("name"),
                outcome=Outcome.ERROR if error or item.get("isError") is True else Outcome.UNKNOWN,
                source="request",
                asserted_by="request",
                reported_by="harness",
                error=short(error),
                thread_id=state.scope or None,
                extra={"executed_by": "client", **({"late": True} if late else {})},
                **content_facts(content if content is not None else error),
            )
        )


def claims_made(state: ToolCallState, body: dict[str, Any]) -> Iterator[Event]:
    """History sent along creates nothing; where it contradicts what was reported, that is said. Decisions too."""
    told = [state.look(sight) for sight in sights(body)]
    if told:
        yield HistorySeen(tuple(look.id for look in told))
    yield from (_claimed(state, look) for look in told if _contradicts(state, look))
    call_id, approved = body.get("toolCallId"), body.get("approved")
    if isinstance(call_id, str) and isinstance(approved, bool):
        yield from state.conversation(state.memory.last_scope(call_id))
        yield _decided(state, call_id, body, approved=approved)


def _decided(state: ToolCallState, call_id: str, body: dict[str, Any], *, approved: bool) -> Event:
    known = state.memory.known(call_id, state.scope) or {}
    late = is_late(state.exchange.started_ns, known.get("deadline"))
    decision = ApprovalState.LATE if late else ApprovalState.APPROVED if approved else ApprovalState.REJECTED
    by = text(body.get("approvedBy")) or None
    return ResultSeen(
        ToolResult(
            id=call_id,
            name=known.get("name"),
            outcome=Outcome.UNKNOWN if approved else Outcome.REJECTED,
            final=False,
            source="request",
            asserted_by="request",
            reported_by="harness",
            approval=Approval(decision, deadline=known.get("deadline"), decided_by=by, asserted_by="request"),
            thread_id=state.scope or None,
        )
    )


def _claimed(state: ToolCallState, look: Look) -> Event:
    return ResultSeen(
        ToolResult(
            id=look.id,
            name=(state.memory.known(look.key, look.scope) or {}).get("name"),
            final=False,
            source="request",
            asserted_by="request",
            thread_id=look.scope or None,
            extra={"history_disagrees": True},
        )
    )


def _contradicts(state: ToolCallState, look: Look) -> bool:
    known = state.memory.known(look.key, look.scope)
    if known is None:
        return False
    other = look.arguments is not None and known["arguments"] not in (None, look.arguments)
    claim = [look.name, look.arguments]
    if known.get("claimed") == claim or not (other or known["name"] != look.name):
        return False
    known["claimed"] = claim  # a history is sent again every turn
    return True


def _result_items(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The results in a submission: the body itself, or the objects of its lists that name a call."""
    items = [camel(item) for value in body.values() for item in rows(value)]
    found = [item for item in (body, *items) if isinstance(item.get("toolCallId"), str)]
    return found or [item for item in items if isinstance(item.get("id"), str)]


SPECIAL: dict[str, Callable[[ToolCallState, dict[str, Any]], Iterator[Event]]] = {
    **dict.fromkeys(("mcp-call-tool", "mcpcalltool"), tool_called),
    **dict.fromkeys(("submit-client-tool-results", "submitclienttoolresults"), results_handed_in),
}
