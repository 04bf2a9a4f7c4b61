"""Payloads for the other surfaces: code, SQL and HTTP requests found in a command, read by their own classifiers.

In: the payload's text and the scope it was found in. Out: the surface's effects as part of this action; without a
surface, or with unknown parts, one effect and the reason nothing more can be said.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from classifiers.address import address
from classifiers.effects import Action, Certainty, Domain, Evidence, OpaqueReason, Privilege, Verb
from classifiers.http.places import is_metadata
from classifiers.knowledge import lookup
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed
from classifiers.knowledge.templates import host
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.payloads.scripts import run_text
from classifiers.shell.state import Scope, State, Stream, stronger
from classifiers.surface import CallParts, surface_named

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator


def is_credentials(url: str) -> bool:
    where = address(url)
    return where is not None and is_metadata(where)


def request(ev: Evaluator, item: Handed, state: State, scope: Scope) -> Stream:
    """An HTTP request: the http surface reads method and URL; without it GET receives and the rest sends."""
    url, method = item.words[0].text, item.to.language or "GET"
    if not ev.known(url) and ev.known("/".join(url.split("/", 3)[:3])) and is_credentials(ev.unknowns.reveal(url)):
        url = ev.unknowns.reveal(url)  # of whatever role: its answer holds the machine's own credentials
    if ev.known(url):
        values: dict[str, object] = {"url": url, "method": method}
        if len(item.words) > 1 and ev.known(item.words[1].text):
            values["body"] = item.words[1].text
        action = _ask(ev, CallParts("http", values, {"url": ev.path}, depth=scope.depth), state)
        if action is not None:
            return _absorb(ev, action, scope.span(item.span), scope, None)
    verb = Verb.RECEIVE if method in {"GET", "HEAD"} else Verb.SEND
    rank = "read_only" if verb is Verb.RECEIVE else "externally_reversible"
    index = tell(ev, verb, Domain.NETWORK, host(url), item.span, state, scope, destructive=False, reversibility=rank)
    return Stream(None, () if index is None or verb is Verb.SEND else (index,))


def read_elsewhere(
    ev: Evaluator,
    kind: str,
    text: str,
    to: Delegate,
    span: tuple[int, int],
    words: tuple[Word, ...],
    state: State,
    scope: Scope,
    fields: dict[str, Any] | None = None,
) -> Stream:
    """Hand a payload to another surface; without one, or with unknown parts, it is unread."""
    values: dict[str, object] = {kind: text, "cwd": state.context.cwd}
    if kind == "code":
        values["language"] = to.language
        if scope.given and all(map(ev.known, scope.given)):
            values["argv"] = list(scope.given)
    elif kind == "sql":
        server = {k: (fields or {}).get(k) for k in ("host", "database")}
        values |= {"dialect": to.language, **{k: v for k, v in server.items() if v and ev.known(v)}}
    action = None
    if ev.known(text):
        action = _ask(ev, CallParts(kind, values, {kind: ev.path}, depth=scope.depth), state)
    if kind == "code":
        destructive = False if action is not None and action.complete else None
        index = tell(ev, Verb.EXECUTE, Domain.CODE, to.language or None, span, state, scope, destructive=destructive)
        for stream in ev.streams_in(list(words)):
            if index is not None:
                ev.code_flow(stream, index)
    if kind == "code" and ev.known(text) and _ORDER.match(text):
        _as_shell(ev, text, span, state, scope)
    if action is None:
        if kind == "sql":
            tell(ev, Verb.EXECUTE, Domain.DATABASE, None, span, state, scope, destructive=None)
        ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(span), f"{to.language or kind} payload")
        return Stream(None)
    return _absorb(ev, action, scope.span(span), scope, to.language if kind == "code" else None)


# A command line, and no expression of any language: a program's name, an option, nothing a call would need.
_ORDER = re.compile(r"\s*(?:sudo\s+)?([a-z][\w.-]*)\s+-{1,2}[A-Za-z][^()=;{}]*\Z")


def _as_shell(ev: Evaluator, text: str, span: tuple[int, int], state: State, scope: Scope) -> None:
    """Code that reads as a command line (``node -e "rm -rf x"``): what a shell would make of it, as possible."""
    match = _ORDER.match(text)
    if match is None or lookup(match[1]) is None:
        return
    place = scope.span(span)
    via = (*scope.via, "guessed:shell")
    inner = replace(scope, certainty=Certainty.POSSIBLE, via=via, fixed=place, depth=scope.depth + 1)
    run_text(ev, text, state.copy(), inner, [], place)


def read_as(ev: Evaluator, kind: str, text: str, state: State, scope: Scope) -> None:
    """What another surface makes of ``text``, when it reads all of it: a guess never adds what was not read."""
    action = _ask(ev, CallParts(kind, {kind: text}, {kind: ev.path}, depth=scope.depth), state)
    if action is not None and action.complete:
        _absorb(ev, action, scope.span((0, len(text))), scope, None)


def read_beside(ev: Evaluator, text: str, language: str, state: State, scope: Scope) -> None:
    """What a program of another language does, without what it runs of others: the call says that already."""
    values: dict[str, object] = {"code": text, "language": language, "cwd": state.context.cwd}
    action = _ask(ev, CallParts("code", values, {"code": ev.path}, depth=scope.depth), state)
    if action is not None:
        own = tuple(e for e in action.effects if (e.domain, e.action) != (Domain.CODE, Verb.EXECUTE))
        _absorb(ev, replace(action, effects=own, flows=(), opaque=()), scope.span((0, 0)), scope, None)


def _ask(ev: Evaluator, parts: CallParts, state: State) -> Action | None:
    """Another surface's reading, or None."""
    surface = surface_named(parts.surface)
    context = state.context  # a folder that is not known must not leak its mark into another surface's targets
    context = context if context.cwd is None or ev.known(context.cwd) else replace(context, cwd=None)
    return None if surface is None else surface.classify(parts, context)


def _absorb(ev: Evaluator, action: Action, place: tuple[int, int], scope: Scope, code: str | None) -> Stream:
    """Another surface's action as part of this one. ``code``: its own ``execute code`` is already told."""
    base = len(ev.out.effects)
    indexes: list[int] = []
    for effect in action.effects:
        if (
            code is not None
            and (effect.domain, effect.action) == (Domain.CODE, Verb.EXECUTE)
            and effect.target in {None, code}
        ):
            for tag in effect.tags:  # a socket joined to a shell: said on the code that was read
                ev.out.change(base - 1, destructive=None)
                ev.out.tag(base - 1, tag)
            indexes.append(base - 1)
            continue
        changed = replace(
            effect,
            evidence=Evidence(ev.path, *place),
            via=scope.via + effect.via,
            where=scope.where if effect.where == "local" else effect.where,
            privilege=scope.privilege if effect.privilege is Privilege.NONE else effect.privilege,
            condition=stronger(scope.condition, effect.condition),
            certainty=scope.certainty if effect.certainty is Certainty.DEFINITE else effect.certainty,
        )
        indexes.append(ev.out.add(changed))
    for flow in action.flows:
        ev.out.flow(flow.kind, *(None if i is None else indexes[i] for i in (flow.source, flow.sink)))
    for opaque in action.opaque:
        ev.out.hide(opaque.reason, place, opaque.text)
    return Stream(None, tuple(i for i in indexes if ev.out.effects[i].action in {Verb.READ, Verb.RECEIVE}))
