"""Options of one row that a condition tells apart: a compiled command file in, (line, sentence) of each mistake out.

Spellings joined by ``|`` are one option, so ``when=-c`` also holds for ``-r`` where a row says ``-r|-c``. That is
meant for ``-o|--output``; a row of several options is named whole, unless its ``name`` says what they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from classifiers.knowledge.model import Json

Rows = Mapping[str, tuple[str, ...]]


def told_apart(programs: Mapping[str, Json]) -> Iterator[tuple[int, str]]:
    """Every condition of a file's programs that names a part of a row holding several options."""
    for program, node in programs.items():
        if "alias" not in node:
            yield from _of_node(program, node, {})


def _of_node(name: str, node: Json, inherited: Rows) -> Iterator[tuple[int, str]]:
    rows = {
        **inherited,
        **{s: () if "name" in o else tuple(o["spell"]) for o in node.get("options", ()) for s in o["spell"]},
    }
    for named in dict.fromkeys(tuple(words) for words in _conditions(node)):
        for row in dict.fromkeys(rows[w] for w in named if w in rows):
            if _several(row) and (left := [s for s in row if s not in named]):
                wanted = "|".join(s for s in row if s in named)
                yield (
                    node["line"],
                    f"{name}: a condition on {wanted} holds for {'|'.join(left)} too: one row holds them",
                )
    for word, sub in (node.get("subs") or {}).items():
        if isinstance(sub, dict):
            yield from _of_node(f"{name} {word}", sub, rows)


def _conditions(value: Any) -> Iterator[list[str]]:
    """The words of every ``when`` and ``unless`` below, subcommands left out."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        if key in {"when", "unless"} and isinstance(inner, list):
            yield inner
        elif key != "subs":
            yield from _conditions(inner)


def _several(row: tuple[str, ...]) -> bool:
    """Whether these spellings are more than the short and the long form of one option."""
    long = sum(s.startswith("--") for s in row)
    return long > 1 or len(row) - long > 1
