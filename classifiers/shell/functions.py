"""Functions of the script: a call's words in, what the body does with them as ``$1`` … out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.state import Scope, State, Stream

MAX_CALLS = 12  # one within the other


def call_function(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope) -> Result:
    """A function of this script: its body runs with the arguments as ``$1`` …"""
    name = words[0].text
    if name in state.calls:
        if state.calls.count(name) == 1 and "forks" not in state.vars:  # it calls itself without end
            told = {"destructive": None, "tags": ("availability",), "breadth": "all"}
            tell(ev, Verb.CONTROL, Domain.PROCESS, None, words[0].span, state, scope, **told)
        return Stream(None), None
    if len(state.calls) >= MAX_CALLS:
        ev.out.hide(OpaqueReason.DEPTH_CAP, scope.span(words[0].span), name)
        return Stream(None), None
    saved = {k: v for k, v in state.vars.items() if k == "@" or k.isdigit()}
    args = [w.text for w in words[1:]]
    state.vars["@"] = list(args)
    for i in range(1, 10):
        state.vars.pop(str(i), None)
    state.vars.update({str(i): a for i, a in enumerate(args, 1)})
    state.calls = (*state.calls, name)
    outer = dict(state.vars)
    state.locals.append(set())
    stream, truth = ev.body(state.functions[name], state, replace(scope, via=(*scope.via, f"{name}()")))
    state.calls = state.calls[:-1]
    for local in state.locals.pop():
        state.vars.pop(local, None)
        if local in outer:
            state.vars[local] = outer[local]
    state.exited = False
    for key in [k for k in state.vars if k == "@" or k.isdigit()]:
        del state.vars[key]
    state.vars.update(saved)
    return stream, truth
