"""What is remembered between actions: counts and signals per session, sequences and rates per rule. Bounded.

In: subjects in record order. Out: subjects with ``session.counts.*``, ``session.signals.*``, ``data.escalates`` and
``call.same_arguments`` filled in; tracks for the evaluator; a JSON snapshot for checkpoints.

Only record time is used, never the clock, so a replay gives what live evaluation gave. Both tables are LRU with a
global cap; ``evictions`` counts what was forgotten. Calls that were cut off, and structured output, are not counted.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from classifiers.effects import Domain, Effect, Sensitivity, Verb
from policies.target import strip_port
from policies.verdict import Subject

GAP_S = 600.0
MAX_SESSIONS = 10_000
MAX_TRACKS = 50_000
MAX_SET = 512  # hosts, directories and file types remembered per session

_COUNTS: dict[Verb, str] = {
    Verb.READ: "reads",
    Verb.RECEIVE: "reads",
    Verb.CREATE: "creates",
    Verb.MODIFY: "modifies",
    Verb.DELETE: "deletes",
    Verb.EXECUTE: "executes",
    Verb.SEND: "sends",
}
_CHANGES = {Verb.CREATE, Verb.MODIFY, Verb.DELETE}
_READS = {Verb.READ, Verb.RECEIVE}
NAMES = ("calls", "effects", "reads", "creates", "modifies", "deletes", "executes", "sends")
# How sensitive, mildest first; what is not listed is not data that enters a context.
_LEVEL = {Sensitivity.VCS_METADATA: 1, Sensitivity.ENV_SECRET: 2, Sensitivity.CREDENTIAL: 3, Sensitivity.PRIVATE_KEY: 3}


@dataclass(slots=True)
class Session:
    """One session's memory; JSON values only, so that it can be put in a checkpoint."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(NAMES, 0))
    hosts: list[str] = field(default_factory=list)
    roots: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    level: int = 0
    last_s: float | None = None
    last_call: str = ""
    repeats: int = 0
    told_none: bool = False


class SessionState:
    """Memory of every session. Not for several threads at once."""

    def __init__(self, max_sessions: int = MAX_SESSIONS, max_tracks: int = MAX_TRACKS) -> None:
        self.max_sessions, self.max_tracks = max_sessions, max_tracks
        self.sessions: OrderedDict[str, Session] = OrderedDict()
        self.tracks: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self.evictions = 0

    def observe(self, subject: Subject) -> Subject:
        """Count this action and return it with what the session knows. Call once per action, in record order."""
        key = subject.fields.get("session.id")
        if not counted(subject) or not isinstance(key, str) or subject.fields.get("session.strength") == "weak":
            return subject
        found = _update(self.session(key), subject)
        return replace(subject, fields={**found, **{k: v for k, v in subject.fields.items() if v is not None}})

    def session(self, key: str) -> Session:
        session = self.sessions.get(key)
        if session is None:
            session = self.sessions[key] = Session()
            if len(self.sessions) > self.max_sessions:
                self.sessions.popitem(last=False)
                self.evictions += 1
        else:
            self.sessions.move_to_end(key)
        return session

    def track(self, *key: str) -> dict[str, Any]:
        """A JSON mapping for one rule and one key value, empty at first."""
        name = "\x1f".join(key)
        track = self.tracks.get(name)
        if track is None:
            track = self.tracks[name] = {}
            if len(self.tracks) > self.max_tracks:
                self.tracks.popitem(last=False)
                self.evictions += 1
        else:
            self.tracks.move_to_end(name)
        return track

    def end(self, key: str) -> None:
        """The session is over: forget it (its tracks age out)."""
        self.sessions.pop(key, None)

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON values, oldest first."""
        sessions = [[k, asdict(s)] for k, s in self.sessions.items()]
        return {"v": 1, "sessions": sessions, "tracks": list(self.tracks.items()), "evictions": self.evictions}

    @classmethod
    def restore(cls, snapshot: dict[str, Any], **caps: int) -> SessionState:
        state = cls(**caps)
        if snapshot.get("v") == 1:
            state.sessions.update((k, Session(**s)) for k, s in snapshot["sessions"])
            state.tracks.update((k, dict(t)) for k, t in snapshot["tracks"])
            state.evictions = snapshot["evictions"]
        return state


def counted(subject: Subject) -> bool:
    """Whether policy and counts look at this action at all."""
    fields = subject.fields
    return fields.get("call.complete") is not False and fields.get("call.purpose") != "structured_output"


def _update(session: Session, subject: Subject) -> dict[str, Any]:
    effects = subject.action.effects
    now_s = subject.at.timestamp()
    counts = session.counts
    changes = [e for e in effects if e.action in _CHANGES]
    had_changes = counts["creates"] + counts["modifies"] + counts["deletes"] > 0
    first_change = bool(changes) and not had_changes and counts["reads"] > 0
    gap = session.last_s is not None and now_s - session.last_s > GAP_S
    counts["calls"] += 1
    counts["effects"] += len(effects)
    for effect in effects:
        name = _COUNTS.get(effect.action)
        if name is not None:
            counts[name] += 1
        if effect.domain == Domain.NETWORK and effect.target:
            _remember(session.hosts, strip_port(effect.target.casefold()))
    moved = sum(_remember(session.roots, r) for r in map(_root, changes) if r) > 0
    shifted = sum(_remember(session.types, t) for t in map(_type, changes) if t) > 0
    level = max((_LEVEL.get(e.sensitivity, 0) for e in effects if e.action in _READS), default=0)
    escalates = level > session.level
    session.level, session.last_s = max(level, session.level), now_s
    shape = [(str(e.domain), str(e.action), e.target or e.target_raw) for e in effects]
    call = str(subject.fields.get("call.arguments_hash") or (subject.fields.get("call.name"), shape))
    session.repeats = session.repeats + 1 if call == session.last_call else 1
    session.last_call = call
    return {
        **{f"session.counts.{k}": v for k, v in counts.items()},
        "session.counts.hosts": len(session.hosts),
        "session.signals.dir_change": moved,
        "session.signals.file_type_shift": shifted,
        "session.signals.time_gap": gap,
        "session.signals.read_to_write": first_change,
        "data.escalates": escalates,
        "call.same_arguments": session.repeats,
    }


def _remember(known: list[str], word: str) -> bool:
    """Add ``word``; True when it is new and something was known before."""
    if word in known:
        return False
    if len(known) < MAX_SET:
        known.append(word)
    return len(known) > 1


def _root(effect: Effect) -> str | None:
    """The tree a changed path is in: its first three segments."""
    text = effect.target
    if effect.domain != Domain.FILESYSTEM or not text or text[0] not in "/~":
        return None
    return "/".join(text.split("/")[: 4 if text[0] == "/" else 2])


def _type(effect: Effect) -> str | None:
    text = effect.target
    if effect.domain != Domain.FILESYSTEM or not text:
        return None
    _, dot, kind = text.rpartition("/")[2].rpartition(".")
    return kind if dot and kind.isalnum() else None
