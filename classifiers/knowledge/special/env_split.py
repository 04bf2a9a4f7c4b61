"""env -S: its words come before the operands, all of them one command (GNU coreutils manual, "env invocation").

A reading in; the command it hands on out.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from classifiers.knowledge.model import Delegate
from classifiers.knowledge.reading import Handed, Reading
from classifiers.knowledge.words import Word


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """With operands behind it the string alone is no command; its own words may be options and assignments."""
    split = next(
        (h.value for h in reading.parsed.hits if h.value and h.option and h.option.name == "split-string"), None
    )
    operands = reading.parsed.operands
    if split is None or not operands:
        return
    try:
        first = [split.with_text(text) for text in shlex.split(split.text)]
    except ValueError:  # a quote that is not closed
        return
    reading.items[:] = [i for i in reading.items if not isinstance(i, Handed)]
    span = (split.span[0], operands[-1].span[1])
    reading.items.append(Handed(Delegate("argv", program="env"), (*first, *operands), {}, span, "env"))


SPECIAL = ("env_split", read)
