"""Streamed Gemini arguments: ``partialArgs`` with JSON paths in, one object out.

The same path again appends a string. Paths are plain (``$.a.b[0].c``, ``$['a']``); an index far past the end of its
list is refused, so that one short path cannot ask for a billion entries.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from proxy.providers._calls import rows, text

_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d{1,7})\]|\[(?:'([^']*)'|"([^"]*)")\]""")
_VALUES = ("stringValue", "numberValue", "boolValue", "nullValue")
GAP_CAP = 64
STEPS_CAP = 100


class PartialArgs:
    """``add`` the ``partialArgs`` of one part; ``value`` is what they amount to."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.problem: str | None = None

    def add(self, entries: Any) -> None:
        for entry in rows(entries):
            path = _steps(text(entry.get("jsonPath")))
            key = next((k for k in _VALUES if k in entry), None)
            if path is None or key is None:
                self.problem = self.problem or f"partial argument not understood: {text(entry.get('jsonPath'))[:80]}"
            elif not _put(self.value, path, None if key == "nullValue" else entry[key]):
                self.problem = self.problem or f"partial argument contradicts another: {entry['jsonPath'][:80]}"


def _steps(path: str) -> list[str | int] | None:
    steps: list[str | int] = []
    at = 1
    while path.startswith("$") and at < len(path):
        match = _STEP.match(path, at)
        if match is None or len(steps) >= STEPS_CAP:
            return None
        name, index, single, double = match.groups()
        steps.append(int(index) if index is not None else next(s for s in (name, single, double) if s is not None))
        at = match.end()
    return steps or None


def _put(root: Any, path: list[str | int], value: Any) -> bool:
    holder = root
    for here, following in pairwise(path):
        inner = _get(holder, here)
        if inner is None:
            inner = [] if isinstance(following, int) else {}
            if not _set(holder, here, inner):
                return False
        holder = inner
    old = _get(holder, path[-1])
    return _set(holder, path[-1], old + value if isinstance(old, str) and isinstance(value, str) else value)


def _get(holder: Any, step: str | int) -> Any:
    if isinstance(holder, dict):
        return holder.get(step)
    fits = isinstance(holder, list) and isinstance(step, int) and step < len(holder)
    return holder[step] if fits else None


def _set(holder: Any, step: str | int, value: Any) -> bool:
    if isinstance(holder, dict) and isinstance(step, str):
        holder[step] = value
        return True
    if not isinstance(holder, list) or not isinstance(step, int) or step > len(holder) + GAP_CAP:
        return False
    holder.extend([None] * (step + 1 - len(holder)))
    holder[step] = value
    return True
