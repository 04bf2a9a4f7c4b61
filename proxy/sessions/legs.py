"""Two sights of one call: the model asked for it, and a tool server (or a hook, or a front end) was asked to do it.

In: calls as they close, from every leg. Out: for a call another leg has already shown, that earlier call and how sure
the match is. The second sight becomes a ``sighting`` line, never a second action (09-contracts 36).
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from classifiers.call import ObservedAt, ToolCall
from proxy.sessions.calls import KnownCall, arguments_digest

WINDOW_S = 120.0  # a model's call and the request to its tool server are this close, approval by a person included
MAX_KEYS = 50_000

# Several wires show one leg: what an agent's own front end or the model says, and what reaches the tool.
_LEG = {
    ObservedAt.MODEL_RESPONSE: "model",
    ObservedAt.TEXT: "model",
    ObservedAt.MCP_REQUEST: "mcp",
    ObservedAt.AGUI_EVENT: "app",
    ObservedAt.SCHEMA_API: "app",
    ObservedAt.HOOK: "hook",
    ObservedAt.IMPORT: "import",
}


@dataclass(frozen=True, slots=True)
class Sight:
    """``strength``: strong (ids, or one trace) | inferred (same tool and arguments within the window)."""

    call: KnownCall
    session: str
    by: str
    strength: str


@dataclass(slots=True)
class LegTable:
    """Recent calls of all sessions by what identifies them across legs. Bounded; evictions are counted."""

    keys: OrderedDict[tuple[str, ...], list[tuple[str, KnownCall]]] = field(default_factory=OrderedDict)
    evicted: int = 0

    def match(self, call: ToolCall, now: float, trace: str | None) -> Sight | None:
        leg, name = leg_of(call), plain_name(call.name)
        for by, strength, key in _keys(call, trace):
            for session, known in self.keys.get(key, ()):
                recent = now - known.at <= WINDOW_S
                if recent and leg not in known.legs and plain_name(known.name) == name:
                    known.legs.add(leg)
                    return Sight(known, session, by, strength)
        return None

    def add(self, call: ToolCall, known: KnownCall, session: str, trace: str | None) -> None:
        known.legs.add(leg_of(call))
        for _, _, key in _keys(call, trace):
            self.keys.setdefault(key, []).append((session, known))
            self.keys.move_to_end(key)
            del self.keys[key][:-16]
        while len(self.keys) > MAX_KEYS:
            self.keys.popitem(last=False)
            self.evicted += 1


def leg_of(call: ToolCall) -> str:
    return _LEG[call.observed_at]


def plain_name(name: str) -> str:
    """``mcp__files__read_file`` and ``read_file`` are one tool seen from two sides. Lower case: clients differ."""
    return (name.rpartition("__")[2] if name.startswith("mcp__") else name.rpartition("/")[2]).lower()


def _keys(call: ToolCall, trace: str | None) -> list[tuple[str, str, tuple[str, ...]]]:
    """(by, strength, key), surest first. JSON-RPC ids count from 0 in every client and identify nothing here."""
    keys: list[tuple[str, str, tuple[str, ...]]] = []
    ids = [call.extra.get("tool_use_id"), call.id if call.observed_at is not ObservedAt.MCP_REQUEST else None]
    keys += [("id", "strong", ("id", str(i))) for i in ids if isinstance(i, str) and len(i) >= 8]
    if trace:
        keys.append(("trace", "strong", ("trace", trace, plain_name(call.name))))
    keys.append(("arguments", "inferred", ("args", plain_name(call.name), arguments_digest(call))))
    return keys
