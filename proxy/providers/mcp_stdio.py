"""MCP over a child's pipes: JSON-RPC lines of both sides, as ``onlooker mcp`` or a recording shows them."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.events import Event, Facts
from proxy.exchange import Ending, Exchange, Side
from proxy.providers import Assembly
from proxy.providers._mcp_state import McpState
from proxy.providers._mcp_talk import handle
from proxy.providers._mcp_words import is_mcp
from proxy.wire import Frame


class McpPipe:
    """One run of a server: the process is the session."""

    def __init__(self, exchange: Exchange) -> None:
        name = exchange.route.strip("/") or None
        self._state = McpState(exchange, session=f"stdio:{exchange.connection or exchange.id}", fallback_server=name)

    def request(self, exchange: Exchange) -> Iterator[Event]:
        process = {"session_ids": {"mcp.process": exchange.connection}} if exchange.connection else {}
        yield Facts({"protocol": "mcp-stdio", **process})

    def frame(self, frame: Frame) -> Iterator[Event]:
        if isinstance(frame.data, (dict, list)):
            yield from handle(self._state, frame.data, frame.side)

    def close(self, ending: Ending) -> Iterator[Event]:  # noqa: ARG002 - a call without a reply is unanswered
        return iter(())


class _McpStdio:
    name = "mcp-stdio"
    dialect_of: str | None = None

    def claims(self, exchange: Exchange, first: Frame | None) -> int:
        spoken = first is not None and first.side is Side.REQUEST and exchange.request_json is None
        if first is None or not spoken or exchange.websocket:
            return 0
        return 90 if is_mcp(first.data) else 0

    def open(self, exchange: Exchange) -> Assembly:
        return McpPipe(exchange)


PROVIDER = _McpStdio()
