"""tar: members are named from the folder ``-C`` went to before them (GNU tar manual, "Changing the Working Directory").

A reading in; the paths of its operands, told from where tar was started, out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from classifiers.effects import Domain
from classifiers.knowledge.interpret import Reading, Told
from classifiers.knowledge.words import Word


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Put the folders of every ``-C`` before an operand in front of it; each is relative to the one before."""
    moves = [
        (h.word.span[0], h.value.text)
        for h in reading.parsed.hits
        if h.option and h.option.name == "directory" and h.value
    ]
    operands = {w.span for w in reading.parsed.operands}
    for item in reading.items if moves else ():
        if (
            not isinstance(item, Told)
            or item.domain is not Domain.FILESYSTEM
            or item.span not in operands
            or not item.target
        ):
            continue
        folder = ""
        for start, to in moves:
            folder = posixpath.join(folder, to) if start < item.span[0] else folder
        if folder:
            item.target = (
                folder if item.target in {".", "./"} else posixpath.join(folder, item.target.removeprefix("./"))
            )


SPECIAL = ("tar", read)
