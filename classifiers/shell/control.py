"""Control flow: lists, pipes, branches, functions. A statement in, its parts walked in order.

One table row per statement of the IR. What one simple command does is ``run.py``'s business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from classifiers.effects import Condition, OpaqueReason
from classifiers.shell import ir
from classifiers.shell.conditions import tested
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.expand.parameters import is_guess
from classifiers.shell.loops import loop
from classifiers.shell.redirects import apply_redirects
from classifiers.shell.run import run_simple
from classifiers.shell.state import EMPTY, Scope, State, Stream, stdin_of


def _simple(ev: Evaluator, node: ir.Simple, state: State, scope: Scope) -> Result:
    ev.out.tick()
    return run_simple(ev, node, state, scope)


def _pipeline(ev: Evaluator, node: ir.Pipeline, state: State, scope: Scope) -> Result:
    stream, truth = scope.stdin, None
    for i, item in enumerate(node.items):
        inner = state if i == len(node.items) - 1 and len(node.items) == 1 else state.copy()
        stream, truth = ev.statement(item, inner, replace(scope, stdin=stream))
    if node.negated and truth is not None:
        truth = not truth
    return stream or EMPTY, truth


def _and_or(ev: Evaluator, node: ir.AndOr, state: State, scope: Scope) -> Result:
    left, truth = ev.statement(node.left, state, scope)
    wanted = node.op == "&&"
    if state.exited:
        return left, truth
    if truth is not None and truth != wanted:
        return left, truth
    certain = truth is not None
    condition = Condition.ON_SUCCESS if wanted else Condition.ON_FAILURE
    inner = scope if certain else scope.under(condition)
    if wanted or certain:
        before = state.context.cwd
        right, after = ev.statement(node.right, state, inner)
        if not certain and state.context.cwd != before and _is_test(node.left):
            state.chdir(None)  # ``[ -d d ] && cd d``: in one folder or the other
        if not certain:
            state.exited = False
    else:
        branch = state.copy()
        right, after = ev.statement(node.right, branch, inner)
        state.merge(branch)
    if certain:
        return ev.together([left, right]), after
    return ev.together([left, right]), (
        True if not wanted and after is True else False if wanted and after is False else None
    )


def _is_test(node: ir.Stmt) -> bool:
    return isinstance(node, ir.Test) or (
        isinstance(node, ir.Simple) and bool(node.words) and node.words[0].raw in {"[", "test"}
    )


def _background(ev: Evaluator, node: ir.Background, state: State, scope: Scope) -> Result:
    ev.statement(node.body, state.copy(), scope)
    return EMPTY, True


def _group(ev: Evaluator, node: ir.Group, state: State, scope: Scope) -> Result:
    inner = state.copy() if node.subshell else state
    if not node.redirects:
        return ev.body(node.body, inner, scope)
    plan = apply_redirects(ev, node.redirects, state, scope)
    stdin = stdin_of(plan.stdin, scope.stdin)
    stream, truth = ev.body(node.body, inner, replace(scope, stdin=stdin))
    plan.wrote(ev, state, scope, stream)
    return (EMPTY if plan.stdout_taken else stream), truth


def _if(ev: Evaluator, node: ir.If, state: State, scope: Scope) -> Result:
    printed: list[Stream] = []
    branches: list[State] = []
    certain = True
    for condition, body in node.branches:
        inner = scope if certain else scope.under(Condition.BRANCH)
        _, truth = ev.body(condition, state, inner)
        if truth is False:
            continue
        branch = state.copy()
        stream, _ = ev.body(body, branch, inner if truth else scope.under(Condition.BRANCH))
        printed.append(stream)
        branches.append(branch)
        if truth is True:
            state.merge(*branches)
            if certain:
                _adopt(state, branch)
            return ev.together(printed), None
        certain = False
    if node.otherwise is not None:
        branch = state.copy()
        stream, _ = ev.body(node.otherwise, branch, scope if certain else scope.under(Condition.BRANCH))
        printed.append(stream)
        branches.append(branch)
    state.merge(*branches)
    return ev.together(printed), None


def _adopt(state: State, branch: State) -> None:
    """The branch certainly runs: its changes are ours."""
    state.vars, state.context, state.exited = branch.vars, branch.context, branch.exited


def _case(ev: Evaluator, node: ir.Case, state: State, scope: Scope) -> Result:
    expander = ev.expander(state, scope)
    value = expander.text(node.word)
    known = ev.known(value) and not is_guess(node.word, state)
    branches: list[State] = []
    printed: list[Stream] = []
    falls = False
    for (patterns, body), end in zip(node.arms, node.ends, strict=True):
        texts = [expander.text(p) for p in patterns]
        if falls or (known and all(ev.known(t) for t in texts)):
            if not falls and not any(fnmatchcase(value, t) for t in texts):
                continue
            stream, truth = ev.body(body, state, scope)
            falls = end == ";&"
            if end == ";;":
                return stream, truth
            continue
        branch = state.copy()
        stream, _ = ev.body(body, branch, scope.under(Condition.BRANCH))
        printed.append(stream)
        branches.append(branch)
    state.merge(*branches)
    return ev.together(printed), None


def _function(ev: Evaluator, node: ir.Function, state: State, scope: Scope) -> Result:  # noqa: ARG001 - one shape
    state.functions[node.name] = node.body
    return EMPTY, True


def _broken(ev: Evaluator, node: ir.Broken, state: State, scope: Scope) -> Result:  # noqa: ARG001 - one shape
    ev.out.hide(OpaqueReason.PARSE_ERROR, scope.span(node.span), node.raw)
    return Stream(None), None


STATEMENTS: dict[type, Callable[[Evaluator, Any, State, Scope], Result]] = {
    ir.Simple: _simple,
    ir.Pipeline: _pipeline,
    ir.AndOr: _and_or,
    ir.Background: _background,
    ir.Group: _group,
    ir.If: _if,
    ir.Loop: loop,
    ir.Case: _case,
    ir.Function: _function,
    ir.Test: tested,
    ir.Broken: _broken,
}
