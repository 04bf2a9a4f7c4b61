"""The text an effect was read from, with the span underlined.

In: a call's arguments as the record keeps them, and evidence (path, start, end in code points). Out: lines for people.
What the record does not keep (metadata mode) cannot be shown and says so.
"""

from __future__ import annotations

import re
from typing import Any

from proxy.cli._table import printable

_STEP = re.compile(r"[^.\[\]]+")
MAX_LINES = 12


def text_at(arguments: Any, path: str) -> str | None:
    """The string at a JSON path like ``arguments.command`` or ``edits[0].new_string``, or None."""
    value = arguments
    for step in _STEP.findall(path.removeprefix("$").removeprefix("arguments.")):
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    return value if isinstance(value, str) else None


def underlined(text: str, start: int, end: int) -> list[str]:
    """The lines of ``text`` the span touches, each with carets under its part."""
    out: list[str] = []
    at = 0
    for line in text.split("\n"):
        first, last = max(start - at, 0), min(end - at, len(line))
        if first < last:
            before, part = printable(line[:first]), printable(line[first:last])
            out += [before + part + printable(line[last:]), " " * len(before) + "^" * len(part)]
        at += len(line) + 1
    return out[: 2 * MAX_LINES]
