"""bashlex with one defect of it mended: text in, its trees out.

bashlex 0.18 expands within single quotes when the word holds anything beside them, and a ``${`` without ``}`` there
(``sed s'/${/x/'``) sends its reader back to the word's first character, for ever, with memory growing. A ``${`` that
takes the reader no further is plain text here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from classifiers.clock import loading

Step = Callable[[Any, str, int], tuple[Any, int]]


def progressing(expand: Step) -> Step:
    """``expand`` as it is, but where it would not move on it is one character of text."""

    def step(parser: Any, text: str, at: int) -> tuple[Any, int]:
        node, end = expand(parser, text, at)
        return (node, end) if end > at else (None, at + 1)

    return step


@cache
@loading()
def _reader() -> Callable[[str], list[Any]]:
    import bashlex  # noqa: PLC0415 - only the second reading pays for it
    import bashlex.subst  # noqa: PLC0415 - as above

    bashlex.subst._paramexpand = progressing(bashlex.subst._paramexpand)  # noqa: SLF001 - the one place the loop can be ended
    read: Callable[[str], list[Any]] = bashlex.parse
    return read


def parse(text: str) -> list[Any]:
    """bashlex's trees. Raises what bashlex raises: many kinds."""
    return _reader()(text)
