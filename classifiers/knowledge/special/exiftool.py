"""exiftool's tag words: ``-TAG=value`` writes to every file named. A parsed command in, a modification each out.

Source: ExifTool application documentation, "Writing options". ``-TAG`` alone and ``-TAG#`` read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from classifiers.effects import Domain, Verb
from classifiers.knowledge.interpret import Reading, Told
from classifiers.knowledge.words import Word

_WRITES = re.compile(r"-{1,2}[A-Za-z][\w:*-]*[#]?(?:[+^-]?=|<)")


def read_exiftool(reading: Reading, name: Word, words: Sequence[Word]) -> None:
    """A modification of each file when some tag is given a value."""
    wrote = any(i.action is Verb.MODIFY for i in reading.items if isinstance(i, Told))
    tag = next((w for w in words if _WRITES.match(w.text) and w.text != "-all="), None)
    if tag is None or wrote:
        return
    for file in reading.parsed.operands or [name]:
        target = file.text if file is not name else "."
        fields = {"destructive": False, "reversibility": "reversible"}
        reading.items.append(Told(Verb.MODIFY, Domain.FILESYSTEM, target, fields, tag.span, file))


SPECIAL = ("exiftool", read_exiftool)
