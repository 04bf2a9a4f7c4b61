"""su: words after the user's name go to that user's shell (su(1) of util-linux). A parsed command in, one more out."""

from __future__ import annotations

from collections.abc import Sequence

from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Reading
from classifiers.knowledge.words import Word


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """``su [-] USER [--] ARGUMENTS``; with ``-u`` they are a command, which the slots hand on."""
    given = [w for w in reading.parsed.operands if w.text != "-"][1:]
    if given and not reading.parsed.given("-u", "--user"):
        to = Delegate("argv", program="sh", privilege="elevated", via="su")
        reading.items.append(Handed(to, tuple(given), {"privilege": "elevated"}, given[0].span, "su"))
        reading.reads_stdin = None


SPECIAL = ("su", read)
