"""GNU parallel: a command with replacement strings, and its inputs after ``:::`` or on standard input (parallel(1))."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from classifiers.effects import OpaqueReason
from classifiers.knowledge.interpret import Handed, Hidden, Reading
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.words import Word

_REPLACEMENT = re.compile(r"\{(?:[./#%]|//|/\.|\d+[./]*|=[^}]*=)?\}")
_SEPARATORS = frozenset({":::", ":::+", "::::", "::::+"})
MAX_INPUTS = 20
INPUT = "{}"  # what the input replaces, unless -I says another


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """One inner command per input (up to ``MAX_INPUTS``); without inputs, one fed by standard input."""
    operands = reading.parsed.operands
    cut = next((i for i, w in enumerate(operands) if w.text in _SEPARATORS), len(operands))
    command, given = operands[:cut], [w for w in operands[cut:] if w.text not in _SEPARATORS]
    if not command:
        if not given:
            _lines(reading)
        for word in given:
            reading.items.append(Handed(Delegate("shell"), (word,), {}, word.span, "parallel"))
        return
    span = (command[0].span[0], command[-1].span[1])
    if not given:
        token = reading.parsed.given("-I")
        replace = (
            INPUT if not token else next(h.value.text for h in reading.parsed.hits if h.spelling == "-I" and h.value)
        )
        reading.items.append(Handed(_delegate(command, replace), tuple(command), {}, span, "parallel"))
        return
    for word in given[:MAX_INPUTS]:
        inner = _with(command, word)
        reading.items.append(Handed(_delegate(command, ""), tuple(inner), {}, span, "parallel"))


def fill(text: str, value: str) -> str:
    """``text`` with its replacement strings filled from one input: ``{.}`` has no extension, ``{/}`` no folder."""
    return _REPLACEMENT.sub(lambda found: _FORMS.get(found[0], str)(value), text)


def _stem(value: str) -> str:
    head, dot, last = value.rpartition(".")
    return head if dot and "/" not in last else value


def _folder(value: str) -> str:
    """A bare name is in this folder; where an unknown is (its mark is not ASCII) stays unknown."""
    return posixpath.dirname(value) or ("." if value.isascii() else value)


_FORMS: dict[str, Callable[[str], str]] = {
    "{.}": _stem,
    "{/}": posixpath.basename,
    "{/.}": lambda value: _stem(posixpath.basename(value)),
    "{//}": _folder,
}


def _lines(reading: Reading) -> None:
    """No command: each line of the input, or of a file (``-a``), is one."""
    file = next((h.value for h in reading.parsed.hits if h.spelling in {"-a", "--arg-file"} and h.value), None)
    if file is None:
        reading.reads_stdin = Delegate("shell")
    else:
        reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, file.span, "the commands are in a file"))


def _delegate(command: Sequence[Word], replace: str) -> Delegate:
    """parallel joins its words and gives them to a shell: quoted metacharacters act."""
    shell = len(command) == 1 and any(c in command[0].text for c in " ;|&><$")
    if shell:
        return Delegate("shell", join=True, replace=replace)
    return Delegate("argv", append="stdin", replace=replace) if replace else Delegate("argv")


def _with(command: Sequence[Word], value: Word) -> list[Word]:
    if any(_REPLACEMENT.search(w.text) for w in command):
        return [w.with_text(fill(w.text, value.text)) for w in command]
    return [*command, value]


SPECIAL = ("parallel", read)
