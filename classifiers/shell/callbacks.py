# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Builtins that run a command given to them as an argument, or make a name run another one.

``complete -C``, ``bind -x``, ``mapfile -C``, ``jobs -x``, ``fc``, ``hash -p``, and names whose subscript is evaluated.
In: the words. Out: what the builtin prints and whether it succeeds; the effects of what it runs go to the evaluator.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from classifiers.effects import Condition, Domain, OpaqueReason, Verb
from classifiers.knowledge.interpret import Handed
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.payloads import hand_on
from classifiers.shell.redirects import Plan
from classifiers.shell.state import EMPTY, Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator, Truth

Words = list[Word]


def completion(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``complete -C command``: run when the user presses tab; ``compgen -C`` at once."""
    inner = scope if words[0].text == "compgen" else scope.under(Condition.DEFERRED)
    callback(ev, words, "-C", state, inner, plan)
    return Stream(None), None


def bind(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``bind -x 'key: command'``: run when the key is pressed."""
    bound = [w.with_text(w.text.partition(":")[2]) if w.text.partition(":")[1] else w for w in words]
    callback(ev, bound, "-x", state, scope.under(Condition.DEFERRED), plan)
    return EMPTY, None


def callback(ev: Evaluator, words: Words, option: str, state: State, scope: Scope, plan: Plan) -> None:
    for flag, word in itertools.pairwise(words):
        if flag.text == option:
            item = Handed(Delegate("shell"), (word,), {}, word.span, words[0].text)
            hand_on(ev, item, state.copy(), scope, plan)


def history_command(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``fc`` edits and runs an earlier command, which the call does not show; ``fc -l`` lists."""
    if not any(w.text.startswith("-") and "l" in w.text for w in words[1:]):
        tell(ev, Verb.EXECUTE, Domain.CODE, None, words[0].span, state, scope, destructive=None)
        ev.out.hide(OpaqueReason.DYNAMIC_COMMAND, scope.span(words[0].span), "a command of the history")
    return Stream(None), None


def jobs(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``jobs -x command``: run it; else a list."""
    if len(words) > 2 and words[1].text == "-x":
        hand_on(ev, Handed(Delegate("argv"), tuple(words[2:]), {}, words[2].span, "jobs -x"), state, scope, plan)
    return Stream(None), None


def hashed(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``hash -p file name``: from now on that name means another program."""
    if len(words) > 3 and words[1].text == "-p":
        state.hashed[words[3].text] = words[2].text
        tell(
            ev, Verb.MODIFY, Domain.ENVIRONMENT, f"hash:{words[3].text}", words[3].span, state, scope,
            reversibility="reversible", tags=("defense_evasion",),
        )  # fmt: skip
    return EMPTY, None


_SUBSCRIPT = re.compile(r"(?:[A-Za-z_]\w*|=\()\[(.*?(?:\$\(|`|\$\{).*?)\]", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
MAX_NAMES = 20


def subscripts(ev: Evaluator, words: Words, state: State, scope: Scope) -> None:
    """Where a name is expected its subscript is evaluated: ``let 'a[$(cmd)]=1'`` runs ``cmd`` (bash(1) ARRAYS)."""
    for word in words[1:]:
        match = _SUBSCRIPT.search(word.text)
        if match is not None:
            expanded(ev, match[1], word.span, state, scope)


def expanded(ev: Evaluator, text: str, span: tuple[int, int], state: State, scope: Scope) -> None:
    """Text the shell expands outside any command: what is substituted in it runs."""
    script = Word(f": {text}", span)
    hand_on(ev, Handed(Delegate("shell"), (script,), {}, span, ""), state.copy(), scope, None)


def evaluated(ev: Evaluator, text: str, span: tuple[int, int], state: State, scope: Scope) -> None:
    """An arithmetic expression: commands in the subscripts that its variables' values hold run."""
    for name in dict.fromkeys(_NAME.findall(text)[:MAX_NAMES]):
        value = state.vars.get(name)
        if isinstance(value, str) and "[" in value and ev.known(value):
            subscripts(ev, [Word(name), Word(value, span)], state, scope)


def arithmetic(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    subscripts(ev, words, state, scope)
    for word in words[1:]:
        evaluated(ev, word.text, word.span, state, scope)
    return EMPTY, None


def awaited(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``wait -p name``."""
    subscripts(ev, words, state, scope)
    return EMPTY, None
