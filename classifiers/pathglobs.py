"""Path globs for our own tables: patterns in, one matcher out. ``**`` is whole segments, ``*`` stays within one.

Each alternative is anchored and has no nested repetition, so matching stays linear in the path for our tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def compile_globs(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A predicate that says whether any pattern matches the whole path."""
    body = "|".join(_regex(p) for p in patterns)
    if not body:
        return lambda _path: False
    matcher = re.compile(f"(?:{body})\\Z").match
    return lambda path: matcher(path) is not None


def _regex(pattern: str) -> str:
    out: list[str] = []
    segments = pattern.split("/")
    for i, segment in enumerate(segments):
        last = i == len(segments) - 1
        if segment == "**":
            out.append(".+" if last else "(?:.*/)?")
        else:
            out.append(re.escape(segment).replace(r"\*", "[^/]*").replace(r"\?", "[^/]") + ("" if last else "/"))
    return "".join(out)
