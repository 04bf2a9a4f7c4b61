"""tar: members are named from the folder ``-C`` went to before them (GNU tar manual, "Changing the Working Directory").

A reading in; the paths of its operands, told from where tar was started, out.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from classifiers.effects import Domain
from classifiers.knowledge.reading import Reading, Told
from classifiers.knowledge.words import Word

_HERE = frozenset({".", "./"})


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Put the folders of every ``-C`` before an operand in front of it."""
    hits = reading.parsed.hits
    moves = [(h.word.span[0], h.value.text) for h in hits if h.value and h.option and h.option.name == "directory"]
    operands = {w.span for w in reading.parsed.operands}
    for item in reading.items if moves else ():
        if isinstance(item, Told) and item.domain is Domain.FILESYSTEM and item.span in operands and item.target:
            item.target = _from([to for start, to in moves if start < item.span[0] and to not in _HERE], item.target)


def _from(folders: Sequence[str], path: str) -> str:
    """``path`` seen from the start: each folder is relative to the one before."""
    folder = posixpath.join("", *folders)
    return posixpath.join(folder, path.removeprefix("./")) if path not in _HERE else folder or path


SPECIAL = ("tar", read)
