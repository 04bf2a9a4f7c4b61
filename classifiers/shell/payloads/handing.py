"""One payload by its kind: what the knowledge handed on in, what the payload prints out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import OpaqueReason
from classifiers.knowledge.reading import Handed
from classifiers.shell.emit import inner_scope
from classifiers.shell.payloads.argv import run_words, with_input
from classifiers.shell.payloads.elsewhere import read_elsewhere, request
from classifiers.shell.payloads.orders import ESCAPES
from classifiers.shell.payloads.place import place
from classifiers.shell.payloads.script_files import given, run_file
from classifiers.shell.payloads.scripts import run_string
from classifiers.shell.payloads.stdin import feed, read_stdin
from classifiers.shell.state import Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator
    from classifiers.shell.redirects import Plan

MAX_DEPTH = 8


def hand_on(ev: Evaluator, item: Handed, state: State, scope: Scope, plan: Plan | None) -> Stream:
    """Read one payload. Returns what it prints."""
    inner = inner_scope(scope, item.fields, item.via)
    if not ev.known(inner.where):
        inner = replace(inner, where="unknown")
    if inner.depth > MAX_DEPTH:
        ev.out.hide(OpaqueReason.DEPTH_CAP, scope.span(item.span), item.via)
        return Stream(None)
    state = place(ev, item.fields, state, inner)
    if item.to.fed:
        inner = replace(inner, stdin=Stream(None, scope.stdin.sources if scope.stdin else ()))
    kind = item.to.kind
    inner = replace(inner, given=given(item.words[0].text if kind == "script" else "-c", item.arguments))
    if kind == "argv":
        return run_words(ev, item, state, inner, plan)
    if kind == "shell":
        runs = with_input(ev, list(item.words), item, inner) if item.to.replace else [item.words]
        inner = replace(inner, stdin=None) if item.to.replace else inner
        return [run_string(ev, replace(item, words=tuple(run)), state, inner) for run in runs][-1]
    if kind == "script" and item.words[0].text in {"-", "/dev/stdin"}:
        kind = "shell" if item.to.language == "shell" else "code"
        kinds = replace(item.to, kind=kind, via=item.via)
        outer = replace(scope, given=inner.given)
        read_stdin(ev, kinds, item.words, item.to.language, state, outer, plan)
        return Stream(None)
    if kind == "script":
        return run_file(ev, item.words[0], state, inner, language=item.to.language)
    if kind == "http":
        return request(ev, item, state, inner)
    text = item.words[0].text if len(item.words) == 1 else " ".join(w.text for w in item.words)
    if kind == "code" and (item.to.language in ESCAPES or item.to.language in {"transfer", "expect"}):
        return feed(ev, Stream(text), item.to.language, item.span, state, inner, item.to)
    return read_elsewhere(ev, kind, text, item.to, item.span, item.words, state, inner, item.fields)
