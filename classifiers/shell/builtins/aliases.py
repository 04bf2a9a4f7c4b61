# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Aliases: what ``alias`` says in, the state's names out; and a call by such a name.

A body is only possible: a script does not expand aliases, the user's next line may.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from classifiers.effects import Certainty, Condition, Domain, Verb
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.payloads.scripts import run_text
from classifiers.shell.redirects import Plan
from classifiers.shell.state import EMPTY, Scope, State, Stream

Words = list[Word]


def _alias(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """An alias's body is only possible: a script does not expand aliases, the user's next line may."""
    for word in words[1:]:
        name, eq, body = word.text.partition("=")
        if not eq or not name:
            continue
        tell(ev, Verb.MODIFY, Domain.ENVIRONMENT, f"alias:{name}", word.span, state, scope, reversibility="reversible")
        inner = replace(
            scope.under(Condition.DEFERRED), certainty=Certainty.POSSIBLE, via=(*scope.via, f"alias {name}")
        )
        if ev.known(body):
            run_text(
                ev,
                body,
                state.copy(),
                replace(inner, fixed=scope.span(word.span), depth=scope.depth + 1),
                [],
                scope.span(word.span),
            )
        state.aliases[name] = body
    return EMPTY, True


def _unalias(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """Names that are aliases no longer (bash(1), ``unalias``): ``-a`` takes them all out."""
    for word in words[1:]:
        if word.text == "-a":
            state.aliases.clear()
        else:
            state.aliases.pop(word.text, None)
        name = "*" if word.text == "-a" else word.text
        tell(ev, Verb.MODIFY, Domain.ENVIRONMENT, f"alias:{name}", word.span, state, scope, reversibility="reversible")
    return EMPTY, True


def aliased(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope) -> Stream:
    """A call by an alias: its body and the call's words, if the shell expands it (bash(1), ALIASES: once)."""
    name = words[0]
    body, inner = state.aliases[name.text], state.copy()
    del inner.aliases[name.text]
    given = " ".join(w.text if w.glob else shlex.quote(w.text) for w in words[1:])
    place = scope.span(name.span)
    outer = replace(scope, certainty=Certainty.POSSIBLE, via=(*scope.via, f"alias {name.text}"), fixed=place)
    return run_text(ev, f"{body} {given}", inner, replace(outer, depth=scope.depth + 1), [], place)


BUILTINS = {"alias": _alias, "unalias": _unalias}
