"""What one simple command does: assignments, redirections, then builtin, function or program by its knowledge.

``run_simple`` takes a parsed command; ``run_argv`` a list of words some wrapper handed on. Both return what the command
prints and whether it certainly succeeds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from classifiers.effects import Certainty
from classifiers.knowledge.words import Word
from classifiers.shell import hooks, ir
from classifiers.shell.builtins import BUILTINS
from classifiers.shell.builtins.aliases import aliased
from classifiers.shell.environment import (
    Values,
    as_git_options,
    assign_variable,
    assigned_value,
    declare,
    hooked,
    with_options,
)
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.functions import call_function
from classifiers.shell.programs import run_program
from classifiers.shell.redirects import Plan, apply_redirects
from classifiers.shell.run_by_variables import programs_by_environment
from classifiers.shell.state import EMPTY, Scope, State, stdin_of
from classifiers.shell.strangers import run_dynamic
from classifiers.shell.streams import printed

_SPLIT_QUOTES = re.compile(r"\w(?:''|\"\")\w|\w'[^']*'|\w\"[^\"$]*\"|\$'|\w\\\w|\$\{?IFS")
_FOUND = re.compile(
    r"(?:\$\(|`)\s*(?:which|command -v|type -[pP])\s+([A-Za-z_][\w.+-]*)(?:\s+2>\s*/dev/null)?\s*(?:\)|`)"
)
_ESCAPE = re.compile(r":?!+[\w/.~]")
_QUIET = frozenset({":", "true", "echo", "printf"})
_SHELL_VARIABLE = frozenset({"$SHELL", "${SHELL}"})


def run_simple(ev: Evaluator, node: ir.Simple, state: State, scope: Scope) -> Result:
    """Expand, redirect, dispatch."""
    if node.declare:
        return declare(ev, node, state, scope)
    expander = ev.expander(state, scope)
    words = [f for w in node.words for f in expander.fields(w)]
    ev.out.tick()
    values = {a.name: assigned_value(ev, a, state, scope) for a in node.assigns}
    if not words:
        return _without_words(ev, node, values, state, scope)
    if values:
        hooked(ev, values, node.assigns[0].span, state, scope)
    if node.words and _SPLIT_QUOTES.search(node.words[0].raw) and ev.known(words[0].text):
        scope = replace(scope, tags=(*scope.tags, "obfuscated", "defense_evasion"))
    programs_by_environment(ev, node.assigns, state, scope, values)
    words = as_git_options(with_options(words, values, state), values)
    plan = apply_redirects(ev, node.redirects, state, scope, truncates=_prints_nothing(ev, words, node.redirects))
    if words[0].text == "exec" and len(words) == 1 and plan.stdin is not None:
        state.inputs[0] = plan.stdin  # the shell itself reads from there now
    stdin = stdin_of(plan.stdin, scope.stdin or state.inputs.get(0))
    inner = scope if stdin is scope.stdin else replace(scope, stdin=stdin)
    before = {name: state.vars[name] for name in values if name in state.vars}
    state.vars.update(values)  # what the command's own payload sees: X=… sh -c '$X'
    stream, truth = run_argv(ev, words, state, inner, plan)
    for name, value in values.items():
        if state.vars.get(name) is value:
            state.vars.pop(name, None)
            if name in before:
                state.vars[name] = before[name]
    plan.wrote(ev, state, scope, stream)
    return (replace(EMPTY, sources=stream.sources) if plan.stdout_taken else stream), truth


def _prints_nothing(ev: Evaluator, words: Sequence[Word], redirects: Sequence[ir.Redirect]) -> bool:
    """``: > f``, ``echo -n > f``, ``cat /dev/null > f``: what is left of the file is nothing."""
    if not redirects:
        return False  # nobody asks
    program, args = words[0].text, [w.text for w in words[1:]]
    if program == "cat":
        fed = [r.target.raw for r in redirects if r.op == "<" and r.target is not None]
        return args == ["/dev/null"] or (not args and fed == ["/dev/null"])
    return program in _QUIET and all(map(ev.known, args)) and printed(program, args, None) == ""


def _without_words(ev: Evaluator, node: ir.Simple, values: Values, state: State, scope: Scope) -> Result:
    """Assignments for the script itself, or redirections alone."""
    if not node.words:
        for assign in node.assigns:
            assign_variable(state, assign, values[assign.name])
        hooked(ev, {n: v for n, v in values.items() if n in hooks.AT_ONCE}, node.span, state, scope)
        programs_by_environment(ev, node.assigns, state, scope)
    plan = apply_redirects(ev, node.redirects, state, scope, truncates=True)
    plan.wrote(ev, state, scope, EMPTY)
    if plan.stdin is not None and not node.words and not node.assigns:
        return plan.stdin, None  # $(< file) is the file's text
    return EMPTY, True if not node.words else None


def run_argv(ev: Evaluator, words: Sequence[Word], state: State, scope: Scope, plan: Plan | None = None) -> Result:
    """Run one command given as words."""
    if _ESCAPE.match(words[0].text):  # a line typed into a pager or an editor: !/bin/sh
        words = [words[0].with_text(words[0].text.lstrip(":!")), *words[1:]]
        scope = replace(scope, certainty=Certainty.POSSIBLE)
    if not ev.known(words[0].text):
        words = _found(ev, words)
    name, text = words[0], words[0].text
    if not ev.known(text) or (name.glob and "/" in text) or (name.glob and len(text) > 1):
        return run_dynamic(ev, words, state, scope, plan)
    if "/" not in text:
        if text in state.functions:
            return call_function(ev, words, state, scope)
        if text in BUILTINS:
            return BUILTINS[text](ev, list(words), state, scope, plan or Plan())
        if text in state.hashed:
            return run_program(ev, [name.with_text(state.hashed[text]), *words[1:]], state, scope, plan)
        if text in state.aliases:
            return aliased(ev, words, state, scope), None
    return run_program(ev, words, state, scope, plan)


def _found(ev: Evaluator, words: Sequence[Word]) -> Sequence[Word]:
    """``"$(command -v python3)" x.py`` names python3, ``$SHELL`` the user's own shell."""
    raw = ev.unknowns.reveal(words[0].text)
    if found := _FOUND.fullmatch(raw):
        return [words[0].with_text(found[1]), *words[1:]]
    return [words[0].with_text("bash"), *words[1:]] if raw in _SHELL_VARIABLE else words
