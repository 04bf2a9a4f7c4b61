"""exiftool's tag words: ``-TAG=value`` writes to every file named. A parsed command in, a modification each out.

Source: ExifTool application documentation, "Writing options", "-if EXPR", "Advanced formatting feature".
``-TAG`` alone and ``-TAG#`` read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_WRITES = re.compile(r"-{1,2}[A-Za-z][\w:*-]*[#]?(?:[+^-]?=|<)")

# Expressions are Perl; one that only compares tags calls none of these.
_ACTS = re.compile(r"\b(?:system|exec|qx|open|unlink|eval|require|rename|rmdir|syswrite|print)\b|`")
_FORMULA = re.compile(r"\$\{[^{};]*;(.*)\}", re.DOTALL)


def _perl(reading: Reading, words: Sequence[Word]) -> None:
    """Conditions and formulas that do more than compute are programs."""
    given = reading.parsed.words_of("-if", "-p")
    for word in [*given, *words]:
        found = _FORMULA.search(word.text)
        text = found[1] if found else word.text if any(word is g for g in given) else ""
        if _ACTS.search(text):
            code = word.with_text(text)
            reading.items.append(Handed(Delegate("code", "perl"), (code,), {}, word.span, "exiftool"))


def read_exiftool(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """A modification of each file when some tag is given a value."""
    _perl(reading, words)
    wrote = any(i.action is Verb.MODIFY for i in reading.items if isinstance(i, Told))
    tag = next((w for w in words if _WRITES.match(w.text) and w.text != "-all="), None)
    if tag is None or wrote:
        return
    for file in reading.parsed.operands or [name]:
        target = file.text if file is not name else "."
        fields = {"destructive": False, "reversibility": "reversible"}
        reading.items.append(Told(Verb.MODIFY, Domain.FILESYSTEM, target, fields, tag.span, file))


SPECIAL = ("exiftool", read_exiftool)
