"""APIs that report calls as ToolCall objects with a lifecycle: each object found in a reply is one sight of a call.

The first sight is the call (arguments are never fragments), later ones are its status; polling creates nothing twice.
What a *request* carries are claims, with two exceptions: asking a tool server directly (``mcp-call-tool``) is a call,
and handing in a client tool's results is a result. What was seen is kept per conversation across exchanges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from classifiers.call import ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, Facts, ResultSeen
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly
from proxy.providers._ag_ui_input import camel
from proxy.providers._calls import fields, short, text
from proxy.providers._reading import arguments_of_text, arguments_of_value, content_facts
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
from proxy.providers._toolcall_requests import SPECIAL, action_of, claims_made
from proxy.providers._toolcall_state import ToolCallState, scope_in
from proxy.wire import Frame

_PREFIX = "/api/v1/llm/"
_KEPT = (("executedAt", "executed_at"), ("clientToolDeadlineAt", "client_deadline"))


class ToolCallSchema:
    def __init__(self, exchange: Exchange) -> None:
        self.state = ToolCallState(exchange, ToolCallMemory(exchange))

    def request(self, exchange: Exchange) -> Iterator[Event]:
        body = camel(fields(exchange.request_json))
        self.state.scope = scope_in(body) or ""
        yield Facts({"protocol": "toolcall-schema"})
        yield from self.state.conversation(self.state.scope)
        yield from SPECIAL.get(action_of(exchange), claims_made)(self.state, body)

    def frame(self, frame: Frame) -> Iterator[Event]:
        if frame.side is Side.REQUEST or not isinstance(frame.data, (dict, list)):
            return
        found = sights(frame.data)
        for sight in found:
            yield from self.seen(sight)
        if self.state.asked is not None and not found:
            yield from self._answered(frame.data)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - a call's arguments are whole at first sight
        return iter(())

    def seen(self, sight: Sight) -> Iterator[Event]:
        """One sight: the call when it is the first, then what is new about it."""
        look = self.state.look(sight)
        yield from self.state.conversation(look.scope)
        if self.state.asked is not None and self.state.asked["name"] == look.name:
            yield from self._asked_for(look)
            return
        known = self.state.memory.known(look.key, look.scope)
        if known is None:
            yield self._call(look, ())
        else:
            yield from self._changed(look, known)
        if _reports(look.plain) if known is None else known["state"] != look.state:
            yield self._report(look, known)
        self.state.memory.keep(look, known)

    def _call(self, look: Look, conflicts: tuple[str, ...]) -> Event:
        place, self.state.ordinal = self.state.ordinal, self.state.ordinal + 1
        plain = look.plain
        body = _arguments(plain.get("argumentsJson"))
        doubled = body.pop("conflicts", ())
        run = look.around.get("runId") or look.around.get("generatedBy")
        return CallClosed(
            ToolCall(
                name=look.name,
                id=look.id,
                **body,
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
                conflicts=(*(c for c in conflicts if c), *doubled),
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
        asked, self.state.asked = self.state.asked, None
        assert asked is not None
        told = self._report(look, None).result
        if look.id is not None:
            self.state.memory.keep(look, None)
        extra = told.extra if asked["id"] == look.id else {**told.extra, "tool_call_id": look.id}
        yield ResultSeen(replace(told, id=asked["id"], extra=extra))

    def _answered(self, data: Any) -> Iterator[Event]:
        asked, self.state.asked = self.state.asked, None
        assert asked is not None
        plain = camel(data) if isinstance(data, dict) else {}
        failed = self.state.exchange.response is not None and self.state.exchange.response.status >= 400
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
                thread_id=self.state.scope or None,
                **content_facts(content),
            )
        )


def _reports(plain: dict[str, Any]) -> bool:
    """Whether a first sight already says how the call ended."""
    return status_of(plain) in TERMINAL or plain.get("resultJson") is not None


def _arguments(value: Any) -> dict[str, Any]:
    """An object, as the schema says; text that holds one is read all the same."""
    return arguments_of_text(value) if isinstance(value, str) and value else arguments_of_value(value)


def _kept(plain: dict[str, Any]) -> dict[str, Any]:
    return {ours: plain[theirs] for theirs, ours in _KEPT if isinstance(plain.get(theirs), str)}


class _ToolCallSchema:
    name = "toolcall-schema"
    dialect_of: str | None = None
    slow = True  # walks bodies for the object

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if exchange.websocket or (first is not None and first.side is Side.REQUEST):
            return 0
        if action_of(exchange) in SPECIAL and isinstance(exchange.request_json, dict):
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
