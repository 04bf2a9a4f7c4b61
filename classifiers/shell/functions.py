"""Functions of the script: a call's words in, what the body does with them as ``$1`` … out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.state import Call, Scope, State, Stream

MAX_CALLS = 12  # one within the other
MAX_EXACT = 8  # of one function within itself, while every argument is known
MAX_AGAIN = 3  # with arguments that are patterns or unknown; the next call stands for all further ones


def call_function(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope) -> Result:
    """A function of this script: its body runs with the arguments as ``$1`` …"""
    name, args, body = words[0].text, [w.text for w in words[1:]], state.functions[words[0].text]
    saved, outer, left = state.positional(), dict(state.vars), state.left
    running = [call for call in state.running(name) if call.body is body]
    state.hand({"@": args, **{str(i): a for i, a in enumerate(args, 1)}})
    if running and (running[-1].widened or running[-1].vars == state.vars):
        if running[-1].condition is scope.condition and not left and not running[-1].widened:
            _calls_itself(ev, words[0], len(running), state, scope)
        state.hand(saved)
        return Stream(None), None
    if len(state.calls) >= MAX_CALLS:
        ev.out.hide(OpaqueReason.DEPTH_CAP, scope.span(words[0].span), name)
        return Stream(None), None
    exact = all(ev.known(a) and "*" not in a for a in args)
    widened = len(running) >= (MAX_EXACT if exact else MAX_AGAIN)
    if widened:
        state.vars = dict.fromkeys(k for k in state.vars if k != "@" and not k.isdigit())
    state.calls = (*state.calls, Call(name, body, dict(state.vars), scope.condition, widened=widened))
    state.left = False
    state.locals.append(set())
    stream, truth = ev.body(body, state, replace(scope, via=(*scope.via, f"{name}()")))
    state.calls, state.left, state.exited = state.calls[:-1], left, False
    for local in state.locals.pop():
        state.vars.pop(local, None)
        if local in outer:
            state.vars[local] = outer[local]
    state.hand(saved)
    return stream, truth


def _calls_itself(ev: Evaluator, name: Word, deep: int, state: State, scope: Scope) -> None:
    """The same call again, whatever happens before: it has no end."""
    if deep == 1 and "forks" not in state.vars:
        told = {"destructive": None, "tags": ("availability",), "breadth": "all"}
        tell(ev, Verb.CONTROL, Domain.PROCESS, None, name.span, state, scope, **told)
