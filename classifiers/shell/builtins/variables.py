# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Builtins that change variables: read, mapfile, set, shift, printf -v.

In: the words. Out: what the builtin prints and whether it succeeds; the state's variables.
"""

from __future__ import annotations

import re
from dataclasses import replace

from classifiers.effects import Condition, Domain, Verb
from classifiers.knowledge.words import Word
from classifiers.shell import descriptors
from classifiers.shell.builtins.callbacks import callback
from classifiers.shell.emit import tell
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.redirects import Plan
from classifiers.shell.state import EMPTY, Scope, State, Stream
from classifiers.shell.streams import printed
from classifiers.shell.subscripts import subscripts

Words = list[Word]
MAX_LINES = 50  # of an array read from text
_NUMBER = re.compile(r"%[-+ #0]*\d*[dioxX]")  # conversions whose argument is an arithmetic expression


def _read(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """Names become what comes in: the literal when there is one line of it, else unknown."""
    names = [w.text for w in words[1:] if re.fullmatch(r"[A-Za-z_]\w*", w.text)]
    subscripts(ev, words, state, scope)
    stdin = descriptors.read_from(ev, words, state, scope.stdin)
    for name in names or ["REPLY"]:
        _from_elsewhere(state, name, stdin)
    lines = _lines(ev, stdin)
    if len(lines) == 1 and names:
        fields = _fields(lines[0], state.vars.get("IFS"))
        if any(re.fullmatch(r"-[a-zA-Z]*a[a-zA-Z]*", w.text) for w in words[1:]):
            state.vars[names[-1]] = fields
        elif len(names) == 1:
            state.vars[names[0]] = lines[0].strip()
        else:
            rest = " ".join(fields[len(names) - 1 :])
            state.vars.update(zip(names, [*fields[: len(names) - 1], rest], strict=False))
    return EMPTY, None


def _fields(line: str, separators: object) -> list[str]:
    """A line as ``read`` splits it."""
    if not isinstance(separators, str) or separators.isspace():
        return line.split()
    return re.split(f"[{re.escape(separators)}]", line) if separators else [line]


def _from_elsewhere(state: State, name: str, stdin: Stream | None) -> None:
    """``name`` now holds something unknown that came in by ``stdin``."""
    state.vars[name] = None
    state.globby.discard(name)
    if stdin is not None:
        state.origins[name] = replace(stdin, text=None)


def _lines(ev: Evaluator, stdin: Stream | None) -> list[str]:
    """The lines that come in, where they are known."""
    text = stdin.text if stdin is not None else None
    return text.strip("\n").split("\n") if text is not None and ev.known(text) else []


def _mapfile(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``mapfile -C callback``: a command run every few lines."""
    callback(ev, words, "-C", state, scope.under(Condition.LOOP), plan)
    subscripts(ev, words, state, scope)
    name = next((w.text for w in reversed(words[1:]) if re.fullmatch(r"[A-Za-z_]\w*", w.text)), "MAPFILE")
    stdin = descriptors.read_from(ev, words, state, scope.stdin)
    _from_elsewhere(state, name, stdin)
    if 0 < len(lines := _lines(ev, stdin)) <= MAX_LINES:
        state.vars[name] = lines
    return EMPTY, None


def _set(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    texts = [w.text for w in words[1:]]
    if not texts:  # prints every variable
        index = tell(ev, Verb.READ, Domain.ENVIRONMENT, "env:*", words[0].span, state, scope, reversibility="read_only")
        return Stream(None, () if index is None else (index,)), True
    values = _positional(texts)
    if values is not None:
        state.vars["@"] = list(values)
        state.vars.update({str(i): v for i, v in enumerate(values, 1)})
    if "history" in texts and "+o" in texts:
        tell(
            ev, Verb.MODIFY, Domain.ENVIRONMENT, "shell:history", words[0].span, state, scope, tags=("defense_evasion",)
        )
    return EMPTY, True


def _positional(texts: list[str]) -> list[str] | None:
    """What ``set`` makes ``$1``, ``$2`` …: the words after its options; None when it leaves them alone."""
    at = 0
    while at < len(texts) and texts[at][:1] in {"-", "+"} and texts[at] not in {"-", "--"}:
        at += 2 if "o" in texts[at][1:] else 1
    if at < len(texts) and texts[at] in {"-", "--"}:
        return texts[at + 1 :]
    return texts[at:] or None


def _shift(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    values = state.vars.get("@")
    if isinstance(values, list):
        count = int(words[1].text) if len(words) > 1 and words[1].text.isdigit() else 1
        rest = values[count:]
        state.vars["@"] = rest
        for key in [k for k in state.vars if k.isdigit()]:
            del state.vars[key]
        state.vars.update({str(i): v for i, v in enumerate(rest, 1)})
    return EMPTY, True


def _printf(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> Result:
    """``printf -v name`` sets a variable; otherwise it prints."""
    if len(words) > 3 and words[1].text == "-v":
        subscripts(ev, words[1:3], state, scope)
        state.vars[words[2].text] = printed("printf", [w.text for w in words[3:]], None)
        return EMPTY, True
    if len(words) > 2 and _NUMBER.search(words[1].text):
        subscripts(ev, words[1:], state, scope)
    return ev.run_program(words, state, scope, plan)


BUILTINS = {
    "read": _read,
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    "set": _set,
    "shift": _shift,
    "printf": _printf,
}
