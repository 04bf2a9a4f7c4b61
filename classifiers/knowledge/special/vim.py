"""vi and its kin: ``-c`` commands may run programs (``:!``), write files or only quit (vim(1), ex(1))."""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.model import Delegate, Json
from classifiers.knowledge.reading import Handed, Hidden, Reading, Told
from classifiers.knowledge.words import Word

_SHELL = re.compile(r":?\s*(?:%|\d+,?\d*|r(?:ead)?\s*|w(?:rite)?\s+|sil(?:ent)?!?\s*)*!\s*(.+)", re.DOTALL)
_WRITE = re.compile(r":?\s*(?:sil(?:ent)?!?\s+)?(?:w|write|sav|saveas|wq)!?\s+([^!>\s]\S*)")
_CODE = re.compile(
    r":?\s*(?:py3?|pyx|python3?|pythonx|py3file|pyfile|lua|luafile|ruby|perl|tcl|source|so|runtime|terminal|term|call\s+(?:system|writefile|delete|rename|mkdir|job_start|term_start|feedkeys)|exec(?:ute)?|let\s.*\bsystem)\b"
)
_INLINE = re.compile(r":?\s*(py|py3|pyx|python|python3|pythonx|ruby|rub|perl|pe|lua)\s+(?!<<)(.+)", re.DOTALL)
_LANGUAGES = {"ruby": "ruby", "rub": "ruby", "perl": "perl", "pe": "perl", "lua": "lua"}  # the others are Python
_CALLED = re.compile(
    r""":?\s*(?:term(?:inal)?\s+(?:\+\+\w+\s+)*([^"'|]+)|call\s+system\(\s*(?:'([^']*)'|"([^"\\]*)")\s*\))\s*"""
)
_FED = re.compile(r":?\s*(?:%|\d|w)")  # a range through the command, or lines written to it
_SHELLS = re.compile(r":?\s*(?:set\s+shell=(\S+?)\s*\|\s*:?\s*)?sh(?:ell)?\s*")
# A command that begins with a capital letter is a plug-in's or a user's own (vim, "user-commands"); N, P and X are not.
_DEFINED = re.compile(r":?\s*(?:sil(?:ent)?!?\s+)?(?!(?:N(?:ext)?|P(?:rint)?|X)\b)[A-Z]\w*!?(?:\s.*)?", re.DOTALL)
_EMPTIES = re.compile(r":?\s*(?:%|1,\$)\s*d(?:elete)?\b")
_UNREAD: Json = {"destructive": None, "reversibility": "unknown"}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    given = [h.value for h in reading.parsed.hits if h.value is not None and h.option and h.option.name == "excmd"]
    plus = [w.with_text(w.text[1:]) for w in reading.parsed.operands if w.text.startswith("+")]
    for word in [*given, *plus]:
        _command(reading, word)
    if any(w.text == "-" for w in reading.parsed.operands):
        reading.reads_stdin = None  # the text to edit; orders then come from the terminal


def _command(reading: Reading, word: Word) -> None:
    text = word.text.strip()
    shell, write = _SHELL.fullmatch(text), _WRITE.match(text)
    if shell:
        to = Delegate("shell", fed=bool(_FED.match(text)))
        reading.items.append(Handed(to, (word.with_text(shell[1]),), {}, word.span, "vim :!"))
    elif opened := _SHELLS.fullmatch(text):
        program = word.with_text(opened[1] or "sh")
        reading.items.append(Handed(Delegate("shell"), (program,), {}, word.span, "vim :shell"))
    elif inline := _INLINE.fullmatch(text):
        to = Delegate("code", _LANGUAGES.get(inline[1], "python"))
        reading.items.append(Handed(to, (word.with_text(inline[2]),), {}, word.span, f"vim :{inline[1]}"))
    elif called := _CALLED.fullmatch(text):
        command = next(part for part in called.groups() if part is not None)
        reading.items.append(Handed(Delegate("shell"), (word.with_text(command),), {}, word.span, "vim :system"))
    elif _EMPTIES.match(text):
        _emptied(reading)
    elif _CODE.match(text) or _DEFINED.fullmatch(text):
        reading.items.append(Told(Verb.EXECUTE, Domain.CODE, None, _UNREAD, word.span, word))
        reading.items.append(Hidden(OpaqueReason.PAYLOAD_UNREADABLE, word.span, "an editor script"))
    elif write:
        fields: Json = {"destructive": None, "reversibility": "unknown", "tags": ["overwrite"]}
        reading.items.append(
            Told(Verb.MODIFY, Domain.FILESYSTEM, write[1], fields, word.span, word.with_text(write[1]))
        )


def _emptied(reading: Reading) -> None:
    """``:%d``: every line of the files it was given goes."""
    fields: Json = {"destructive": True, "reversibility": "irreversible", "tags": ["overwrite"]}
    for file in reading.parsed.operands:
        if not file.text.startswith("+"):
            reading.items.append(Told(Verb.MODIFY, Domain.FILESYSTEM, file.text, fields, file.span, file))


SPECIAL = ("vim", read)
