"""sed: a script in an operand that may itself run commands, write files or read others (GNU sed manual, e, w and r)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.special.backups import backups
from classifiers.knowledge.words import Word, is_known

_WROTE = {"destructive": None, "reversibility": "unknown", "tags": ["overwrite"]}
# s/…/…/…e or …w file, and the commands e, w, W, r, R at a command's start; the delimiter may be any character
_SUBSTITUTE = re.compile(r"s([^\w\s\\;])(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1([gpiImMe0-9]*)(?:w[ \t]*(\S[^\n;}]*))?")
_COMMAND = re.compile(r"(?:^|[;{}\n])\s*(?:[0-9$,~+!\s]|/(?:\\.|[^/\\])*/[IM]?)*([ewWrR])(?:[ \t]+([^\n;}]*))?")


def read_sed(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """What the script writes or executes."""
    backups(reading, name, words)
    for script in _scripts(reading):
        if not is_known(script.text):
            continue
        text = script.text
        for match in _SUBSTITUTE.finditer(text):
            if "e" in match[2]:
                _executes(reading, script, None)
            if match[3]:
                _writes(reading, script, match[3])
        for match in _COMMAND.finditer(_SUBSTITUTE.sub("", text)):
            argument = (match[2] or "").strip()
            if match[1] == "e":
                _executes(reading, script, argument or None)
            elif match[1] in "rR":
                _reads(reading, script, argument)
            elif argument:
                _writes(reading, script, argument)


def _scripts(reading: Reading) -> list[Word]:
    given = [h.value for h in reading.parsed.hits if h.value is not None and h.option and h.option.fills == "script"]
    if given:
        return given
    if reading.parsed.given("-f", "--file"):
        return []
    return list(reading.parsed.operands[:1])


def _executes(reading: Reading, script: Word, command: str | None) -> None:
    fields = {"destructive": None if command is None else False, "reversibility": "unknown"}
    reading.items.append(Told(Verb.EXECUTE, Domain.CODE, None, fields, script.span, script))
    if command is None:
        reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, script.span, "sed executes what its input says"))
    else:
        reading.items.append(Handed(Delegate("shell"), (script.with_text(command),), {}, script.span, "sed e"))


def _writes(reading: Reading, script: Word, file: str) -> None:
    if file not in {"/dev/stdout", "/dev/stderr"}:
        reading.items.append(Told(Verb.MODIFY, Domain.FILESYSTEM, file, _WROTE, script.span, script.with_text(file)))


def _reads(reading: Reading, script: Word, file: str) -> None:
    if file and file != "/dev/stdin":
        fields = {"destructive": False, "reversibility": "read_only"}
        reading.items.append(Told(Verb.READ, Domain.FILESYSTEM, file, fields, script.span, script.with_text(file)))


SPECIAL = ("sed", read_sed)
