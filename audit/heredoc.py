"""Here-document bodies out of a shell text: each becomes one line with its keyed digest and length.

In: the command as decoded. Out: the folded text and where it changed. A body is only folded when its end is there; what
is not a here-document (``1<<n``, an unterminated one) stays and is redacted like any text. One pass over the lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from audit.redact import Edit

_OPENS = re.compile(r"(?<!<)<<(?P<dash>-?)[ \t]*(?P<quote>\\|['\"]?)(?P<word>[A-Za-z_][A-Za-z0-9_]*)(?!<)")
_MAX_BODIES = 64


def fold(text: str, token: Callable[[str, bytes], str]) -> tuple[str, list[Edit]]:
    """``token(kind, body)`` names a body; its size in bytes follows."""
    if "<<" not in text or "\n" not in text:
        return text, []
    lines = text.split("\n")
    ends = _ends(lines)
    out: list[str] = []
    edits: list[Edit] = []
    row = position = bodies = 0
    while row < len(lines):
        line = lines[row]
        out.append(line)
        position += len(line) + 1
        row += 1
        for match in _OPENS.finditer(line) if bodies < _MAX_BODIES else ():
            end = _end_after(ends, match["word"], row, indented=bool(match["dash"]))
            if end is None or end == row:
                continue
            body = "\n".join(lines[row:end])
            data = body.encode("utf-8", "replace")
            folded = f"{token('heredoc', data)}_{len(data)}b"
            out.append(folded)
            edits.append(Edit(position, position + len(body), len(folded)))
            position += len(body) + 1
            row, bodies = end, bodies + 1
    return "\n".join(out), edits


def _ends(lines: list[str]) -> dict[str, list[tuple[int, bool]]]:
    """Rows that consist of one word, by that word: (row, was indented with tabs)."""
    ends: dict[str, list[tuple[int, bool]]] = {}
    for row, line in enumerate(lines):
        word = line.lstrip("\t")
        if word.isidentifier():
            ends.setdefault(word, []).append((row, word != line))
    return ends


def _end_after(ends: dict[str, list[tuple[int, bool]]], word: str, row: int, *, indented: bool) -> int | None:
    rows = ends.get(word, [])
    while rows and rows[0][0] < row:
        rows.pop(0)
    return next((at for at, tabs in rows if indented or not tabs), None)
