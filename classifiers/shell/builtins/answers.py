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
_QUIET = """shopt ulimit umask getopts break continue local declare typeset readonly export unset
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
    """``-c`` and ``-d`` lose lines; ``-w`` writes a file anew, ``-a`` appends: the one named, or the shell's own."""
    letters = {c for w in words[1:] if w.text.startswith("-") for c in w.text[1:]}
    named = next((w.text for w in words[1:] if not w.text.startswith("-")), None)
    own = state.vars.get("HISTFILE")
    file = named or (own if isinstance(own, str) and own else "~/.bash_history")
    span = words[0].span[0], words[-1].span[1]
    lost = {"destructive": True, "reversibility": "irreversible", "tags": ("defense_evasion",)}
    if letters & set("cd"):
        tell(ev, Verb.DELETE, Domain.FILESYSTEM, "~/.bash_history", span, state, scope, **lost)
    if letters & set("wa"):
        written = {"destructive": None if "w" in letters else False, "reversibility": "reversible"}
        tell(ev, Verb.MODIFY, Domain.FILESYSTEM, file, span, state, scope, **written)
    if letters & set("rn"):
        tell(ev, Verb.READ, Domain.FILESYSTEM, file, span, state, scope, reversibility="read_only")
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
