"""MCP over HTTP: streamable (with and without sessions) and the older pair of a POST and an event stream.

The call is in the request body; the reply is JSON or events, or, in the older form, an event on the other connection,
joined by the session id in the POST's query. Stateless requests name the tool in ``Mcp-Name`` as well.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from classifiers.call import ExecutedBy, ObservedAt, ToolCall
from proxy.events import CallClosed, Event, Facts
from proxy.exchange import Ending, Exchange, Head, Side
from proxy.providers import Assembly
from proxy.providers._mcp_state import McpState
from proxy.providers._mcp_talk import handle
from proxy.providers._mcp_words import is_mcp
from proxy.wire import Frame


class McpExchange:
    """One HTTP exchange of an MCP conversation."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._state = McpState(
            exchange,
            session=_session(exchange.request),
            place=f"{exchange.upstream}{exchange.request.path}",
            fallback_server=exchange.route.strip("/") or None,
        )
        self._met_reply = False

    def request(self, exchange: Exchange) -> Iterator[Event]:
        head = exchange.request
        facts = {"mcp_session": self._state.session, "mcp_protocol_version": head.get("mcp-protocol-version") or None}
        yield Facts({"protocol": "mcp", **{k: v for k, v in facts.items() if v}})
        body = exchange.request_json
        if not isinstance(body, (dict, list)):
            yield from self._headers_only(head)
            return
        told = decoded_name(head.get("mcp-name"))
        for event in handle(self._state, body, Side.REQUEST):
            yield _disagreement(event, told) if told else event

    def frame(self, frame: Frame) -> Iterator[Event]:
        yield from self._meet_reply()
        if frame.event == "endpoint" and isinstance(frame.data, str):
            session = _session(Head(target=frame.data))
            if session:
                self._state.move_to(session)
                yield Facts({"mcp_session": session})
        elif isinstance(frame.data, (dict, list)):
            yield from handle(self._state, frame.data, Side.RESPONSE)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - a call without a reply is unanswered, not cut off
        yield from self._meet_reply()

    def _meet_reply(self) -> Iterator[Event]:
        """``initialize`` is answered with the session's id in a header."""
        if self._met_reply or self._exchange.response is None:
            return
        self._met_reply = True
        session = self._exchange.response.get("mcp-session-id")
        if session and session != self._state.session:
            self._state.move_to(session)
            yield Facts({"mcp_session": session})

    def _headers_only(self, head: Head) -> Iterator[Event]:
        """A stateless call whose body could not be read is still a call, with its name and nothing else."""
        if head.get("mcp-method") == "tools/call":
            yield CallClosed(
                ToolCall(
                    name=decoded_name(head.get("mcp-name")) or "",
                    arguments_error="the request body was not read",
                    executed_by=ExecutedBy.MCP_SERVER,
                    complete=False,
                    server=self._state.fallback_server,
                    observed_at=ObservedAt.MCP_REQUEST,
                    asserted_by="request",
                    extra={"read_from": "headers"},
                )
            )


def decoded_name(value: str) -> str | None:
    """``Mcp-Name``: plain text, or ``=?base64?…?=`` around UTF-8; None when absent or broken."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value or None
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None


def _disagreement(event: Event, told: str) -> Event:
    """The header names another tool than the body: both readings stay."""
    if isinstance(event, CallClosed) and event.call.kind == "function" and event.call.name != told:
        other = f"name: {event.call.name} | {told}"
        extra = {**event.call.extra, "other_names": [told]}
        return CallClosed(replace(event.call, conflicts=(*event.call.conflicts, other), extra=extra))
    return event


def _session(head: Head) -> str | None:
    """The header, or the older transport's query parameter."""
    query = parse_qs(head.target.partition("?")[2])
    named = next((query[key][0] for key in ("session_id", "sessionId", "sessionid") if key in query), None)
    return head.get("mcp-session-id") or named


class _McpHttp:
    name = "mcp-http"
    dialect_of: str | None = None

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        head, body = exchange.request, exchange.request_json
        marked = bool(head.get("mcp-session-id") or head.get("mcp-method") or head.get("mcp-protocol-version"))
        if first is not None and (exchange.websocket or first.side is Side.REQUEST):
            return 0
        if is_mcp(body) or (marked and _is_rpc(body)):
            return 110
        if head.get("mcp-method"):
            return 105
        if first is not None and first.event == "endpoint" and isinstance(first.data, str):
            return 70
        if first is not None and (marked or head.method == "GET") and _is_rpc(first.data):
            return 60
        return 15 if marked else 0

    def open(self, exchange: Exchange) -> Assembly:
        return McpExchange(exchange)


def _is_rpc(value: Any) -> bool:
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and first.get("jsonrpc") == "2.0"


PROVIDER = _McpHttp()
