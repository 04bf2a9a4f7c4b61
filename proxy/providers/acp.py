"""The Agent Client Protocol, an editor and its agent over pipes or HTTP: JSON-RPC messages in, calls and results out.

The agent shows its own tool calls as updates by ``toolCallId`` (v1: ``tool_call`` then updates; v2: updates only, null
clears). There is no tool name: the title stands for it, the protocol's ``kind`` is kept beside. Files and terminals it
asks of the editor (``fs/*``, ``terminal/create``) are calls of their own, run by the client.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from classifiers.call import Approval, ApprovalState, ExecutedBy, ObservedAt, Outcome, ToolCall, ToolResult
from proxy.events import CallClosed, Event, Facts, ResultSeen
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly
from proxy.providers._acp_words import ASKED_OF_CLIENT, ENDS, STATUS, UPDATES, Shown, digest_of, is_acp
from proxy.providers._calls import fields, rows, short, text
from proxy.providers._reading import arguments_of_value, content_facts, trimmed
from proxy.wire import Frame


class AcpTalk:
    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._calls: dict[str, Shown] = {}
        self._asked: dict[str, dict[str, Any]] = {}  # "side:id" -> what that request was
        self._ordinal = 0

    def request(self, exchange: Exchange) -> Iterator[Event]:
        yield Facts({"protocol": "acp"})
        if isinstance(exchange.request_json, (dict, list)):
            yield from self._messages(exchange.request_json, Side.REQUEST)

    def frame(self, frame: Frame) -> Iterator[Event]:
        yield from self._messages(frame.data, frame.side)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - what was shown is shown, however it ended
        for call_id, shown in self._calls.items():
            if not shown.told:
                yield self._call(call_id, shown)

    def _messages(self, value: Any, side: Side) -> Iterator[Event]:
        for message in value if isinstance(value, list) else (value,):
            if isinstance(message, dict):
                yield from self._message(message, side)

    def _message(self, message: dict[str, Any], side: Side) -> Iterator[Event]:
        method, params, ident = message.get("method"), fields(message.get("params")), message.get("id")
        if not isinstance(method, str):
            yield from self._answered(message, side)
            return
        session = text(params.get("sessionId"))
        if session:
            yield Facts({"session_ids": {"acp.sessionId": session}, "conversation_id": session})
        if method == "session/new" and text(params.get("cwd")):
            yield Facts({"cwd": params["cwd"], "cwd_source": "launcher"})
        elif method == "session/update":
            yield from self._update(session, fields(params.get("update")))
        elif method == "session/cancel":
            yield from self._cancelled(session)
        elif method == "session/request_permission":
            yield from self._permission(session, params, ident, side)
        elif method in ASKED_OF_CLIENT and ident is not None:
            yield self._client_call(method, params, ident, side)
        if method == "initialize":
            self._wait(side, ident, {"method": method})

    def _wait(self, side: Side, ident: Any, what: dict[str, Any]) -> None:
        trimmed(self._asked, 1024)[f"{side.value}:{json.dumps(ident)}"] = what

    # what the agent shows of its own calls

    def _update(self, session: str, update: dict[str, Any]) -> Iterator[Event]:
        call_id = text(update.get("toolCallId"))
        if text(update.get("sessionUpdate")) in UPDATES and call_id:
            yield from self._shown(session, call_id, update)

    def _shown(self, session: str, call_id: str, update: dict[str, Any], *, decided: bool = False) -> Iterator[Event]:
        shown = self._calls.get(call_id)
        if shown is None:
            shown = self._calls[call_id] = Shown(session, self._ordinal)
            self._ordinal += 1
            trimmed(self._calls, 10_000)
        for key, value in update.items():  # null clears, absent keeps
            if value is None:
                shown.known.pop(key, None)
            else:
                shown.known[key] = value
        status = text(shown.known.get("status"))
        ready = decided or "rawInput" in shown.known or status not in ("", "pending")
        if ready and shown.told != digest_of(shown):
            yield self._call(call_id, shown)
        if status in ENDS and not shown.ended:
            shown.ended = True
            yield self._ended(call_id, shown, ENDS[status])

    def _call(self, call_id: str, shown: Shown) -> Event:
        known, again, shown.told = shown.known, bool(shown.told), digest_of(shown)
        places = [text(place.get("path")) for place in rows(known.get("locations")) if text(place.get("path"))]
        status = known.get("status")
        extra: dict[str, Any] = {"acp_kind": text(known.get("kind")) or "other"}
        if places:
            extra["locations"] = places[:64]
        return CallClosed(
            ToolCall(
                name=text(known.get("title")) or text(known.get("kind")),
                id=call_id,
                **arguments_of_value(known.get("rawInput")),
                kind="acp_tool_call",
                executed_by=ExecutedBy.AGENT,
                status=STATUS.get(status, status) if isinstance(status, str) else None,
                ordinal=shown.ordinal,
                thread_id=shown.session or None,
                observed_at=ObservedAt.AGUI_EVENT,
                reopened=again,
                extra=extra,
            )
        )

    def _ended(self, call_id: str, shown: Shown, outcome: Outcome, *, final: bool = True) -> Event:
        known = shown.known
        content = known.get("rawOutput", known.get("content"))
        status = known.get("status")
        return ResultSeen(
            ToolResult(
                id=call_id,
                name=text(known.get("title")) or None,
                outcome=outcome,
                final=final,
                reported_by="agent",
                status=STATUS.get(status, status) if isinstance(status, str) else None,
                thread_id=shown.session or None,
                **(content_facts(content) if content is not None else {}),
            )
        )

    def _cancelled(self, session: str) -> Iterator[Event]:
        for call_id, shown in self._calls.items():
            if shown.session == session and not shown.ended:
                yield self._ended(call_id, shown, Outcome.CANCELLED, final=False)

    # permission

    def _permission(self, session: str, params: dict[str, Any], ident: Any, side: Side) -> Iterator[Event]:
        """v1 carries the call itself, v2 a subject that may be one."""
        call = fields(params.get("toolCall")) or fields(fields(params.get("subject")).get("toolCall"))
        call_id = text(call.get("toolCallId"))
        if not call_id:
            return
        options = {text(o.get("optionId")): text(o.get("kind")) for o in rows(params.get("options"))}
        self._wait(side, ident, {"method": "permission", "call": call_id, "options": options})
        yield from self._shown(session, call_id, call, decided=True)
        yield self._approval(call_id, ApprovalState.REQUIRED, "response")

    def _approval(
        self, call_id: str, state: ApprovalState, asserted_by: str, outcome: Outcome = Outcome.UNKNOWN
    ) -> Event:
        shown = self._calls.get(call_id)
        return ResultSeen(
            ToolResult(
                id=call_id,
                name=(text(shown.known.get("title")) or None) if shown else None,
                outcome=outcome,
                final=False,
                asserted_by=asserted_by,
                source="request" if asserted_by == "request" else "stream",
                reported_by="harness" if asserted_by == "request" else "agent",
                approval=Approval(state, asserted_by=asserted_by),
                thread_id=shown.session if shown else None,
            )
        )

    # what the agent asks of the client

    def _client_call(self, method: str, params: dict[str, Any], ident: Any, side: Side) -> Event:
        self._wait(side, ident, {"method": method, "id": ident})
        place, self._ordinal = self._ordinal, self._ordinal + 1
        return CallClosed(
            ToolCall(
                name=method,
                id=ident if isinstance(ident, (str, int)) else None,
                **arguments_of_value({k: v for k, v in params.items() if k not in ("sessionId", "_meta")}),
                kind=method,
                executed_by=ExecutedBy.CLIENT,
                ordinal=place,
                thread_id=text(params.get("sessionId")) or None,
                observed_at=ObservedAt.AGUI_EVENT,
                asserted_by=side.value,
            )
        )

    def _answered(self, message: dict[str, Any], side: Side) -> Iterator[Event]:
        other = Side.REQUEST if side is Side.RESPONSE else Side.RESPONSE
        asked = self._asked.pop(f"{other.value}:{json.dumps(message.get('id'))}", None)
        if asked is None or not ("result" in message or "error" in message):
            return
        result, error = fields(message.get("result")), message.get("error")
        if asked["method"] == "initialize":
            info = fields(result.get("agentInfo"))
            if text(info.get("name")):
                yield Facts({"agent": {"name": info["name"], "version": text(info.get("version")) or None}})
        elif asked["method"] == "permission":
            yield self._decision(asked, fields(result.get("outcome")))
        else:
            yield ResultSeen(
                ToolResult(
                    id=asked["id"],
                    name=asked["method"],
                    outcome=Outcome.ERROR if error is not None else Outcome.OK,
                    source="reply",
                    asserted_by=side.value,
                    error=short(error),
                    **content_facts(message.get("result") if error is None else error),
                )
            )

    def _decision(self, asked: dict[str, Any], outcome: dict[str, Any]) -> Event:
        if outcome.get("outcome") == "cancelled":
            return self._approval(asked["call"], ApprovalState.UNKNOWN, "request", Outcome.CANCELLED)
        kind = asked["options"].get(text(outcome.get("optionId")), "")
        if kind.startswith("allow"):
            return self._approval(asked["call"], ApprovalState.APPROVED, "request")
        if kind.startswith("reject"):
            return self._approval(asked["call"], ApprovalState.REJECTED, "request", Outcome.REJECTED)
        return self._approval(asked["call"], ApprovalState.UNKNOWN, "request")


class _Acp:
    name = "acp"
    dialect_of: str | None = None

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        if is_acp(exchange.request_json):
            return 112
        return 92 if first is not None and is_acp(first.data) else 0

    def open(self, exchange: Exchange) -> Assembly:
        return AcpTalk(exchange)


PROVIDER = _Acp()
