# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Builtins that run what they are given: eval, source, exec, command, coproc, trap, enable.

In: the words. Out: what the builtin prints and whether it succeeds.
"""

from __future__ import annotations

import re
from dataclasses import replace

from classifiers.effects import Condition, Domain, OpaqueReason, Tag, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed
from classifiers.knowledge.words import Word
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.payloads.handing import hand_on
from classifiers.shell.payloads.script_files import run_file
from classifiers.shell.payloads.scripts import run_text
from classifiers.shell.payloads.stdin import feed
from classifiers.shell.redirects import Plan
from classifiers.shell.setups import is_setup
from classifiers.shell.state import EMPTY, Scope, State, Stream

Words = list[Word]
MAX_EVAL = 500  # words
# The shell's own startup files and what environment managers generate: run, like a known runner's recipes, without
# being a payload of this call; a file this call wrote is read instead.
_OWN_SETUP = re.compile(
    r"(?:\A|/)(?:bin/activate(?:\.\w+)?|\.bashrc|\.bash_profile|\.profile|\.zshrc|\.zprofile|\.cargo/env|nvm\.sh|conda\.sh"
    r"|sdkman-init\.sh|etc/profile|bash_completion)\Z"
)


def _eval(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    if len(words) < 2:
        return EMPTY, True
    span = (words[1].span[0], words[-1].span[1])
    if len(words) > MAX_EVAL:
        ev.out.hide(OpaqueReason.SIZE_CAP, scope.span(span), f"eval of {len(words)} words")
        return Stream(None), None
    if len(words) == 2 and is_setup(ev.unknowns.reveal(words[1].text)):
        tell(ev, Verb.MODIFY, Domain.ENVIRONMENT, None, words[1].span, state, scope, reversibility="reversible")
        return EMPTY, None
    item = Handed(Delegate("shell", join=len(words) > 2), tuple(words[1:]), {}, span, "eval")
    return hand_on(ev, item, state, scope, plan), None


def _source(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    if len(words) < 2:
        return EMPTY, None
    word = words[1]
    key = state.key(word.text)
    if _OWN_SETUP.search(word.text) and (key not in state.files or key in state.added):
        tell(ev, Verb.EXECUTE, Domain.CODE, word.text, word.span, state, scope, destructive=None)
        if key in state.added:  # the user's own lines, and those this call put behind them
            inner = replace(scope, via=(*scope.via, words[0].text), fixed=scope.span(word.span))
            return run_text(ev, state.added[key], state, inner, [], scope.span(word.span)), None
        return EMPTY, None
    inner = replace(scope, via=(*scope.via, words[0].text))
    if word.text in {"/dev/stdin", "/proc/self/fd/0", "/dev/fd/0"} and scope.stdin is not None:
        return feed(ev, scope.stdin, "shell", word.span, state, inner), None
    return run_file(ev, words[1], state, inner, language="shell"), None


def _exec(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    rest = words[1:]
    while rest and rest[0].text.startswith("-"):
        rest = rest[2:] if rest[0].text.endswith("a") else rest[1:]
    if not rest:
        return EMPTY, True
    stream, _ = ev.run_argv(rest, state, replace(scope, via=(*scope.via, "exec")), plan)
    return stream, None


def _command(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``command`` and ``builtin``: run past functions and aliases; ``-v`` only asks. ``command`` alone is any."""
    rest = words[1:]
    if not rest and words[0].text == "command":
        return ev.run_program(words, state, scope, plan)
    while rest and rest[0].text.startswith("-"):
        if "v" in rest[0].text.lower():
            return Stream(None), None
        rest = rest[1:]
    if not rest:
        return EMPTY, True
    inner = replace(scope, via=(*scope.via, words[0].text))
    if rest[0].text in ev.readers.builtins:
        return ev.readers.builtins[rest[0].text](ev, rest, state, inner, plan)
    if not ev.known(rest[0].text):
        return ev.run_argv(rest, state, inner, plan)
    return ev.run_program(rest, state, inner, plan)


def _coproc(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``coproc [NAME] command``: a name is upper case by custom and followed by more."""
    rest = words[2:] if len(words) > 2 and words[1].text.isupper() else words[1:]
    if rest:
        ev.run_argv(rest, state.copy(), replace(scope, via=(*scope.via, "coproc")), plan)
    return EMPTY, None


def _trap(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    operands = [w for w in words[1:] if w.text != "--"]
    if len(operands) < 2 or operands[0].text in {"-", "", "-p", "-l"}:
        return EMPTY, True
    inner = replace(scope.under(Condition.DEFERRED), via=(*scope.via, "trap"))
    item = Handed(Delegate("shell"), (operands[0],), {}, operands[0].span, "")
    hand_on(ev, item, state.copy(), inner, plan)
    return EMPTY, True


def _enable(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``enable -f file name`` loads a builtin from a shared object."""
    for i, word in enumerate(words[1:], 1):
        if word.text == "-f" and i + 1 < len(words):
            index = tell(
                ev, Verb.EXECUTE, Domain.CODE, words[i + 1].text, words[i + 1].span, state, scope, destructive=None
            )
            ev.out.hide(
                OpaqueReason.PAYLOAD_UNREADABLE, scope.span(words[i + 1].span), "a builtin from a shared object"
            )
            if index is not None:
                ev.out.tag(index, Tag.DEFENSE_EVASION)
    return EMPTY, None


BUILTINS = {
    "eval": _eval,
    **dict.fromkeys(("source", "."), _source),
    "exec": _exec,
    **dict.fromkeys(("command", "builtin"), _command),
    "coproc": _coproc,
    "trap": _trap,
    "enable": _enable,
}
