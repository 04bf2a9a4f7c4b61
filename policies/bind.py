"""Which objective an action belongs to, and how far the binding can be trusted.

In: objectives and what is known of the connection (``Facts``). Out: a ``Binding``. Rows are asked in order of trust;
the first that has a hit decides, all hits are kept, two different ones within a row are ambiguous. What the agent's
process can choose (URL, header, User-Agent, session id) is never ``operator``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from policies.glob import text_glob
from policies.objective import Objective
from policies.verdict import Reason


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known around an exchange. ``headers``: lower-case names; ``declared``: what the agent itself declared."""

    path_segment: str | None = None  # of /o/<id>/, a nonce after a dot allowed
    headers: Mapping[str, str] = field(default_factory=dict)
    api_key_hmac: tuple[str, ...] = ()
    session: str | None = None
    agent: str | None = None
    listener: str | None = None
    unix_socket: str | None = None
    declared: Objective | None = None
    widening: bool = False  # this very call declares more than what is in force


@dataclass(frozen=True, slots=True)
class Hit:
    source: str  # admin:session, listener, header, …
    objective: str
    trust: str


@dataclass(frozen=True, slots=True)
class Binding:
    """``objective`` None: ``reason`` says why. ``declared``: the agent's own, which can only narrow (or, where the
    objective says ``delegation: none``, is not taken up)."""

    objective: Objective | None = None
    trust: str | None = None
    bound_by: str | None = None
    reason: Reason | None = None
    id: str | None = None
    hits: tuple[Hit, ...] = ()
    declared: Objective | None = None


NONE = Binding(reason=Reason.NO_OBJECTIVE)
# Rows of trust: (trust, kinds of `bind:` looked at).
_ROWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("operator", ("listener", "unix_socket", "api_key_hmac")),
    ("claimed", ("agent", "session")),
    ("launcher", ("path_segment", "header")),
)


def bind(
    objectives: Mapping[str, Objective],
    admin: Mapping[tuple[str, str], str],
    broken: Mapping[str, str],
    facts: Facts,
) -> Binding:
    """``admin``: (kind, value) → id, set through the admin API; ``broken``: id → why its file is not loaded."""
    rows: list[list[Hit]] = [[Hit(f"admin:{k}", i, "operator") for (k, v), i in admin.items() if _has(k, v, facts)]]
    for trust, kinds in _ROWS:
        hits = [
            Hit(kind, o.id, trust)
            for o in objectives.values()
            for kind, wanted in o.bind
            if kind in kinds and _holds(kind, wanted, o.id, facts)
        ]
        rows.append(hits + (_named(facts, hits) if trust == "launcher" else []))
    every = tuple(h for row in rows for h in row)
    row = next((r for r in rows if r), [])
    if not row:
        own = facts.declared
        return Binding(own, "agent", "declared", None, own.id, (), None) if own else NONE
    ids = {h.objective for h in row}
    first = row[0]
    made = Binding(None, first.trust, first.source, None, first.objective, every, facts.declared)
    if len(ids) > 1:
        return _why(made, Reason.AMBIGUOUS_BINDING)
    found = objectives.get(first.objective)
    if found is None:
        return _why(made, Reason.NOT_LOADED if first.objective in broken else Reason.UNKNOWN_OBJECTIVE_ID)
    declared = None if found.delegation == "none" else facts.declared
    return Binding(found, first.trust, first.source, None, found.id, every, declared)


def _why(made: Binding, reason: Reason) -> Binding:
    return Binding(None, made.trust, made.bound_by, reason, made.id, made.hits, made.declared)


def _holds(kind: str, wanted: str, ident: str, facts: Facts) -> bool:
    if kind == "header":
        return facts.headers.get(wanted.casefold()) == ident
    return _has(kind, wanted, facts)


def _has(kind: str, wanted: str, facts: Facts) -> bool:
    if kind == "agent":
        return facts.agent is not None and text_glob(wanted)(facts.agent)
    if kind == "path_segment":
        return facts.path_segment is not None and segment_id(facts.path_segment, (wanted,)) == wanted
    if kind in {"api_key_hmac", "key"}:
        return wanted in facts.api_key_hmac
    return getattr(facts, kind, None) == wanted


def segment_id(segment: str, known: tuple[str, ...]) -> str:
    """``<id>`` or ``<id>.<nonce>``: ids may hold dots, so the whole is tried first."""
    return segment if segment in known or "." not in segment else segment.rpartition(".")[0]


def _named(facts: Facts, hits: list[Hit]) -> list[Hit]:
    """A segment or header that names an id no objective claimed by a ``bind:`` line."""
    out = []
    seen = {h.objective for h in hits}
    if facts.path_segment:
        name = segment_id(facts.path_segment, tuple(seen))
        out += [] if name in seen else [Hit("path_segment", name, "launcher")]
    header = facts.headers.get("x-onlooker-objective")
    if header and header not in seen:
        out.append(Hit("header", header, "launcher"))
    return out
