"""Read patches: unified diffs, ``apply_patch`` envelopes and edit blocks in, one ``Change`` per file out.

Sources: POSIX.1-2024 diff -u; git-diff(1) extended headers; the apply_patch grammar of openai/codex.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_CHANGES = 300


@dataclass(frozen=True, slots=True)
class Change:
    """``kind``: add | update | delete | move. ``start``, ``end``: where in the text the file is named."""

    kind: str
    path: str
    to: str | None = None
    start: int = 0
    end: int = 0


_ENVELOPE = re.compile(r"^\*\*\* (Add|Update|Delete|Move) (?:File: |to: )(.+?)[ \t]*\r?$", re.MULTILINE)
_GIT = re.compile(r"^diff --git (\"?[^\n]+)$", re.MULTILINE)
_NAMES = re.compile(r"^--- (?P<old>[^\n]+)\n\+\+\+ (?P<new>[^\n]+)$", re.MULTILINE)
_HEADERS = re.compile(
    r"^(?:(?P<deleted>deleted file mode)|(?P<added>new file mode)|rename from (?P<from>[^\n]+)|rename to (?P<to>[^\n]+)"
    r"|copy to (?P<copy>[^\n]+))",
    re.MULTILINE,
)
_BLOCK = re.compile(r"^(?P<path>\S[^\n]{0,300})\n(?:```[^\n]*\n)?<{5,9} SEARCH\r?$", re.MULTILINE)


def changes(text: str) -> list[Change]:
    """Every file the patch names, in order, at most ``MAX_CHANGES``; empty when it is no patch."""
    for read in (_envelope, _diff, _blocks):
        found = [change for change, _ in zip(read(text), range(MAX_CHANGES), strict=False)]
        if found:
            return found
    return []


def _envelope(text: str) -> Iterator[Change]:
    kinds = {"Add": "add", "Update": "update", "Delete": "delete"}
    marks = list(_ENVELOPE.finditer(text))
    for i, mark in enumerate(marks):
        word, path = mark.group(1), mark.group(2).strip()
        if word == "Move":
            continue
        follows = marks[i + 1] if i + 1 < len(marks) else None
        if follows is not None and follows.group(1) == "Move":
            yield Change("move", path, follows.group(2).strip(), *mark.span(2))
        else:
            yield Change(kinds[word], path, None, *mark.span(2))


def _diff(text: str) -> Iterator[Change]:
    git = list(_GIT.finditer(text))
    if not git:
        yield from (_named(mark, {}) for mark in _NAMES.finditer(text))
        return
    for i, head in enumerate(git):
        end = git[i + 1].start() if i + 1 < len(git) else len(text)
        headers: dict[str, str] = {}
        for found in _HEADERS.finditer(text, head.end(), end):
            headers |= {key: value for key, value in found.groupdict().items() if value}
        names = _NAMES.search(text, head.end(), end)
        if "from" in headers and "to" in headers:
            yield Change("move", headers["from"], headers["to"], *head.span(1))
        elif names is not None:
            yield _named(names, headers)
        else:
            kind = "delete" if "deleted" in headers else "add" if {"added", "copy"} & set(headers) else "update"
            yield Change(kind, headers.get("copy") or _git_name(head.group(1)), None, *head.span(1))


def _named(mark: re.Match[str], headers: dict[str, str]) -> Change:
    old, new = _file(mark.group("old")), _file(mark.group("new"))
    if new is None or "deleted" in headers:
        return Change("delete", old or new or "", None, *mark.span("old"))
    if old is None or "added" in headers:
        return Change("add", new, None, *mark.span("new"))
    return Change("update", new, None, *mark.span("new"))


def _file(name: str) -> str | None:
    """The name in a ``---`` or ``+++`` line: no timestamp, no quotes, no ``a/`` or ``b/``; None for /dev/null."""
    name = name.partition("\t")[0].strip().strip('"')
    if name == "/dev/null":
        return None
    return name[2:] if name[:2] in {"a/", "b/", "i/", "w/", "c/", "o/"} else name


def _git_name(names: str) -> str:
    return _file(names.rpartition(" b/")[2] if " b/" in names else names.rpartition(" ")[2]) or ""


def _blocks(text: str) -> Iterator[Change]:
    """``path`` above a ``<<<<<<< SEARCH`` block."""
    for mark in _BLOCK.finditer(text):
        yield Change("update", mark.group("path").strip().strip("`*#: "), None, *mark.span("path"))
