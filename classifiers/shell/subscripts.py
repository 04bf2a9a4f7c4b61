"""Names whose subscript is evaluated, and text expanded outside any command: what is substituted there runs.

In: words or an expression. Out: nothing; the effects of what runs go to the evaluator.
"""

from __future__ import annotations

import re

from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed
from classifiers.knowledge.words import Word
from classifiers.shell.evaluate import Evaluator
from classifiers.shell.payloads.handing import hand_on
from classifiers.shell.state import Scope, State

_SUBSCRIPT = re.compile(r"(?:[A-Za-z_]\w*|=\()\[(.*?(?:\$\(|`|\$\{).*?)\]", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")
MAX_NAMES = 20


def subscripts(ev: Evaluator, words: list[Word], state: State, scope: Scope) -> None:
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
