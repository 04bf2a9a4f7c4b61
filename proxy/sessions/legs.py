"""Two sights of one call: the model asked for it, and a tool server (or a hook, or a front end) was asked to do it.

In: calls as they close, from every leg, and where each was seen. Out: for a call another leg has already shown, that
earlier call and how sure the match is. The second sight becomes a ``sighting`` line, never a second action
(09-contracts 36); so a match needs proof that both are one caller's, else a call of somebody else would be lost.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import dataclass, field

from classifiers.call import ObservedAt, ToolCall
from proxy.sessions.calls import KnownCall, arguments_digest

WINDOW_S = 120.0  # a model's call and the request to its tool server are this close, approval by a person included
SLACK_S = 0.5  # clocks of two writers; beyond it, what ran before the model asked was not asked for by it
MAX_KEYS = 50_000
MAX_CALLERS = 20_000

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
_ORDER = {"model": 0, "import": 0, "app": 1, "mcp": 2, "hook": 2}  # a call is asked for before it is carried out

# What nobody makes twice: a UUID, Bedrock's 22 characters, or a run of 16 letters and digits with both in it.
# ``search_web:0``, the counters of mock models and Groq's four random characters are met again elsewhere.
_UUID = re.compile(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|^tooluse_[\w-]{22}$")
_RUN = re.compile(r"[A-Za-z0-9]{16,}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call was seen. ``caller``: the process that sent the request, None when it is not known.

    ``weak``: the session is only a connection, which a gateway may share among many users.
    """

    session: str
    caller: str | None = None
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Sight:
    """``strength``: strong (ids, or one trace) | inferred (same tool and arguments within the window)."""

    call: KnownCall
    session: str
    by: str
    strength: str


@dataclass(frozen=True, slots=True)
class _Seen:
    call: ToolCall
    digest: str
    leg: str
    now: float
    place: Place


Key = tuple[str, ...]


@dataclass(slots=True)
class LegTable:
    """Recent calls of all sessions by what identifies them across legs. Bounded; evictions are counted."""

    keys: OrderedDict[Key, list[tuple[Place, KnownCall]]] = field(default_factory=OrderedDict)
    callers: OrderedDict[tuple[str, str], dict[str, float]] = field(default_factory=OrderedDict)
    evicted: int = 0

    def match(self, call: ToolCall, now: float, trace: str | None, place: Place) -> Sight | None:
        sight = _Seen(call, arguments_digest(call), leg_of(call), now, place)
        for by, strength, key in _keys(call, trace, sight.digest):
            for where, known in self.keys.get(key, ()):
                if (
                    sight.leg not in known.legs
                    and _one_tool(by, sight, known, where)
                    and self._proven(by, sight, known, where)
                ):
                    known.legs.add(sight.leg)
                    return Sight(known, where.session, by, strength)
        return None

    def add(self, call: ToolCall, known: KnownCall, trace: str | None, place: Place) -> None:
        known.legs.add(leg_of(call))
        for _, _, key in _keys(call, trace, arguments_digest(call)):
            self.keys.setdefault(key, []).append((place, known))
            self.keys.move_to_end(key)
            del self.keys[key][:-16]
        while len(self.keys) > MAX_KEYS:
            self.keys.popitem(last=False)
            self.evicted += 1

    def note(self, call: ToolCall, now: float, place: Place) -> None:
        """A call was shown at ``place``: which sessions of a caller are busy on which leg."""
        if place.caller is None:
            return
        key = (place.caller, leg_of(call))
        busy = {s: at for s, at in self.callers.get(key, {}).items() if now - at <= WINDOW_S}
        self.callers[key] = {**busy, place.session: now}
        self.callers.move_to_end(key)
        while len(self.callers) > MAX_CALLERS:
            self.callers.popitem(last=False)

    def shift(self, step_s: float, now: float) -> None:
        for busy in self.callers.values():
            for session, at in busy.items():
                busy[session] = min(at + step_s, now)

    def _proven(self, by: str, sight: _Seen, known: KnownCall, where: Place) -> bool:
        own = where.session == sight.place.session and not sight.place.weak
        if by == "id" and _unique(sight.call):
            return own or known.digest == sight.digest
        first = _ORDER[known.leg] <= _ORDER[sight.leg]
        delay = (sight.now - known.at) * (1 if first else -1)
        if not -SLACK_S <= delay <= WINDOW_S:
            return False
        asking = (known.leg, where.session) if first else (sight.leg, sight.place.session)
        one = sight.place.caller is not None and sight.place.caller == where.caller
        return own or by == "trace" or (by == "arguments" and one and self._alone(where.caller, *asking, sight.now))

    def _alone(self, caller: str | None, leg: str, session: str, now: float) -> bool:
        """Whether no other session of the process has calls on the leg that asks."""
        busy = self.callers.get((str(caller), leg), {})
        return not any(s != session and abs(now - at) <= WINDOW_S for s, at in busy.items())


def _one_tool(by: str, sight: _Seen, known: KnownCall, where: Place) -> bool:
    """A harness's hook calls some tools by names of its own; in one session the call's id tells them anyway."""
    own = where.session == sight.place.session and not sight.place.weak
    told = by == "id" and own and "hook" in {sight.leg, known.leg}
    return told or plain_name(known.name) == plain_name(sight.call.name)


def leg_of(call: ToolCall) -> str:
    return _LEG[call.observed_at]


def plain_name(name: str) -> str:
    """``mcp__files__read_file`` and ``read_file`` are one tool seen from two sides. Lower case: clients differ."""
    return (name.rpartition("__")[2] if name.startswith("mcp__") else name.rpartition("/")[2]).lower()


def _ids(call: ToolCall) -> list[str]:
    """JSON-RPC ids count from 0 in every client and identify nothing here."""
    ids = [call.extra.get("tool_use_id"), call.id if call.observed_at is not ObservedAt.MCP_REQUEST else None]
    return [i for i in ids if isinstance(i, str) and len(i) >= 8]


def _unique(call: ToolCall) -> bool:
    return any(_UUID.search(i) or any(not r.isalpha() and not r.isdigit() for r in _RUN.findall(i)) for i in _ids(call))


def _keys(call: ToolCall, trace: str | None, digest: str) -> list[tuple[str, str, Key]]:
    """(by, strength, key), surest first. One trace holds many calls of a tool: there the arguments count too."""
    name = plain_name(call.name)
    keys: list[tuple[str, str, Key]] = [("id", "strong", ("id", i)) for i in _ids(call)]
    if trace:
        keys.append(("trace", "strong", ("trace", trace, name, digest)))
    keys.append(("arguments", "inferred", ("args", name, digest)))
    return keys
