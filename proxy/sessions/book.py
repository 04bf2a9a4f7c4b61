"""Which session an exchange belongs to, and all sessions there are. Bounded: the idlest go first and are counted.

In: an exchange, the facts and history its request showed. Out: its ``Session``. The first key that exists decides
(09-contracts 24): client header, body id, conversation chain, history-prefix chain with its peer, connection.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from proxy.exchange import Exchange
from proxy.sessions.identity import Identity
from proxy.sessions.legs import LegTable
from proxy.sessions.session import Session

MAX_SESSIONS = 10_000
MAX_CHAINS = 200_000  # two per history: with its process, and whichever process it was
SEVERAL = ""  # of a history that more than one session had


@dataclass(frozen=True, slots=True)
class Key:
    id: str
    source: str
    strength: str


@dataclass(slots=True)
class SessionBook:
    idle_s: float = 1800.0
    launch: str | None = None  # the session `run` started: nothing weaker than a client's own id replaces it
    sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)
    chains: OrderedDict[str, str] = field(default_factory=OrderedDict)  # response id or history digest -> session id
    legs: LegTable = field(default_factory=LegTable)
    evicted: Counter[str] = field(default_factory=Counter)

    def find(
        self, exchange: Exchange, identity: Identity, facts: dict[str, Any], history: Sequence[str], at: float
    ) -> Session:
        """The session of this exchange, opened if it is new; its history chain is remembered for the next request."""
        digests, pid = _digests(_peer_scope(exchange), history), (exchange.peer or {}).get("pid")
        key = self._key(exchange, identity, facts, digests)
        session = self.sessions.get(key.id)
        if session is None:
            session = Session(key.id, key.source, key.strength, at, at)
            self.sessions[key.id] = session
        self.sessions.move_to_end(key.id)
        session.last_at = max(session.last_at, at)
        session.pid = session.pid or pid
        session.agent = session.agent or identity.agent
        session.agent_version = session.agent_version or identity.version
        if digests:
            whoever = _whoever(digests[-1])
            self._chain(_whose(pid, digests[-1]), key.id)
            self._chain(whoever, key.id if self.chains.get(whoever, key.id) == key.id else SEVERAL)
        return session

    def responded(self, session: Session, response_id: str | None) -> None:
        """A response came back: a next request may name it as its predecessor."""
        if response_id:
            self._chain(f"response:{response_id}", session.id)

    def idle(self, now: float) -> Iterator[tuple[Session, str]]:
        """Sessions that are over, removed from the book: idle, or pushed out by newer ones."""
        while self.sessions:
            session = next(iter(self.sessions.values()))
            over = now - session.last_at > self.idle_s
            if not over and len(self.sessions) <= MAX_SESSIONS:
                return
            self.evicted["sessions"] += not over
            del self.sessions[session.id]
            yield session, "idle" if over else "evicted"

    def shift(self, step_s: float, now: float) -> None:
        """The wall clock stepped: what was a minute ago still is, so nobody is idle or busy by a step."""
        for session in self.sessions.values():
            session.last_at = min(session.last_at + step_s, now)
            for known in session.calls.calls.values():
                known.at = min(known.at + step_s, now)
        self.legs.shift(step_s, now)

    def end(self, session_id: str) -> Session | None:
        return self.sessions.pop(session_id, None)

    def _key(self, exchange: Exchange, identity: Identity, facts: dict[str, Any], digests: list[str]) -> Key:
        if identity.session:
            said_by, value = identity.session
            return Key(value, said_by, "strong")
        for source, value in (facts.get("session_ids") or {}).items():
            if value:
                return Key(str(value)[:200], str(source), _BODY_STRENGTH.get(str(source), "strong"))
        for name in ("mcp_session", "thread_id", "conversation_id"):
            if facts.get(name):
                return Key(str(facts[name])[:200], name, "strong")
        chained = self.chains.get(f"response:{facts.get('previous_response_id')}")
        if chained:
            return Key(chained, "previous_response_id", "strong")
        if self.launch:
            return Key(self.launch, "launcher", "strong")
        if digests:
            pid = (exchange.peer or {}).get("pid")
            found = self._continued(pid, digests) or f"h-{sha256(_whose(pid, digests[0]).encode()).hexdigest()[:20]}"
            return Key(found, "history", "inferred")
        return Key(f"c-{exchange.connection or exchange.id}", "connection", "weak")

    def _continued(self, pid: int | None, digests: list[str]) -> str | None:
        """The session whose history this one goes on from, the longest first.

        A process is not always found, on a busy machine least of all. So one side of the two may lack it, where the
        history went on (an equal one may be another caller's who asks the same), nobody else had it, and the session is
        not known to be another process's.
        """
        for digest in reversed(digests):
            same = self.chains.get(_whose(pid, digest))
            if same:
                return same
            if digest is digests[-1]:
                continue
            other = self.chains.get(_whoever(digest) if pid is None else _whose(None, digest))
            if other and (pid is None or self._process_of(other) in {None, pid}):
                return other
        return None

    def _process_of(self, session_id: str) -> int | None:
        session = self.sessions.get(session_id)
        return session.pid if session else None

    def _chain(self, key: str, session_id: str) -> None:
        self.chains[key] = session_id
        self.chains.move_to_end(key)
        while len(self.chains) > MAX_CHAINS:
            self.chains.popitem(last=False)
            self.evicted["chains"] += 1


# A cache key is chosen per prompt by some clients and per user by others.
_BODY_STRENGTH = {"prompt_cache_key": "inferred", "user": "weak", "safety_identifier": "weak"}


def _digests(scope: str, history: Sequence[str]) -> list[str]:
    """A running digest per message: equal lists have equal digests, and every prefix has its own."""
    running, out = sha256(scope.encode()), []
    for item in history:
        running.update(item.encode())
        out.append(running.hexdigest()[:32])
    return out


def _whose(pid: int | None, digest: str) -> str:
    """A history as this process had it; without a pid, as somebody had it whose process was not found."""
    return f"{pid or ''}|{digest}"


def _whoever(digest: str) -> str:
    return f"*|{digest}"


def _peer_scope(exchange: Exchange) -> str:
    """What tells two callers with equal first messages apart, beside their process: the key's fingerprint, the host."""
    peer = exchange.peer or {}
    address = str(peer.get("addr") or "").rpartition(":")[0]
    prints = ",".join(f"{k}={v}" for k, v in sorted(exchange.fingerprints.items()))
    return f"{prints}|{address}"
