"""In-place editing with a suffix (``sed -i.bak``, ``perl -pi.orig``) keeps each old file under another name.

GNU sed manual, "-i"; perlrun(1), "-i": a suffix without ``*`` is put behind the name, with ``*`` that is the name.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from classifiers.context import NOWHERE
from classifiers.effects import Domain, Verb
from classifiers.knowledge.reading import Reading, Told
from classifiers.knowledge.words import Word
from classifiers.paths import canonical, facts

_MADE = {"destructive": False, "reversibility": "reversible"}


def backups(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """One file made for each file that is edited."""
    suffix = next((w.text for w in reading.parsed.words_of("-i", "--in-place")), "")
    edited = [i for i in reading.items if isinstance(i, Told) and i.action is Verb.MODIFY and i.word is not None]
    for item in edited:
        if item.target and facts(canonical(item.target), NOWHERE).erase_tags:  # lines go from a log
            item.tag("defense_evasion")
    for item in edited if suffix else []:
        if item.word in reading.parsed.operands and item.target:
            place = _named(item.target, suffix)
            reading.items.append(Told(Verb.CREATE, Domain.FILESYSTEM, place, _MADE, item.span, item.word))


def _named(path: str, suffix: str) -> str:
    if "*" not in suffix:
        return path + suffix
    folder, base = posixpath.split(path)
    made = suffix.replace("*", base)
    return made if "/" in suffix else posixpath.join(folder, made)


SPECIAL = ("backups", backups)
