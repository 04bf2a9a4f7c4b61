# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Builtins that change the folder the shell is in. In: the words. Out: the state's ``cwd``."""

from __future__ import annotations

from classifiers.knowledge.words import Word
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.redirects import Plan
from classifiers.shell.state import EMPTY, Scope, State

Words = list[Word]


def _cd(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    operands = [w.text for w in words[1:] if not (w.text.startswith("-") and len(w.text) > 1) and w.text != "--"]
    if operands in (["."], ["./"]):
        return EMPTY, None
    target = operands[0] if operands else (state.context.home or "~")
    if target == "-":
        state.chdir(ev.unknowns.mark("$OLDPWD"))
    else:
        state.enter(target, known=ev.known)
    return EMPTY, None


def _popd(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    state.chdir(ev.unknowns.mark("$(popd)"))
    return EMPTY, None


BUILTINS = {**dict.fromkeys(("cd", "pushd"), _cd), "popd": _popd}
