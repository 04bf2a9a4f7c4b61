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
        _again(ev, node, branch, state, inner)
    elif node.variable:
        stream, exact = _each(ev, node, branch, state, inner)
        if not exact:
            _again(ev, node, branch, state, inner)
    else:
        for assign in node.assigns:
            branch.vars[assign.name] = None
        stream, _ = ev.body(node.body, branch, inner)
        _again(ev, node, branch, state, inner)
    if node.variable and branch.vars.get(node.variable) == state.vars.get(node.variable):
        branch.vars.pop(node.variable, None)
    state.merge(branch)
    for name in _read_by(node.condition or []):
        state.vars[name] = None  # the line that was not there is empty
    return Stream(None, stream.sources), None


def _again(ev: Evaluator, node: ir.Loop, branch: State, state: State, scope: Scope) -> None:
    """Later turns: arguments that are shifted away one by one; else once more, what the first turn changed unknown."""
    for _ in range(MAX_TURNS):
        left, before = branch.vars.get("@"), state.vars.get("@")
        if not (isinstance(left, list) and isinstance(before, list) and left and len(left) < len(before)):
            break
        ev.body(node.body, branch, scope)
    if branch.vars.get("@", _NONE) != state.vars.get("@", _NONE) and branch.vars.get("@") == []:
        return
    changed = {
        name
        for name in (*branch.vars, *state.vars)
        if branch.vars.get(name, _NONE) != state.vars.get(name, _NONE)
        and (branch.vars.get(name) is not None or name in state.vars)
        and name != node.variable
    }
    if not changed or branch.exited:
        return
    for name in changed:
        branch.vars[name] = None
    if "@" in changed:
        branch.hand({})
    if node.condition is not None:
        ev.body(node.condition, branch, scope)
    ev.body(node.body, branch, scope)


_NONE = object()


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


def _each(ev: Evaluator, node: ir.Loop, branch: State, state: State, scope: Scope) -> tuple[Stream, bool]:
    """A for loop: each literal value in turn, or one unknown value; and whether these were all its turns."""
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
    exact = len(words) <= MAX_TURNS and all(ev.known(w.text) and not w.glob for w in words)
    return ev.together(printed), exact
