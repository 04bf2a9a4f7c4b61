"""What is known of one MCP server or session across exchanges: its name, its tools, requests without an answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from classifiers.call import Definition
from proxy.events import Event, Facts, ToolsOffered
from proxy.exchange import Exchange, Side
from proxy.providers._calls import fields, rows, text
from proxy.providers._mcp_words import META, key_of
from proxy.providers._memory import slot
from proxy.providers._reading import advertised, trimmed

MAX_TOOLS = 512
MAX_EARLY = 32
_KEPT = ("name", "description", "inputSchema", "annotations")


@dataclass(slots=True)
class McpState:
    """``session``: what joins connections (a session id, or a process); None: requests stand alone (2026-07-28)."""

    exchange: Exchange
    session: str | None = None
    place: str = ""  # what stands for the server while there is no session: upstream and path, or a name
    fallback_server: str | None = None
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=2))  # the last requests of this exchange
    _own: dict[str, Any] = field(default_factory=dict)
    _ordinal: int = 0

    def book(self) -> dict[str, Any]:
        return slot(self.exchange, "mcp", self.session or self.place or self.exchange.id)

    def move_to(self, session: str) -> None:
        """The server gave the conversation its id: what was learned so far belongs to it."""
        if self.session != session:
            self.session = session
            self.book().setdefault("pending", {}).update(self._own.pop("pending", {}))

    def pending(self) -> dict[str, Any]:
        """Requests without an answer yet. Ids repeat between stateless requests, so only a session shares them."""
        holder = self.book() if self.session else self._own
        found = holder.setdefault("pending", {})
        assert isinstance(found, dict)
        return trimmed(found, 1024)

    def only(self, side: Side) -> str:
        """An error without an id answers the exchange's one request; with several, nobody knows which."""
        one = len(self.asked) == 1 and self.exchange.request.method == "POST" and not self.exchange.pipe
        return self.asked[0] if one else key_of(side, None)

    def early(self) -> dict[str, Any]:
        """Answers on a session's event stream whose request was not read yet; a few."""
        found = self.book().setdefault("early", {}) if self.session else {}
        assert isinstance(found, dict)
        return trimmed(found, MAX_EARLY)

    def server(self) -> str | None:
        known = self.book().get("server")
        return known if isinstance(known, str) else self.fallback_server

    def next_ordinal(self) -> int:
        self._ordinal += 1
        return self._ordinal - 1

    def definition(self, name: str) -> Definition | None:
        tool = self.book().get("tools", {}).get(name)
        return advertised(tool, "inputSchema") if isinstance(tool, dict) else None

    def learn(self, method: str, result: dict[str, Any]) -> Iterator[Event]:
        """What a result tells beside its content: who the server is, what tools it has."""
        info = fields(result.get("serverInfo", fields(result.get("_meta")).get(META + "serverInfo")))
        if text(info.get("name")):
            self.book()["server"] = info["name"]
        if method == "initialize" and isinstance(result.get("protocolVersion"), str):
            yield Facts({"mcp_protocol_version": result["protocolVersion"]})
        if method == "tools/list" and isinstance(result.get("tools"), list):
            tools = rows(result["tools"])
            kept = self.book().setdefault("tools", {})
            kept |= {tool["name"]: {k: tool.get(k) for k in _KEPT} for tool in tools if text(tool.get("name"))}
            trimmed(kept, MAX_TOOLS)
            found = (advertised(tool, "inputSchema") for tool in tools)
            yield ToolsOffered(tuple(d for d in found if d is not None))
