"""Variables: assignments, export and its kin, and variables that make programs run something or take options.

In: a command's assignments. Out: the state's variables, and effects where the environment or a command is meant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.words import Word
from classifiers.shell import hooks, ir
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.expand import Expander
from classifiers.shell.expand.parameters import is_guess
from classifiers.shell.flows import is_remote
from classifiers.shell.redirects import apply_redirects
from classifiers.shell.run_by_variables import programs_by_environment
from classifiers.shell.state import EMPTY, Scope, State, Stream, Value
from classifiers.shell.subscripts import expanded, subscripts

Values = dict[str, Value | None]
_ARCHIVE = re.compile(r"--file\b|-[a-zA-Z]*f|[a-zA-Z]*f[a-zA-Z]*\Z")  # tar was told which archive
MAX_VALUE = 100_000  # characters of a variable that is kept: doubled a few times it would fill the memory
_FUNCTIONS = frozenset({"-f", "-F"})
_PLACE = re.compile(r"\[[^\]]*\]=")
_PLACED = re.compile(r"\[([^\]]*)\]=(.*)", re.DOTALL)  # [subscript]=value within (…)
_OPTIONS_OF = {
    "tar": "TAR_OPTIONS",
    "bsdtar": "TAR_OPTIONS",
    "gtar": "TAR_OPTIONS",
    "zip": "ZIPOPT",
    "unzip": "UNZIP",
    "grep": "GREP_OPTIONS",
}


def assigned_value(ev: Evaluator, assign: ir.Assign, state: State, scope: Scope) -> Value | None:
    expander = ev.expander(state, scope)
    if assign.index is not None and any(mark in assign.index for mark in ("$(", "`", "${")):
        expanded(ev, assign.index, assign.span, state, scope)
    if assign.array is not None:
        given = [text for w in assign.array for text in _elements(expander, w)]
        placed = [_PLACED.fullmatch(g) for g in given]
        if any(placed):
            return dict(sorted((m[1].strip("'\""), m[2]) if m else (g, g) for m, g in zip(placed, given, strict=True)))
        return list(given)
    text = expander.text(assign.value)
    return text if len(text) <= MAX_VALUE else None


def _elements(expander: Expander, word: ir.WordIR) -> list[str]:
    """One word between an array's brackets: ``[k]=$(cmd)`` is one element, whatever it holds."""
    whole = _PLACE.match(word.raw) is not None
    return [expander.text(word)] if whole else [f.text for f in expander.fields(word)]


def assign_variable(state: State, assign: ir.Assign, value: Value | None) -> None:
    bound = state.refs.get(assign.name)
    if bound is not None:  # another name for that one
        assign = replace(assign, name=bound)
    old = state.vars.get(assign.name)
    if assign.value is not None and is_guess(assign.value, state):
        state.guessed.add(assign.name)
    else:
        state.guessed.discard(assign.name)
    if assign.index is not None:
        places = dict(enumerate(old)) if isinstance(old, list) else old if isinstance(old, dict) else {}
        named = {**{str(k): v for k, v in places.items()}, assign.index.strip("'\""): value}
        known = {k: v for k, v in named.items() if isinstance(v, str)}
        state.vars[assign.name] = dict(sorted(known.items())) if known else None
    elif not assign.append:
        state.vars[assign.name] = value
    elif isinstance(old, str) and isinstance(value, str):
        state.vars[assign.name] = old + value if len(old) + len(value) <= MAX_VALUE else None
    else:
        state.vars[assign.name] = [*old, *value] if isinstance(old, list) and isinstance(value, list) else None
    state.globby.discard(assign.name)
    if isinstance(value, str) and any(c in value for c in "*?["):
        state.globby.add(assign.name)


def node_word(node: ir.Simple) -> Word:
    return Word(node.declare, node.span)


def declare(ev: Evaluator, node: ir.Simple, state: State, scope: Scope) -> Result:
    """export, declare, local, readonly, unset: names change; exported ones are the environment's."""
    plan = apply_redirects(ev, node.redirects, state, scope)
    expander = ev.expander(state, scope)
    words = [f for w in node.words[1:] for f in expander.fields(w)]
    subscripts(ev, [node_word(node), *words], state, scope)
    for stream, word in ((s, w) for w in words for s in ev.streams_in([w])):
        if any(is_remote(ev.out.effects[i]) for i in stream.sources):
            ev.out.hide(OpaqueReason.DYNAMIC_COMMAND, scope.span(word.span), "names and values from another machine")
    for assign in node.assigns:
        assign_variable(state, assign, assigned_value(ev, assign, state, scope))
    flags = {w.text for w in words if w.text.startswith("-")}
    if any("n" in f for f in flags) and node.declare in {"declare", "local", "typeset"}:
        for assign in node.assigns:  # another name for a variable, whatever that holds later
            named = state.vars.get(assign.name)
            if isinstance(named, str):
                state.refs[assign.name] = named
            state.vars[assign.name] = None
    names = [(a.name, a.span) for a in node.assigns] + [(w.text, w.span) for w in words if not w.text.startswith("-")]
    if not names and node.declare in {"export", "declare", "typeset"} and not flags & _FUNCTIONS:  # prints them all
        index = tell(ev, Verb.READ, Domain.ENVIRONMENT, "env:*", node.span, state, scope, reversibility="read_only")
        told = Stream(None, () if index is None else (index,))
        plan.wrote(ev, state, scope, told)
        return (replace(EMPTY, sources=told.sources) if plan.stdout_taken else told), True
    if node.declare in {"local", "declare", "typeset"} and state.locals:
        state.locals[-1].update(name for name, _ in names)
    if node.declare in {"unset", "unsetenv"}:
        for name, _ in names:
            if "-n" in flags:  # the other name, not what it names
                state.refs.pop(name, None)
            elif "-f" in flags:  # only the function of that name
                state.functions.pop(name, None)
            else:
                state.vars[name] = ""
    if (node.declare in {"export", "unset"} or "-x" in flags) and "-p" not in flags and "-f" not in flags:
        for name, span in names:
            verb = Verb.MODIFY
            tell(
                ev,
                verb,
                Domain.ENVIRONMENT,
                f"env:{name}",
                span,
                state,
                scope,
                reversibility="reversible",
                tags=hooks.tags(name, state.vars.get(name)),
            )
    plan.wrote(ev, state, scope, EMPTY)
    if node.declare not in {"unset", "unsetenv"}:
        programs_by_environment(ev, node.assigns, state, scope)
    return EMPTY, True


def with_options(words: list[Word], values: Values, state: State) -> list[Word]:
    """Programs that take options from a variable (GNU tar manual, TAR_OPTIONS): they come before the given ones."""
    program = words[0].text.rpartition("/")[2]
    name = _OPTIONS_OF.get(program)
    value = None if name is None else values.get(name, state.vars.get(name))
    if isinstance(value, str) and value:
        words = [words[0], *(words[0].with_text(t) for t in value.split()), *words[1:]]
    tape = values.get("TAPE", state.vars.get("TAPE")) if name == "TAR_OPTIONS" else None
    if isinstance(tape, str) and tape and not any(_ARCHIVE.match(w.text) for w in words[1:]):
        words = [*words, words[0].with_text("-f"), words[0].with_text(tape)]
    return words


def hooked(ev: Evaluator, values: Values, span: tuple[int, int], state: State, scope: Scope) -> None:
    """Variables for one command that change what programs load."""
    for name, value in values.items():
        if tags := hooks.tags(name, value):
            told = {"tags": tags, "reversibility": "reversible"}
            tell(ev, Verb.MODIFY, Domain.ENVIRONMENT, f"env:{name}", span, state, scope, **told)


def assigned_by_wrapper(
    ev: Evaluator, given: Sequence[Word], words: Sequence[Word], state: State, scope: Scope
) -> list[Word]:
    """``env A=1 cmd``, ``sudo A=1 cmd``: what the variables make run; the words with options they add."""
    values: Values = {name: value for name, _, value in (w.text.partition("=") for w in given)}
    assigns = [ir.Assign(w.text.partition("=")[0], None, span=w.span) for w in given]
    if not words:
        return []
    hooked(ev, values, given[0].span, state, scope)
    programs_by_environment(ev, assigns, state, scope, values)
    return as_git_options(with_options(list(words), values, state), values)


_LIST_EDITORS = ("GIT_SEQUENCE_EDITOR", "GIT_EDITOR", "VISUAL", "EDITOR")


def as_git_options(words: list[Word], values: Values) -> list[Word]:
    """``GIT_CONFIG_KEY_0=… GIT_CONFIG_VALUE_0=… git``: as if given with ``-c`` (git-config(1), ENVIRONMENT)."""
    if words[0].text.rpartition("/")[2] != "git":
        return words
    extra: list[Word] = []
    for name, key in values.items():
        if name.startswith("GIT_CONFIG_KEY_") and isinstance(key, str):
            value = values.get(name.replace("_KEY_", "_VALUE_"))
            extra += [words[0].with_text("-c"), words[0].with_text(f"{key}={value or ''}")]
    editor = next((values[n] for n in _LIST_EDITORS if n in values), None)
    if isinstance(editor, str) and editor in {":", "true", "cat", "/bin/true"}:  # git-var(1): the list is left as it is
        extra += [words[0].with_text("-c"), words[0].with_text("sequence.editor=true")]
    return [words[0], *extra, *words[1:]]
