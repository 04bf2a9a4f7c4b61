"""What one exchange of a ToolCall API knows: its conversation, what it asked, and what was seen before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from proxy.events import Event, Facts
from proxy.exchange import Exchange
from proxy.providers._calls import hashed, text
from proxy.providers._reading import json_text
from proxy.providers._toolcall_memory import Look, ToolCallMemory
from proxy.providers._toolcall_object import Sight


@dataclass(slots=True)
class ToolCallState:
    exchange: Exchange
    memory: ToolCallMemory
    scope: str = ""  # the conversation the request names, else ""
    asked: dict[str, Any] | None = None  # a direct tool call this request makes, until it is answered
    ordinal: int = 0
    _nameless: dict[str, int] = field(default_factory=dict)
    _told: bool = False  # the exchange's conversation is a fact already

    def look(self, sight: Sight) -> Look:
        """The sight with its key and its conversation: named around it, by the request, or where it was seen last."""
        ident = text(sight.fields.get("id"))
        key = ident or self._place(sight)
        return Look(
            sight.fields, sight.around, scope_in(sight.around) or self.scope or self.memory.last_scope(key), key
        )

    def conversation(self, scope: str) -> Iterator[Event]:
        """The conversation as a session's key, once: the first that anything in the exchange names."""
        if scope and not self._told:
            self._told = True
            yield Facts({"session_ids": {"toolcall-schema.conversation": scope}, "conversation_id": scope})

    def _place(self, sight: Sight) -> str:
        """What stands for a missing id: the message it is in, its name and arguments, and which of equals it is."""
        inside = [sight.around.get(key) for key in ("messageId", "runId", "generatedBy")]
        base = hashed([inside, sight.fields.get("name"), sight.fields.get("argumentsJson")])
        nth = self._nameless.get(base, 0)
        self._nameless[base] = nth + 1
        return f"-{base}:{nth}"


def scope_in(holder: dict[str, Any]) -> str | None:
    """The conversation an object names; a key that is an object counts by its text."""
    value = holder.get("conversationKey") or holder.get("threadId")
    return value if isinstance(value, str) else json_text(value) if isinstance(value, dict) else None
