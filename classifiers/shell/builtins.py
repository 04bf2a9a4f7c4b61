# ruff: noqa: ARG001 - every builtin has one shape, used or not
"""Shell builtins that change what the shell knows: cd, eval, source, exec, trap, alias, read, set, shift, exit, test.

Each takes the words and returns what it prints and whether it succeeds. Builtins that are programs too (echo, printf,
kill, …) are described by knowledge instead.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import Certainty, Condition, Domain, OpaqueReason, Tag, Verb
from classifiers.knowledge.interpret import Handed
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.words import Word
from classifiers.shell import callbacks, descriptors
from classifiers.shell.emit import tell
from classifiers.shell.payloads import feed, hand_on, run_file, run_text
from classifiers.shell.redirects import Plan
from classifiers.shell.setups import is_setup
from classifiers.shell.state import EMPTY, Scope, State, Stream
from classifiers.shell.streams import printed

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator, Truth

MAX_EVAL = 500  # words
MAX_LINES = 50  # of an array read from text
Words = list[Word]
Builtin = Callable[["Evaluator", Words, State, Scope, Plan], tuple[Stream, "Truth"]]


def _cd(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    operands = [w.text for w in words[1:] if not (w.text.startswith("-") and len(w.text) > 1) and w.text != "--"]
    if operands in (["."], ["./"]):
        return EMPTY, None
    target = operands[0] if operands else (state.context.home or "~")
    if target == "-":
        state.chdir(ev.unknowns.mark("$OLDPWD"))
    else:
        state.enter(target, known=ev.known)
    return EMPTY, None


def _popd(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    state.chdir(ev.unknowns.mark("$(popd)"))
    return EMPTY, None


def _eval(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
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


def _source(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
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


# The shell's own startup files and what environment managers generate: run, like a known runner's recipes, without
# being a payload of this call; a file this call wrote is read instead.
_OWN_SETUP = re.compile(
    r"(?:\A|/)(?:bin/activate(?:\.\w+)?|\.bashrc|\.bash_profile|\.profile|\.zshrc|\.zprofile|\.cargo/env|nvm\.sh|conda\.sh"
    r"|sdkman-init\.sh|etc/profile|bash_completion)\Z"
)


def _exec(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    from classifiers.shell.run import run_argv  # noqa: PLC0415 - the two call each other

    rest = words[1:]
    while rest and rest[0].text.startswith("-"):
        rest = rest[2:] if rest[0].text.endswith("a") else rest[1:]
    if not rest:
        return EMPTY, True
    stream, _ = run_argv(ev, rest, state, replace(scope, via=(*scope.via, "exec")), plan)
    return stream, None


def _command(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``command`` and ``builtin``: run past functions and aliases; ``-v`` only asks."""
    from classifiers.shell.run import run_program  # noqa: PLC0415 - the two call each other

    rest = words[1:]
    while rest and rest[0].text.startswith("-"):
        if "v" in rest[0].text.lower():
            return Stream(None), None
        rest = rest[1:]
    if not rest:
        return EMPTY, True
    inner = replace(scope, via=(*scope.via, words[0].text))
    if rest[0].text in BUILTINS:
        return BUILTINS[rest[0].text](ev, rest, state, inner, plan)
    if not ev.known(rest[0].text):
        from classifiers.shell.run import run_argv  # noqa: PLC0415 - the two call each other

        return run_argv(ev, rest, state, inner, plan)
    return run_program(ev, rest, state, inner, plan)


def _trap(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    operands = [w for w in words[1:] if w.text != "--"]
    if len(operands) < 2 or operands[0].text in {"-", "", "-p", "-l"}:
        return EMPTY, True
    inner = replace(scope.under(Condition.DEFERRED), via=(*scope.via, "trap"))
    item = Handed(Delegate("shell"), (operands[0],), {}, operands[0].span, "")
    hand_on(ev, item, state.copy(), inner, plan)
    return EMPTY, True


def _alias(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """An alias's body is only possible: a script does not expand aliases, the user's next line may."""
    for word in words[1:]:
        name, eq, body = word.text.partition("=")
        if not eq or not name:
            continue
        tell(ev, Verb.MODIFY, Domain.ENVIRONMENT, f"alias:{name}", word.span, state, scope, reversibility="reversible")
        inner = replace(
            scope.under(Condition.DEFERRED), certainty=Certainty.POSSIBLE, via=(*scope.via, f"alias {name}")
        )
        if ev.known(body):
            run_text(
                ev,
                body,
                state.copy(),
                replace(inner, fixed=scope.span(word.span), depth=scope.depth + 1),
                [],
                scope.span(word.span),
            )
        state.aliases[name] = body
    return EMPTY, True


def aliased(ev: Evaluator, words: Words, state: State, scope: Scope) -> Stream:
    """A call by an alias: its body and the call's words, if the shell expands it (bash(1), ALIASES: once)."""
    name = words[0]
    body, inner = state.aliases[name.text], state.copy()
    del inner.aliases[name.text]
    given = " ".join(w.text if w.glob else shlex.quote(w.text) for w in words[1:])
    place = scope.span(name.span)
    outer = replace(scope, certainty=Certainty.POSSIBLE, via=(*scope.via, f"alias {name.text}"), fixed=place)
    return run_text(ev, f"{body} {given}", inner, replace(outer, depth=scope.depth + 1), [], place)


def _read(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """Names become what comes in: the literal when there is one line of it, else unknown."""
    names = [w.text for w in words[1:] if re.fullmatch(r"[A-Za-z_]\w*", w.text)]
    callbacks.subscripts(ev, words, state, scope)
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


def _mapfile(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``mapfile -C callback``: a command run every few lines."""
    callbacks.callback(ev, words, "-C", state, scope.under(Condition.LOOP), plan)
    callbacks.subscripts(ev, words, state, scope)
    name = next((w.text for w in reversed(words[1:]) if re.fullmatch(r"[A-Za-z_]\w*", w.text)), "MAPFILE")
    stdin = descriptors.read_from(ev, words, state, scope.stdin)
    _from_elsewhere(state, name, stdin)
    if 0 < len(lines := _lines(ev, stdin)) <= MAX_LINES:
        state.vars[name] = lines
    return EMPTY, None


def _set(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    texts = [w.text for w in words[1:]]
    if "--" in texts:
        values = texts[texts.index("--") + 1 :]
        state.vars["@"] = list(values)
        state.vars.update({str(i): v for i, v in enumerate(values, 1)})
    if "history" in texts and "+o" in texts:
        tell(
            ev, Verb.MODIFY, Domain.ENVIRONMENT, "shell:history", words[0].span, state, scope, tags=("defense_evasion",)
        )
    return EMPTY, True


def _shift(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    values = state.vars.get("@")
    if isinstance(values, list):
        count = int(words[1].text) if len(words) > 1 and words[1].text.isdigit() else 1
        rest = values[count:]
        state.vars["@"] = rest
        for key in [k for k in state.vars if k.isdigit()]:
            del state.vars[key]
        state.vars.update({str(i): v for i, v in enumerate(rest, 1)})
    return EMPTY, True


def _exit(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    state.exited = True
    return EMPTY, None


def _return(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """Outside a function and a sourced file it is refused, and the script goes on (bash(1), ``return``)."""
    state.exited = bool(state.calls)
    return EMPTY, None


def _true(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    return EMPTY, True


def _false(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    return EMPTY, False


def _quiet(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    return EMPTY, None


def _says(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    return Stream(None), None


def _test(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``[ a = b ]`` of plain words is decided; everything else may go either way."""
    args = [w.text for w in words[1:] if w.text != "]"]
    callbacks.subscripts(ev, words, state, scope)
    if len(args) == 3 and all(ev.known(a) for a in args) and args[1] in {"=", "==", "!="}:
        return EMPTY, (args[0] == args[2]) == (args[1] != "!=")
    if len(args) == 3 and all(a.isdigit() and len(a) < 10 for a in (args[0], args[2])) and args[1] in _COMPARE:
        return EMPTY, _COMPARE[args[1]](int(args[0]), int(args[2]))
    return EMPTY, None


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-gt": lambda a, b: a > b,
    "-le": lambda a, b: a <= b,
    "-ge": lambda a, b: a >= b,
}


def _enable(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
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


def _history(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    if any(w.text.startswith("-") and set(w.text[1:]) & set("cdw") for w in words[1:]):
        tell(
            ev, Verb.DELETE, Domain.FILESYSTEM, "~/.bash_history", (words[0].span[0], words[-1].span[1]), state, scope,
            destructive=True, reversibility="irreversible", tags=("defense_evasion",),
        )  # fmt: skip
    return Stream(None), None


_QUIET = """unalias shopt ulimit umask getopts break continue local declare typeset readonly export unset
bg fg disown compopt suspend times setopt unsetopt autoload zstyle bindkey emulate zmodload
compinit rehash"""


def _printf(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``printf -v name`` sets a variable; otherwise it prints."""
    from classifiers.shell.run import run_program  # noqa: PLC0415 - the two call each other

    if len(words) > 3 and words[1].text == "-v":
        callbacks.subscripts(ev, words[1:3], state, scope)
        state.vars[words[2].text] = printed("printf", [w.text for w in words[3:]], None)
        return EMPTY, True
    if len(words) > 2 and _NUMBER.search(words[1].text):
        callbacks.subscripts(ev, words[1:], state, scope)
    return run_program(ev, words, state, scope, plan)


_NUMBER = re.compile(r"%[-+ #0]*\d*[dioxX]")  # conversions whose argument is an arithmetic expression


def _coproc(ev: Evaluator, words: Words, state: State, scope: Scope, plan: Plan) -> tuple[Stream, Truth]:
    """``coproc [NAME] command``: a name is upper case by custom and followed by more."""
    from classifiers.shell.run import run_argv  # noqa: PLC0415 - the two call each other

    rest = words[2:] if len(words) > 2 and words[1].text.isupper() else words[1:]
    if rest:
        run_argv(ev, rest, state.copy(), replace(scope, via=(*scope.via, "coproc")), plan)
    return EMPTY, None


BUILTINS: dict[str, Builtin] = {
    "printf": _printf,
    "coproc": _coproc,
    **dict.fromkeys(_QUIET.split(), _quiet),
    **dict.fromkeys(("type", "dirs", "help", "caller", "whence"), _says),
    **dict.fromkeys(("cd", "pushd"), _cd),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("command", "builtin"), _command),
    "read": _read,
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    **dict.fromkeys(("complete", "compgen"), callbacks.completion),
    "bind": callbacks.bind,
    "fc": callbacks.history_command,
    "jobs": callbacks.jobs,
    "hash": callbacks.hashed,
    "let": callbacks.arithmetic,
    "wait": callbacks.awaited,
    **dict.fromkeys(("exit", "logout"), _exit),
    "return": _return,
    **dict.fromkeys(("true", ":"), _true),
    **dict.fromkeys(("test", "["), _test),
    "popd": _popd,
    "eval": _eval,
    "exec": _exec,
    "trap": _trap,
    "alias": _alias,
    "set": _set,
    "shift": _shift,
    "false": _false,
    "enable": _enable,
    "history": _history,
}
