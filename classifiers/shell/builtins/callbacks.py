# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Builtins that run a command given to them as an argument, or make a name run another one.

``complete -C``, ``bind -x``, ``mapfile -C``, ``jobs -x``, ``fc``, ``hash -p``, and names whose subscript is evaluated.
In: the words. Out: what the builtin prints and whether it succeeds; the effects of what it runs go to the evaluator.
"""

from __future__ import annotations

import itertools

from classifiers.effects import Condition, Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed
from classifiers.knowledge.words import Word
from classifiers.shell.conditions import set_by
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.payloads.handing import hand_on
from classifiers.shell.redirects import Plan
from classifiers.shell.state import EMPTY, Scope, State, Stream
from classifiers.shell.subscripts import evaluated, expanded, subscripts

Words = list[Word]


def _completion(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``complete -C command``: run when the user presses tab; ``compgen -C`` at once."""
    inner = scope if words[0].text == "compgen" else scope.under(Condition.DEFERRED)
    callback(ev, words, "-C", state, inner, plan)
    for flag, word in itertools.pairwise(words):
        if flag.text == "-W" and ("$(" in word.text or "`" in word.text):  # the list of words is expanded
            expanded(ev, word.text, word.span, state, inner)
    return Stream(None), None


def _bind(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``bind -x 'key: command'``: run when the key is pressed."""
    bound = [w.with_text(w.text.partition(":")[2]) if w.text.partition(":")[1] else w for w in words]
    callback(ev, bound, "-x", state, scope.under(Condition.DEFERRED), plan)
    return EMPTY, None


def callback(ev: Evaluator, words: Words, option: str, state: State, scope: Scope, plan: Plan) -> None:
    for flag, word in itertools.pairwise(words):
        if flag.text == option:
            item = Handed(Delegate("shell"), (word,), {}, word.span, words[0].text)
            hand_on(ev, item, state.copy(), scope, plan)


def _history_command(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``fc`` edits and runs an earlier command, which the call does not show; ``fc -l`` lists."""
    if not any(w.text.startswith("-") and "l" in w.text for w in words[1:]):
        tell(ev, Verb.EXECUTE, Domain.CODE, None, words[0].span, state, scope, destructive=None)
        ev.out.hide(OpaqueReason.DYNAMIC_COMMAND, scope.span(words[0].span), "a command of the history")
    return Stream(None), None


def _jobs(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``jobs -x command``: run it; else a list."""
    if len(words) > 2 and words[1].text == "-x":
        hand_on(ev, Handed(Delegate("argv"), tuple(words[2:]), {}, words[2].span, "jobs -x"), state, scope, plan)
    return Stream(None), None


def _hashed(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``hash -p file name``: from now on that name means another program."""
    if len(words) > 3 and words[1].text == "-p":
        state.hashed[words[3].text] = words[2].text
        tell(
            ev, Verb.MODIFY, Domain.ENVIRONMENT, f"hash:{words[3].text}", words[3].span, state, scope,
            reversibility="reversible", tags=("defense_evasion",),
        )  # fmt: skip
    return EMPTY, None


def _arithmetic(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    subscripts(ev, words, state, scope)
    for word in words[1:]:
        evaluated(ev, word.text, word.span, state, scope)
    for word in words[1:]:
        set_by(word.text, state)
    return EMPTY, None


def _awaited(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``wait -p name``."""
    subscripts(ev, words, state, scope)
    return EMPTY, None


BUILTINS = {
    **dict.fromkeys(("complete", "compgen"), _completion),
    "bind": _bind,
    "fc": _history_command,
    "jobs": _jobs,
    "hash": _hashed,
    "let": _arithmetic,
    "wait": _awaited,
}
