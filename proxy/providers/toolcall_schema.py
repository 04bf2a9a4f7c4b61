"""APIs that report calls as ToolCall objects with a lifecycle: each object found in a reply is one sight of a call.

The first sight is the call (arguments are never fragments), later ones are its status; polling creates nothing twice.
What a *request* carries are claims, with two exceptions: asking a tool server directly (``mcp-call-tool``) is a call,
and handing in a client tool's results is a result. What was seen is kept per conversation across exchanges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from classifiers.call import Approval, ApprovalState, ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, Facts, HistorySeen, ResultSeen
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly
from proxy.providers._ag_ui_input import camel
from proxy.providers._calls import hashed, rows, short, text
from proxy.providers._reading import arguments_of_value, content_facts, is_late, json_text
from proxy.providers._toolcall_memory import Look, ToolCallMemory
from proxy.providers._toolcall_object import (
    LOOK_AHEAD,
    TERMINAL,
    Sight,
    approval_of,
    definition_of,
    duration_ms,
    executed_by,
    outcome_of,
    sights,
    status_of,
)
from proxy.wire import Frame

_PREFIX = "/api/v1/llm/"
_CALLS_A_TOOL = ("mcp-call-tool", "mcpcalltool")
_HANDS_IN = ("submit-client-tool-results", "submitclienttoolresults")


class ToolCallSchema:
    """One exchange. Remembered, bounded: per conversation and id the name, argument digest, state and deadlines."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._scope = ""
        self._asked: dict[str, Any] | None = None  # a direct tool call this request makes, until it is answered
        self._ordinal = 0
        self._nameless: dict[str, int] = {}
        self._memory = ToolCallMemory(exchange)

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body = camel(exchange.request_json) if isinstance(exchange.request_json, dict) else {}
        self._scope = _scope(body) or ""
        yield Facts(
            {
                "protocol": "toolcall-schema",
                **({"session_ids": {"toolcall-schema.conversation": self._scope}} if self._scope else {}),
                **({"conversation_id": self._scope} if self._scope else {}),
            }
        )
        action = _action(exchange)
        handler = _REQUESTS.get(action, ToolCallSchema.claims_made)
        yield from handler(self, body)

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.side is Side.REQUEST or not isinstance(frame.data, (dict, list)):
            return
        found = sights(frame.data)
        for sight in found:
            yield from self.seen(sight)
        if self._asked is not None and not found:
            yield from self._answered(frame.data)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - a call's arguments are whole at first sight
        return iter(())

    # requests

    def tool_called(self, body: dict[str, Any]) -> Iterator[Event]:
        """``mcp-call-tool``: this request is the call; the reply holds its result."""
        name = text(body.get("name")) or text(body.get("toolName"))
        value = next((body[key] for key in ("argumentsJson", "arguments", "input") if body.get(key) is not None), None)
        ident = body.get("id") if isinstance(body.get("id"), str) else None
        self._asked = {"name": name, "id": ident}
        yield CallClosed(
            ToolCall(
                name=name,
                id=ident,
                **arguments_of_value(value),
                kind="toolcall_schema",
                executed_by=ExecutedBy.MCP_SERVER,
                server=text(body.get("serverId")) or None,
                thread_id=self._scope or None,
                observed_at=ObservedAt.SCHEMA_API,
                asserted_by="request",
            )
        )

    def results_handed_in(self, body: dict[str, Any]) -> Iterator[Event]:
        """A client tool's results; one that comes after its deadline will be refused by the server."""
        for item in _result_items(body):
            call_id = item.get("toolCallId") or item.get("id")
            known = self._memory.known(str(call_id), self._scope) or {}
            content = next((item[key] for key in ("resultJson", "result", "content", "output") if key in item), None)
            error = item.get("error") or item.get("errorMessage")
            late = is_late(self._exchange.started_ns, known.get("client_deadline"))
            yield ResultSeen(
                ToolResult(
                    id=str(call_id),
                    name=text(item.get("name")) or known.get("name"),
                    outcome=Outcome.ERROR if error or item.get("isError") is True else Outcome.UNKNOWN,
                    source="request",
                    asserted_by="request",
                    reported_by="harness",
                    error=short(error),
                    thread_id=self._scope or None,
                    extra={"executed_by": "client", **({"late": True} if late else {})},
                    **content_facts(content if content is not None else error),
                )
            )

    def claims_made(self, body: dict[str, Any]) -> Iterator[Event]:
        """History sent along creates nothing; where it contradicts what was reported, that is said. Decisions too."""
        told = [self._look(sight) for sight in sights(body)]
        if told:
            yield HistorySeen(tuple(look.id for look in told))
        yield from (self._claimed(look) for look in told if self._contradicts(look))
        call_id, approved = body.get("toolCallId"), body.get("approved")
        if isinstance(call_id, str) and isinstance(approved, bool):
            yield self._decided(call_id, body, approved=approved)

    def _decided(self, call_id: str, body: dict[str, Any], *, approved: bool) -> Event:
        known = self._memory.known(call_id, self._scope) or {}
        late = is_late(self._exchange.started_ns, known.get("deadline"))
        state = ApprovalState.LATE if late else ApprovalState.APPROVED if approved else ApprovalState.REJECTED
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
                approval=Approval(state, deadline=known.get("deadline"), decided_by=by, asserted_by="request"),
                thread_id=self._scope or None,
            )
        )

    def _claimed(self, look: Look) -> Event:
        return ResultSeen(
            ToolResult(
                id=look.id,
                name=(self._memory.known(look.key, look.scope) or {}).get("name"),
                final=False,
                source="request",
                asserted_by="request",
                thread_id=look.scope or None,
                extra={"history_disagrees": True},
            )
        )

    def _contradicts(self, look: Look) -> bool:
        known = self._memory.known(look.key, look.scope)
        if known is None:
            return False
        other = look.arguments is not None and known["arguments"] not in (None, look.arguments)
        claim = [look.name, look.arguments]
        if known.get("claimed") == claim or not (other or known["name"] != look.name):
            return False
        known["claimed"] = claim  # a history is sent again every turn
        return True

    # replies

    def seen(self, sight: Sight) -> Iterator[Event]:
        """One sight: the call when it is the first, then what is new about it."""
        look = self._look(sight)
        if self._asked is not None and self._asked["name"] == look.name:
            yield from self._asked_for(look)
            return
        known = self._memory.known(look.key, look.scope)
        if known is None:
            yield self._call(look, ())
        else:
            yield from self._changed(look, known)
        if _reports(look.plain) if known is None else known["state"] != look.state:
            yield self._report(look, known)
        self._memory.keep(look, known)

    def _look(self, sight: Sight) -> Look:
        ident = sight.fields.get("id")
        key = ident if isinstance(ident, str) and ident else self._place(sight.fields, sight.around)
        return Look(sight.fields, sight.around, _scope(sight.around) or self._scope, key)

    def _call(self, look: Look, conflicts: tuple[str, ...]) -> Event:
        place, self._ordinal = self._ordinal, self._ordinal + 1
        plain = look.plain
        run = look.around.get("runId") or look.around.get("generatedBy")
        return CallClosed(
            ToolCall(
                name=look.name,
                id=look.id,
                **arguments_of_value(plain.get("argumentsJson")),
                kind="toolcall_schema",
                executed_by=executed_by(plain),
                status=status_of(plain),
                end_reason=text(plain.get("endReason")) or None,
                approval=approval_of(plain, "response"),
                definition=definition_of(plain),
                server=text(plain.get("serverId")) or None,
                ordinal=place,
                parent_message=text(look.around.get("messageId")) or None,
                run_id=text(run) or None,
                thread_id=look.scope or None,
                observed_at=ObservedAt.SCHEMA_API,
                reopened=bool(conflicts),
                conflicts=tuple(c for c in conflicts if c),
                extra=_kept(plain),
            )
        )

    def _changed(self, look: Look, known: dict[str, Any]) -> Iterator[Event]:
        """Arguments told only later complete the call; other arguments or another name supersede it, and say so."""
        conflicts: tuple[str, ...] = ()
        if look.name and known["name"] != look.name:
            conflicts += (f"name: {known['name']} | {look.name}",)
        if look.arguments is not None and known["arguments"] != look.arguments:
            conflicts += ("arguments: differ from the first sight",) if known["arguments"] else ("",)
        if conflicts:
            yield self._call(look, conflicts)

    def _report(self, look: Look, known: dict[str, Any] | None) -> ResultSeen:
        plain = look.plain
        status, content = status_of(plain), plain.get("resultJson")
        return ResultSeen(
            ToolResult(
                id=look.id,
                name=look.name or (known or {}).get("name"),
                outcome=outcome_of(plain),
                final=status in TERMINAL or (content is not None and status is None),
                source="reply",
                reported_by="provider",
                duration_ms=duration_ms(plain),
                status=status,
                end_reason=text(plain.get("endReason")) or None,
                approval=approval_of(plain, "response"),
                thread_id=look.scope or None,
                extra=_kept(plain),
                **(content_facts(content) if content is not None else {}),
            )
        )

    def _asked_for(self, look: Look) -> Iterator[Event]:
        """The reply to a direct call repeats it as an object: its status, under the id the call did not have."""
        asked, self._asked = self._asked, None
        assert asked is not None
        told = self._report(look, None).result
        if look.id is not None:
            self._memory.keep(look, None)
        extra = told.extra if asked["id"] == look.id else {**told.extra, "tool_call_id": look.id}
        yield ResultSeen(replace(told, id=asked["id"], extra=extra))

    def _answered(self, data: Any) -> Iterator[Event]:
        asked, self._asked = self._asked, None
        assert asked is not None
        plain = camel(data) if isinstance(data, dict) else {}
        failed = self._exchange.response is not None and self._exchange.response.status >= 400
        error = plain.get("error") or (plain if failed else None)
        content = plain.get("resultJson", plain.get("result", data))
        flag = plain.get("isError")
        outcome = Outcome.ERROR if error or flag is True else Outcome.OK if flag is False else Outcome.UNKNOWN
        yield ResultSeen(
            ToolResult(
                id=asked["id"],
                name=asked["name"],
                outcome=outcome,
                source="reply",
                reported_by="tool_server",
                error=short(error) if error else None,
                thread_id=self._scope or None,
                **content_facts(content),
            )
        )

    def _place(self, plain: dict[str, Any], around: dict[str, Any]) -> str:
        """What stands for a missing id: the message it is in, its name and arguments, and which of equals it is."""
        inside = [around.get(key) for key in ("messageId", "runId", "generatedBy")]
        base = hashed([inside, plain.get("name"), plain.get("argumentsJson")])
        nth = self._nameless.get(base, 0)
        self._nameless[base] = nth + 1
        return f"-{base}:{nth}"


_REQUESTS: dict[str, Callable[[ToolCallSchema, dict[str, Any]], Iterator[Event]]] = {
    **dict.fromkeys(_CALLS_A_TOOL, ToolCallSchema.tool_called),
    **dict.fromkeys(_HANDS_IN, ToolCallSchema.results_handed_in),
}
_KEPT = (("executedAt", "executed_at"), ("clientToolDeadlineAt", "client_deadline"))


def _action(exchange: Exchange) -> str:
    last = exchange.request.path.rstrip("/").rpartition("/")[2].lower()
    return last.removesuffix("-sync").removesuffix("sync")


def _scope(holder: dict[str, Any]) -> str | None:
    """The conversation an object belongs to; a key that is an object counts by its text."""
    value = holder.get("conversationKey") or holder.get("threadId")
    return value if isinstance(value, str) else json_text(value) if isinstance(value, dict) else None


def _reports(plain: dict[str, Any]) -> bool:
    """Whether a first sight already says how the call ended."""
    return status_of(plain) in TERMINAL or plain.get("resultJson") is not None


def _result_items(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The results in a submission: the body itself, or the objects of its lists that name a call."""
    items = [camel(item) for value in body.values() for item in rows(value)]
    found = [item for item in (body, *items) if isinstance(item.get("toolCallId"), str)]
    return found or [item for item in items if isinstance(item.get("id"), str)]


def _kept(plain: dict[str, Any]) -> dict[str, Any]:
    return {ours: plain[theirs] for theirs, ours in _KEPT if isinstance(plain.get(theirs), str)}


class _ToolCallSchema:
    name = "toolcall-schema"
    dialect_of: str | None = None
    slow = True  # walks bodies for the object

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if exchange.websocket or (first is not None and first.side is Side.REQUEST):
            return 0
        if _action(exchange) in _REQUESTS and isinstance(exchange.request_json, dict):
            return 110
        if first is not None and isinstance(first.data, (dict, list)) and sights(first.data, LOOK_AHEAD):
            return 75
        if _PREFIX in exchange.request.path:
            return 72
        if exchange.response is None:
            return 0  # asked before the reply began: only certainty counts
        body = exchange.request_json
        known = isinstance(body, dict) and "conversationKey" in camel(body)
        return 40 if known or (isinstance(body, dict) and sights(body, LOOK_AHEAD)) else 0

    def open(self, exchange: Exchange) -> Assembly:
        return ToolCallSchema(exchange)


PROVIDER = _ToolCallSchema()
