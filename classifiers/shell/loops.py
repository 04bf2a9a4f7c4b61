"""Loops: the body once for each literal value, else once for any; what it changes differently is unknown after it."""

from __future__ import annotations

from classifiers.effects import Condition, Domain, Verb
from classifiers.knowledge.words import Word
from classifiers.shell import ir
from classifiers.shell.emit import tell
from classifiers.shell.endless import piles_up
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.state import EMPTY, Scope, State, Stream

MAX_TURNS = 20  # of a loop over literal values


def loop(ev: Evaluator, node: ir.Loop, state: State, scope: Scope) -> Result:
    """``while``, ``until`` and ``for``."""
    inner = scope.under(Condition.LOOP)
    branch = state.copy()
    if piles_up(node):
        _flood(ev, node, state, inner)
    if node.condition is not None:
        _, truth = ev.body(node.condition, branch, scope)
        if truth is not None and truth == node.until:
            return EMPTY, True
        stream, _ = ev.body(node.body, branch, inner)
    elif node.variable:
        stream = _each(ev, node, branch, state, inner)
    else:
        for assign in node.assigns:
            branch.vars[assign.name] = None
        stream, _ = ev.body(node.body, branch, inner)
    if node.variable and branch.vars.get(node.variable) == state.vars.get(node.variable):
        branch.vars.pop(node.variable, None)
    state.merge(branch)
    for name in _read_by(node.condition or []):
        state.vars[name] = None  # the line that was not there is empty
    return Stream(None, stream.sources), None


def _read_by(condition: ir.Body) -> list[str]:
    """Names that ``while read a b`` sets."""
    reads = [s for s in condition if isinstance(s, ir.Simple) and s.words and s.words[0].raw == "read"]
    return [w.raw for s in reads for w in s.words[1:] if w.raw.isidentifier()]


def _flood(ev: Evaluator, node: ir.Loop, state: State, scope: Scope) -> None:
    """A loop that starts processes without end."""
    work = next((s.body for s in node.body if isinstance(s, ir.Background)), None)
    span = work.span if isinstance(work, ir.Simple) else (0, 0)
    told = {"destructive": None, "breadth": "all", "tags": ("availability",)}
    tell(ev, Verb.CONTROL, Domain.PROCESS, None, span, state, scope, **told)


def _each(ev: Evaluator, node: ir.Loop, branch: State, state: State, scope: Scope) -> Stream:
    """A for loop: each literal value in turn, or one unknown value."""
    expander = ev.expander(state, scope)
    name = node.variable or ""
    words = (
        [Word(ev.unknowns.mark('"$@"'))] if node.words is None else [f for w in node.words for f in expander.fields(w)]
    )
    if node.words is None and isinstance(state.vars.get("@"), list):
        words = [Word(v) for v in state.vars["@"] or []]
    printed: list[Stream] = []
    for word in words[:MAX_TURNS]:
        branch.vars[name] = word.text
        (branch.globby.add if word.glob else branch.globby.discard)(name)
        stream, _ = ev.body(node.body, branch, scope)
        printed.append(stream)
    if len(words) > MAX_TURNS:
        branch.vars[name] = None
        ev.body(node.body, branch, scope)
    return ev.together(printed)
