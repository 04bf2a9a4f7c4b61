"""GNU parallel: a command with replacement strings, and its inputs after ``:::`` or on standard input (parallel(1))."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word

_REPLACEMENT = re.compile(r"\{(?:[./#%]|//|/\.|\d+[./]*|=[^}]*=)?\}")
_PLACE = re.compile(r"\{(\d+)([./]*)\}")
_SEPARATORS = frozenset({":::", ":::+", "::::", "::::+"})
MAX_INPUTS = 20
INPUT = "{}"  # what the input replaces, unless -I says another


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """One inner command per input (up to ``MAX_INPUTS``); without inputs, one fed by standard input."""
    if reading.parsed.given("--dry-run"):
        return  # the commands are printed
    operands = reading.parsed.operands
    cut = next((i for i, w in enumerate(operands) if w.text in _SEPARATORS), len(operands))
    command, given = operands[:cut], _given(reading, operands[cut:])
    if not command:
        if not given:
            _lines(reading)
        for (word,) in (g[:1] for g in given):
            reading.items.append(Handed(Delegate("shell"), (word,), {}, word.span, "parallel"))
        return
    span = (command[0].span[0], command[-1].span[1])
    if not given:
        replace = next((w.text for w in reading.parsed.words_of("-I")), INPUT)
        reading.items.append(Handed(_delegate(command, replace), tuple(command), {}, span, "parallel"))
        return
    for inputs in given[:MAX_INPUTS]:
        inner = _with(command, inputs)
        reading.items.append(Handed(_delegate(command, ""), tuple(inner), {}, span, "parallel"))


def _given(reading: Reading, words: Sequence[Word]) -> list[Sequence[Word]]:
    """The inputs on the command line, each with one word of every source; after ``::::`` come files of inputs.

    Sources are crossed; ``:::+`` goes along with the one before. None at all when some are lines of a file.
    """
    out: list[Sequence[Word]] = []
    source: list[Word] = []
    mark = ""
    for word in (*words, Word("")):
        if word.text not in _SEPARATORS and word.text:
            source.append(word)
            continue
        if mark.startswith("::::"):
            fields: Json = {"destructive": False, "reversibility": "read_only"}
            reading.items += [Told(Verb.READ, Domain.FILESYSTEM, w.text, fields, w.span, w) for w in source]
        elif mark.endswith("+"):
            out = [(*one, more) for one, more in zip(out, source, strict=False)]
        elif source:
            out = [(*one, more) for one in (out or [()])[:MAX_INPUTS] for more in source[:MAX_INPUTS]]
        mark, source = word.text, []
    return [] if any(w.text.startswith("::::") for w in words) else out


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
    file = next(iter(reading.parsed.words_of("-a", "--arg-file")), None)
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


def _with(command: Sequence[Word], inputs: Sequence[Word]) -> list[Word]:
    if not any(_REPLACEMENT.search(w.text) for w in command):
        return [*command, *inputs]
    whole = " ".join(w.text for w in inputs)

    def one(found: re.Match[str]) -> str:
        place, form = int(found[1]), "{" + found[2] + "}"
        return fill(form, inputs[place - 1].text) if 0 < place <= len(inputs) else found[0]

    return [w.with_text(fill(_PLACE.sub(one, w.text), whole)) for w in command]


SPECIAL = ("parallel", read)
