"""Tests and arithmetic: a condition in, whether it holds out (None: either way). Commands in their subscripts run."""

from __future__ import annotations

import re
from collections.abc import Callable

from classifiers.knowledge.words import Word
from classifiers.shell import ir
from classifiers.shell.evaluate import Evaluator, Result, Truth
from classifiers.shell.redirects import Plan
from classifiers.shell.state import EMPTY, Scope, State
from classifiers.shell.subscripts import evaluated, subscripts

# Tests whose operands are arithmetic expressions or names with a subscript; commands outside quotes are told apart.
_EVALUATES = re.compile(r"\A\(\(|\A\$?\[.*\s-(?:v|eq|ne|lt|le|gt|ge)\s", re.DOTALL)
_COMMANDS = re.compile(r"\$\([^()]*\)|`[^`]*`")
_PLAIN_TEST = re.compile(r"\[\[?\s+([\w./-]+)\s+(==?|!=|-eq|-ne)\s+([\w./-]+)\s+\]\]?")
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-gt": lambda a, b: a > b,
    "-le": lambda a, b: a <= b,
    "-ge": lambda a, b: a >= b,
}
_SETS = re.compile(r"\b([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&|^]|<<|>>)?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)")
_MAX_DIGITS = 10


def decided(test: str) -> Truth:
    """``[ a = b ]`` of plain words is decided; every other test may go either way."""
    match = _PLAIN_TEST.fullmatch(test)
    return None if match is None else (match[1] == match[3]) == (match[2] in {"=", "==", "-eq"})


def arithmetic(ev: Evaluator, raw: str, state: State, scope: Scope) -> None:
    """An expression that is evaluated: commands in the subscripts of its names' values run."""
    evaluated(ev, _COMMANDS.sub("", raw), (0, 0), state, scope)
    set_by(raw, state)


def set_by(raw: str, state: State) -> None:
    """Names an expression sets (``i++``, ``n = n - 1``) hold what nobody works out here."""
    for match in _SETS.finditer(raw):
        state.vars[match[1] or match[2]] = None


def tested(ev: Evaluator, node: ir.Test, state: State, scope: Scope) -> Result:
    """``[[ … ]]`` and ``(( … ))``."""
    expander = ev.expander(state, scope)
    for word in node.words:
        expander.chunks(word.parts)
    if _EVALUATES.search(node.raw):
        evaluated(ev, _COMMANDS.sub("", node.raw), node.span, state, scope)
        subscripts(ev, [Word("["), Word(node.raw, node.span)], state, scope)
    if node.raw.startswith("(("):
        set_by(node.raw, state)
    return EMPTY, decided(node.raw)


def test(
    ev: Evaluator,
    words: list[Word],
    state: State,
    scope: Scope,
    plan: Plan,  # noqa: ARG001 - a builtin's shape
) -> Result:
    """``[ a = b ]`` of plain words is decided; everything else may go either way."""
    args = [w.text for w in words[1:] if w.text != "]"]
    subscripts(ev, words, state, scope)
    if any(w.propagated for w in words[1:]):  # a variable: a default, or what a caller may have set
        return EMPTY, None
    if len(args) == 3 and all(ev.known(a) for a in args) and args[1] in {"=", "==", "!="}:
        return EMPTY, (args[0] == args[2]) == (args[1] != "!=")
    if len(args) == 3 and all(a.isdigit() and len(a) < _MAX_DIGITS for a in (args[0], args[2])) and args[1] in _COMPARE:
        return EMPTY, _COMPARE[args[1]](int(args[0]), int(args[2]))
    return EMPTY, None
