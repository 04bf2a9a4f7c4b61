"""What an agent says it is about to do, held against what is in force: it may narrow that, never widen it.

In: the arguments of a ``declare_objective`` call, the objective the session works under, what the agent declared
before. Out: an ``Offer``: taken up or refused, with a reason of a closed set. The agent is not trusted: its input is
bounded, its words are recorded and never interpreted, and a scope that is taken up only ever takes something away.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice, product
from typing import Any

from classifiers.effects import Action, Breadth, Domain, Effect, Surface, Verb
from classifiers.strict_yaml import StrictYamlError, load
from policies.glob import text_glob
from policies.judge import trail_of
from policies.model import Entry
from policies.objective import Objective, check_objective
from policies.verdict import Subject, Verdict

TOOL = "declare_objective"
SERVER = "onlooker"
KEYS = ("statement", "scope", "forbidden", "budget")
MAX_BYTES = 32 << 10
MAX_STATEMENT = 2000  # characters
MAX_ENTRIES = 100  # of scope and forbidden together
MAX_PATTERNS = 400
MAX_COMPARED = 2000  # effects tried when two scopes are compared; what is beyond is unclear
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_EFFECTS = ("effects", "run", "repos", "hosts", "cloud")


class Why(StrEnum):
    """Why a declaration was refused."""

    MALFORMED = "malformed"
    DELEGATION = "delegation"  # the objective in force says delegation: none
    WIDER = "wider"  # than the objective in force
    WIDER_THAN_DECLARED = "wider_than_declared"  # than the agent's own earlier one, or not shown to be narrower


@dataclass(frozen=True, slots=True)
class Offer:
    """``objective`` is there when the declaration could be read, taken up or not. ``wider``, ``unclear``: how many of
    its lines go beyond what is in force, or cannot be told; ``problem``: what is wrong with a malformed one."""

    id: str
    objective: Objective | None
    refused: Why | None = None
    wider: int = 0
    unclear: int = 0
    beside: str | None = None
    problem: str = ""

    @property
    def taken(self) -> Objective | None:
        return None if self.refused else self.objective


def is_declaration(name: str, server: str | None) -> bool:
    """Whether a call is one of our tool, by the names agents give it (``mcp__onlooker__…``, ``onlooker_…``)."""
    before, found, after = name.casefold().rpartition(TOOL)
    ours = before.removeprefix("mcp").strip("_:/.") in {"", SERVER}
    return bool(found) and not after and ours and (server is None or server.casefold() == SERVER)


def read(arguments: Any) -> Offer:
    """The declaration as an objective of our own naming. Never raises: what is wrong with it is ``problem``."""
    try:
        text = json.dumps(arguments, sort_keys=True, ensure_ascii=False)
        ident = "agent-" + hashlib.sha256(text.encode()).hexdigest()[:12]
    except (ValueError, TypeError, RecursionError):
        return Offer("agent-unreadable", None, Why.MALFORMED, problem="not text that can be written as JSON")
    problem = _shape(arguments, len(text.encode()))
    if problem:
        return Offer(ident, None, Why.MALFORMED, problem=problem)
    whole = {"objective": 1, "id": ident, **arguments}
    try:
        doc = load(json.dumps(whole, ensure_ascii=False, indent=1), "declared", max_bytes=4 * MAX_BYTES)
    except StrictYamlError as error:
        return Offer(ident, None, Why.MALFORMED, problem=str(error)[:300])
    made, notes = check_objective(doc, "sha256:" + hashlib.sha256(text.encode()).hexdigest())
    errors = [d for d in sorted(notes.found) if d.level == "error"]
    if made is None or errors:
        return Offer(ident, None, Why.MALFORMED, problem=str(errors[0])[:300] if errors else "no objective")
    if _size(made) is False:
        return Offer(ident, None, Why.MALFORMED, problem=f"over {MAX_ENTRIES} entries or {MAX_PATTERNS} patterns")
    return Offer(ident, made)


def _shape(value: Any, size: int) -> str:
    if not isinstance(value, dict):
        return f"expected an object with {', '.join(KEYS)}"
    if size > MAX_BYTES:
        return f"over {MAX_BYTES} bytes"
    strange = next((k for k in value if k not in KEYS), None)
    if strange is not None:
        return f"unknown key; expected {', '.join(KEYS)}"
    statement, scope = value.get("statement"), value.get("scope")
    if not isinstance(statement, str) or not 0 < len(statement) <= MAX_STATEMENT:
        return f"statement: expected a text of at most {MAX_STATEMENT} characters"
    if not isinstance(scope, dict) or not set(scope) & set(_EFFECTS):
        return f"scope: expected an object with one of {', '.join(_EFFECTS)}"
    return ""


def _size(made: Objective) -> bool:
    entries = [*(made.entries or ()), *(e for f in made.forbidden for e in f.entries)]
    patterns = sum(len(t.patterns) for e in entries for t in e.targets) + len(made.tools or ())
    return len(entries) <= MAX_ENTRIES and patterns <= MAX_PATTERNS


def weigh(arguments: Any, base: Objective | None, earlier: Objective | None, home: str | None = None) -> Offer:
    """A declaration beside ``base`` (what is in force) and after ``earlier`` (what the agent declared before)."""
    offer = read(arguments)
    own = offer.objective
    beside = base.id if base else None
    if own is None:
        return replace(offer, beside=beside)
    if base is not None and base.delegation == "none":
        return replace(offer, refused=Why.DELEGATION, beside=beside)
    wide, unclear = compare(own, base, home) if base is not None else (0, 0)
    if wide:
        return replace(offer, refused=Why.WIDER, wider=wide, unclear=unclear, beside=beside)
    if earlier is not None and earlier.hash != own.hash:
        more, unsure = compare(own, earlier, home)
        if more or unsure:
            return replace(offer, refused=Why.WIDER_THAN_DECLARED, wider=more, unclear=unsure, beside=beside)
    return replace(offer, unclear=unclear, beside=beside)


def compare(own: Objective, base: Objective, home: str | None = None) -> tuple[int, int]:
    """(lines of ``own`` that surely go beyond the scope of ``base``, lines of which that cannot be told).

    What ``base`` forbids or takes out inside its scope is left aside: there it is in force whatever an agent declares.
    """
    outer = replace(
        base,
        hash=base.hash + "#scope",
        forbidden=(),
        delegation="narrow",
        tools=None,
        entries=None if base.entries is None else tuple(_without_exclusions(e) for e in base.entries),
    )
    left = MAX_COMPARED
    wide = sum(v > base.budget.get(k, v) for k, v in own.budget.items())
    unclear = 0
    globs = None if base.tools is None else [text_glob(t) for t in base.tools]
    wide += 0 if globs is None else sum(not any(g(t) for g in globs) for t in own.tools or ())
    for entry in own.entries or ():
        effects = list(islice(_stands_for(entry), left + 1))
        cut, effects = len(effects) > left, effects[:left]
        left -= len(effects)
        verdicts = {_verdict(outer, e, home) for e in effects}
        if verdicts & {Verdict.OUTSIDE_SCOPE, Verdict.CONTRADICTS}:
            wide += 1
        elif Verdict.UNDETERMINED in verdicts or cut or not verdicts:
            unclear += 1
    return wide, unclear


def _without_exclusions(entry: Entry) -> Entry:
    return replace(entry, targets=tuple(t for t in entry.targets if not t.negated))


def _verdict(outer: Objective, effect: Effect | None, home: str | None) -> Verdict:
    if effect is None:
        return Verdict.UNDETERMINED
    subject = Subject(Action(Surface.UNKNOWN, (effect,)), {"session.home": home} if home else {}, _LONG_AGO)
    return trail_of(outer, subject)[-1].verdict


def _stands_for(entry: Entry) -> Iterator[Effect | None]:
    """Effects that stand for all the entry covers; None for a part that no effect can stand for."""
    domains = entry.domains or frozenset(Domain) - {Domain.UNKNOWN}
    actions = entry.actions or frozenset(Verb) - {Verb.UNKNOWN}
    for domain, action in product(sorted(domains), sorted(actions)):
        for target, breadth in _targets(entry, domain):
            if target is None:
                yield None
            else:
                yield Effect(action=Verb(action), domain=Domain(domain), target=target, breadth=breadth)


_FILES = {Domain.FILESYSTEM, Domain.STORAGE, Domain.SECRETS}


def _targets(entry: Entry, domain: str) -> Iterable[tuple[str | None, Breadth]]:
    wanted = [p for t in entry.targets if not t.negated for p in t.patterns]
    if not wanted:  # anything of the domain
        return [("/", Breadth.RECURSIVE) if domain in _FILES else ("anything-at-all.invalid", Breadth.ONE)]
    return [_target(p.operator, p.text) for p in wanted]


def _target(operator: str, text: str) -> tuple[str | None, Breadth]:
    if operator == "under":
        return text, Breadth.RECURSIVE
    if operator != "glob" or text.startswith("**"):
        return None, Breadth.ONE
    return (text.removesuffix("/**") or "/", Breadth.RECURSIVE) if text.endswith("/**") else (text, Breadth.ONE)
