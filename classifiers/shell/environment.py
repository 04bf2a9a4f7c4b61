"""Variables: assignments, export and its kin, and variables that make programs run something or take options.

In: a command's assignments. Out: the state's variables, and effects where the environment or a command is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from classifiers.effects import Domain, Verb
from classifiers.knowledge.interpret import Handed
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.words import Word
from classifiers.shell import ir
from classifiers.shell.emit import tell
from classifiers.shell.payloads import hand_on
from classifiers.shell.redirects import apply_redirects
from classifiers.shell.state import EMPTY, Scope, State, Stream

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator, Truth

ENV_TAGS = {
    "LD_PRELOAD": ("defense_evasion",),
    "LD_LIBRARY_PATH": ("defense_evasion",),
    "PROMPT_COMMAND": ("persistence",),
}
# Variables whose value programs run as a command: git(1) ENVIRONMENT, less(1) LESSOPEN, man(1), bash(1) BASH_ENV.
_RUN_BY = frozenset(
    [
        "GIT_SSH_COMMAND",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_EXTERNAL_DIFF",
        "GIT_SEQUENCE_EDITOR",
        "GIT_PROXY_COMMAND",
        "PAGER",
        "MANPAGER",
        "EDITOR",
        "VISUAL",
        "BROWSER",
        "LESSOPEN",
        "PROMPT_COMMAND",
        "RSYNC_RSH",
        "CVS_RSH",
        "TAR_RSH",
        "SUDO_ASKPASS",
    ]
)
_OPTIONS_OF = {
    "tar": "TAR_OPTIONS",
    "bsdtar": "TAR_OPTIONS",
    "gtar": "TAR_OPTIONS",
    "zip": "ZIPOPT",
    "unzip": "UNZIP",
    "grep": "GREP_OPTIONS",
}


def assigned_value(ev: Evaluator, assign: ir.Assign, state: State, scope: Scope) -> str | list[str] | None:
    expander = ev.expander(state, scope)
    if assign.array is not None:
        return [f.text for w in assign.array for f in expander.fields(w)]
    return expander.text(assign.value)


def assign_variable(state: State, assign: ir.Assign, value: str | list[str] | None) -> None:
    old = state.vars.get(assign.name)
    if assign.index is not None:
        first = [value] if isinstance(value, str) and assign.name not in state.vars else None
        state.vars[assign.name] = [*old, value] if isinstance(old, list) and isinstance(value, str) else first
    elif not assign.append:
        state.vars[assign.name] = value
    elif isinstance(old, str) and isinstance(value, str):
        state.vars[assign.name] = old + value
    else:
        state.vars[assign.name] = [*old, *value] if isinstance(old, list) and isinstance(value, list) else None
    state.globby.discard(assign.name)
    if isinstance(value, str) and any(c in value for c in "*?["):
        state.globby.add(assign.name)


def declare(ev: Evaluator, node: ir.Simple, state: State, scope: Scope) -> tuple[Stream, Truth]:
    """export, declare, local, readonly, unset: names change; exported ones are the environment's."""
    plan = apply_redirects(ev, node.redirects, state, scope)
    expander = ev.expander(state, scope)
    words = [f for w in node.words[1:] for f in expander.fields(w)]
    for assign in node.assigns:
        assign_variable(state, assign, assigned_value(ev, assign, state, scope))
    flags = {w.text for w in words if w.text.startswith("-")}
    names = [(a.name, a.span) for a in node.assigns] + [(w.text, w.span) for w in words if not w.text.startswith("-")]
    if node.declare in {"local", "declare", "typeset"} and state.locals:
        state.locals[-1].update(name for name, _ in names)
    if node.declare in {"unset", "unsetenv"}:
        for name, _ in names:
            if "-f" in flags:  # only the function of that name
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
                tags=_environment_tags(name, state),
            )
    plan.wrote(ev, state, EMPTY)
    return EMPTY, True


def _environment_tags(name: str, state: State) -> tuple[str, ...]:
    if name in {"HISTFILE", "HISTSIZE", "HISTFILESIZE"}:
        return ("defense_evasion",) if state.vars.get(name) in {"", "0", "/dev/null"} else ()
    return ENV_TAGS.get(name, ())


def with_options(words: list[Word], values: dict[str, str | list[str] | None], state: State) -> list[Word]:
    """Programs that take options from a variable (GNU tar manual, TAR_OPTIONS): they come before the given ones."""
    name = _OPTIONS_OF.get(words[0].text.rpartition("/")[2])
    value = None if name is None else values.get(name, state.vars.get(name))
    if not isinstance(value, str) or not value:
        return words
    return [words[0], *(words[0].with_text(t) for t in value.split()), *words[1:]]


def programs_by_environment(
    ev: Evaluator, node: ir.Simple, values: dict[str, str | list[str] | None], state: State, scope: Scope
) -> None:
    """``GIT_SSH_COMMAND='sh -c …' git fetch``: the value is a command the program will run."""
    for assign in node.assigns:
        value = values[assign.name]
        if assign.name in _RUN_BY and isinstance(value, str) and value.strip() and ev.known(value):
            word = Word(value, assign.span)
            hand_on(
                ev,
                Handed(Delegate("shell", join=True), (word,), {}, assign.span, assign.name),
                state.copy(),
                scope,
                None,
            )
