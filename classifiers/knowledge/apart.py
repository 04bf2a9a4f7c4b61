"""Options of one row that are used apart: a compiled command file in, (line, sentence) of each mistake out.

Spellings joined by ``|`` are one option, so ``when=-c`` also holds for ``-r`` where a row says ``-r|-c``, and ``{c}``
is the value of either. That is meant for ``-o|--output``; a row of several options is named whole, unless its ``name``
says what they have in common.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from classifiers.knowledge.model import Json

Rows = Mapping[str, tuple[str, ...]]
_PART = re.compile(r"\{([^{}]*)\}")


def told_apart(programs: Mapping[str, Json]) -> Iterator[tuple[int, str]]:
    """Every condition and template of a file's programs that names a part of a row holding several options."""
    for program, node in programs.items():
        if "alias" not in node:
            yield from _of_node(program, node, {}, {})


def _of_node(name: str, node: Json, options: Rows, values: Rows) -> Iterator[tuple[int, str]]:
    for option in node.get("options", ()):
        row = () if "name" in option or not _several(option["spell"]) else tuple(option["spell"])
        options = {**options, **dict.fromkeys(option["spell"], row)}
        taken = row if option.get("values") else ()
        values = {**values, **{s.lstrip("-+"): taken for s in option["spell"]}}
    for words in dict.fromkeys(tuple(w) for w in _strings(node, ("when", "unless", "session"), list)):
        for row, left in _torn(words, options, lambda s: s):
            yield node["line"], _said(name, "a condition on " + "|".join(s for s in row if s not in left), left)
    for part in dict.fromkeys(p for t in _strings(node, ("target", "where"), str) for p in _PART.findall(t)):
        wanted = [w for w in re.split(r"!|:-", part)[0].split(",") if w]  # ``{}`` is the word at hand
        for _, left in _torn(wanted, values, lambda s: s.lstrip("-+")):
            yield node["line"], _said(name, f"{{{part}}}", left)
    for word, sub in (node.get("subs") or {}).items():
        if isinstance(sub, dict):
            yield from _of_node(f"{name} {word}", sub, options, values)


def _torn(words: Sequence[str], rows: Rows, bare: Any) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The rows that some of these words name, and their spellings that no word names."""
    for row in dict.fromkeys(rows[w] for w in words if rows.get(w)):
        if left := [s for s in row if bare(s) not in words]:
            yield row, left


def _said(name: str, what: str, left: list[str]) -> str:
    return f"{name}: {what} holds for {'|'.join(left)} too: one row holds them"


def _strings(value: Any, keys: tuple[str, ...], kind: type) -> Iterator[Any]:
    """What stands under ``keys`` below, subcommands left out."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        if key in keys and isinstance(inner, kind):
            yield inner
        elif key != "subs":
            yield from _strings(inner, keys, kind)


def _several(row: Sequence[str]) -> bool:
    """Whether these spellings are more than the short and the long form of one option."""
    long = sum(s.startswith("--") for s in row)
    return long > 1 or len(row) - long > 1
