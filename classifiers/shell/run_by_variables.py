"""Variables whose value programs run, load or take orders from: assignments in, what that does out.

Which variables these are, and what each holds, is in ``hooks.py``.
"""

from __future__ import annotations

from dataclasses import replace

from classifiers.effects import Certainty, Condition, Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed
from classifiers.knowledge.words import Word
from classifiers.shell import hooks, ir
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator
from classifiers.shell.payloads.handing import hand_on
from classifiers.shell.payloads.later_readers import vimrc
from classifiers.shell.payloads.script_files import run_file
from classifiers.shell.redirects import Plan
from classifiers.shell.state import Scope, State, Value
from classifiers.shell.subscripts import expanded

_MEMBERS = frozenset({"BASH_ALIASES", "BASH_CMDS"})


def programs_by_environment(
    ev: Evaluator, assigns: list[ir.Assign], state: State, scope: Scope, values: dict[str, Value | None] | None = None
) -> None:
    """``GIT_SSH_COMMAND='sh -c …' git fetch``: the value is a command the program will run; ``BASH_ENV=f`` a file.

    ``values`` None: the variables are set for later commands, which may never look at them.
    """
    if values is None:
        scope = replace(scope.under(Condition.DEFERRED), certainty=Certainty.POSSIBLE)
    for assign in assigns:
        name = assign.name
        value = state.vars.get(name) if values is None else values[name]
        if name in _MEMBERS and assign.index is not None and isinstance(value, dict):
            _member(ev, name, assign, state, scope)
            continue
        if isinstance(value, list):  # PROMPT_COMMAND=(one two)
            value = "; ".join(value)
        if isinstance(value, str) and value.strip():
            _one(ev, name, value, assign.span, state, scope)


def _one(ev: Evaluator, name: str, value: str, span: tuple[int, int], state: State, scope: Scope) -> None:
    if name == "PATH" and hooks.tags(name, value):
        why = "programs are looked for first where anyone can put one"
        ev.out.hide(OpaqueReason.UNKNOWN_EXECUTABLE, scope.span(span), why)
    if name in hooks.PROMPTS and ("$(" in value or "`" in value):
        expanded(ev, value, span, state, scope)
        return
    for line in vimrc(value) if name in hooks.EDITOR_ORDERS else ():
        hand_on(ev, Handed(Delegate("shell"), (Word(line, span),), {}, span, name), state.copy(), scope, None)
    word = Word(value.lstrip("|- ") if name == "LESSOPEN" else value, span)
    if hooks.is_command(name, value) and ev.known(value):
        to = Delegate("shell", join=True, fed=name.endswith("PAGER"))
        hand_on(ev, Handed(to, (word,), {}, span, name), state.copy(), scope, None)
    elif (language := hooks.file_language(name, value)) is not None:
        run_file(ev, word, state.copy(), replace(scope, via=(*scope.via, name)), language=language)
    elif hooks.is_logged_to(name, value):
        tags = hooks.TAGS.get(name, ())
        tell(ev, Verb.MODIFY, Domain.FILESYSTEM, value, span, state, scope, reversibility="reversible", tags=tags)
    elif hooks.loads_code(name, value):
        library = value if name in hooks.LIBRARIES and " " not in value else None
        told = {"destructive": None, "tags": hooks.TAGS.get(name, ())}
        tell(ev, Verb.EXECUTE, Domain.CODE, library, span, state, scope, **told)
        ev.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, scope.span(span), f"{name} loads code from elsewhere")


def _member(ev: Evaluator, name: str, assign: ir.Assign, state: State, scope: Scope) -> None:
    """``BASH_ALIASES[x]=…`` is ``alias x=…``; ``BASH_CMDS[x]=…`` is ``hash -p … x`` (bash(1), Shell Variables)."""
    held = state.vars[name]
    key = (assign.index or "").strip("'\"")
    value = held.get(key) if isinstance(held, dict) else None
    if value is None:
        return
    texts = ["alias", f"{key}={value}"] if name == "BASH_ALIASES" else ["hash", "-p", value, key]
    outer = replace(scope, condition=Condition.ALWAYS, certainty=Certainty.DEFINITE)
    ev.readers.builtins[texts[0]](ev, [Word(t, assign.span) for t in texts], state, outer, Plan())
