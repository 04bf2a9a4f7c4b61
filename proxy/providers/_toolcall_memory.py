"""Which ToolCall objects were seen before: per conversation and id, kept across exchanges, bounded.

A sight in; what was known of it, or None, out. Some replies name no conversation (``get-tool-call``): there an id
counts as the one seen last, wherever that was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proxy.exchange import Exchange
from proxy.providers._calls import hashed, text
from proxy.providers._memory import slot
from proxy.providers._reading import trimmed

_MAY_CHANGE = (
    "status",
    "resultJson",
    "endReason",
    "approvedAt",
    "approvedBy",
    "executedAt",
    "executionDuration",
    "requiresApprovalAt",
    "clientToolDeadlineAt",
)


@dataclass(frozen=True, slots=True)
class Look:
    """One object (camelCase), the objects around it, its conversation, and the key it is known by."""

    plain: dict[str, Any]
    around: dict[str, Any]
    scope: str
    key: str

    @property
    def name(self) -> str:
        return text(self.plain.get("name"))

    @property
    def id(self) -> str | None:
        value = self.plain.get("id")
        return value if isinstance(value, str) and value else None

    @property
    def arguments(self) -> str | None:
        """Digest of the arguments, None when the object has none."""
        value = self.plain.get("argumentsJson")
        return None if value is None else hashed(value)

    @property
    def state(self) -> str:
        """What may change between sights, as one digest."""
        return hashed([self.plain.get(key) for key in _MAY_CHANGE])


@dataclass(frozen=True, slots=True)
class ToolCallMemory:
    exchange: Exchange

    def known(self, key: str, scope: str) -> dict[str, Any] | None:
        """{name, arguments, state, deadline, client_deadline} of an earlier sight."""
        book = self._book()
        last = book["scopes"].get(key)
        if scope and f"{scope}\n{key}" not in book["calls"] and last != "":
            return None
        where = scope if scope and f"{scope}\n{key}" in book["calls"] else last
        found = book["calls"].get(f"{where}\n{key}")
        return found if isinstance(found, dict) else None

    def last_scope(self, key: str) -> str:
        """The conversation this id was last seen in, "" when unknown."""
        return str(self._book()["scopes"].get(key) or "")

    def keep(self, look: Look, before: dict[str, Any] | None) -> None:
        book, before = self._book(), before or {}
        last = book["scopes"].pop(look.key, "")
        where = look.scope or last
        if not last:  # a sight without a conversation moves into the one that is named later
            book["calls"].pop(f"\n{look.key}", None)
        book["calls"].pop(f"{where}\n{look.key}", None)
        trimmed(book["calls"])[f"{where}\n{look.key}"] = {
            "name": look.name or before.get("name", ""),
            "arguments": look.arguments or before.get("arguments"),
            "state": look.state,
            "deadline": look.plain.get("requiresApprovalAt") or before.get("deadline"),
            "client_deadline": look.plain.get("clientToolDeadlineAt") or before.get("client_deadline"),
        }
        trimmed(book["scopes"])[look.key] = where

    def _book(self) -> dict[str, Any]:
        book = slot(self.exchange, "toolcall-schema", self.exchange.upstream or "-")
        book.setdefault("calls", {})
        book.setdefault("scopes", {})
        return book
