# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Builtins that only succeed or fail, print, end the script, or forget its history.

In: the words. Out: what the builtin prints and whether it succeeds.
"""

from __future__ import annotations

from classifiers.effects import Domain, Verb
from classifiers.knowledge.words import Word
from classifiers.shell import conditions
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.redirects import Plan
from classifiers.shell.state import EMPTY, Scope, State, Stream

Words = list[Word]
_QUIET = """unalias shopt ulimit umask getopts break continue local declare typeset readonly export unset
bg fg disown compopt suspend times setopt unsetopt autoload zstyle bindkey emulate zmodload
compinit rehash"""


def _exit(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    state.exited = state.left = True
    return EMPTY, None


def _return(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """Outside a function and a sourced file it is refused, and the script goes on (bash(1), ``return``)."""
    state.exited = state.left = bool(state.calls)
    return EMPTY, None


def _true(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    return EMPTY, True


def _false(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    return EMPTY, False


def _quiet(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    return EMPTY, None


def _says(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    return Stream(None), None


def _history(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    if any(w.text.startswith("-") and set(w.text[1:]) & set("cdw") for w in words[1:]):
        tell(
            ev, Verb.DELETE, Domain.FILESYSTEM, "~/.bash_history", (words[0].span[0], words[-1].span[1]), state, scope,
            destructive=True, reversibility="irreversible", tags=("defense_evasion",),
        )  # fmt: skip
    return Stream(None), None


BUILTINS = {
    **dict.fromkeys(_QUIET.split(), _quiet),
    **dict.fromkeys(("type", "dirs", "help", "caller", "whence"), _says),
    **dict.fromkeys(("true", ":"), _true),
    "false": _false,
    **dict.fromkeys(("test", "["), conditions.test),
    **dict.fromkeys(("exit", "logout"), _exit),
    "return": _return,
    "history": _history,
}
