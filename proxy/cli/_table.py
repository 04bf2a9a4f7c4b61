"""Findings as a table: colour and columns on a terminal, plain tab-free text in a pipe.

In: rows and coverage of ``proxy/findings.py``. Out: text on the stream given. No control character of a record's text
reaches the terminal.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from proxy.findings import Row

_COLOURS = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}
_WIDE = 200  # columns of a pipe: nothing there needs folding


def printable(text: str) -> str:
    """The text without control, bidi or line-breaking characters; each shows as its escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def print_rows(rows: Sequence[Row], stream: TextIO | None = None, limit: int | None = None) -> None:
    stream = stream or sys.stdout
    console = Console(file=stream, highlight=False, width=None if stream.isatty() else _WIDE)
    narrow = stream.isatty() and shutil.get_terminal_size().columns < 110
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold", padding=(0, 2, 0, 0))
    for name in ("REVERSIBILITY", "EFFECT", "VERDICT", "SEVERITY", "WHY", *(() if narrow else ("TOOL", "ID"))):
        table.add_column(name, overflow="fold")
    for row in rows[:limit]:
        times = f" (x{len(row.ids)})" if len(row.ids) > 1 else ""
        cells = [
            Text(row.reversibility.upper(), style=_COLOURS.get(row.severity, "")),
            Text(printable(row.effect) + times),
            Text(row.verdict.replace("_", " ")),
            Text(row.severity, style=_COLOURS.get(row.severity, "")),
            Text(printable(row.reason)),
        ]
        cells += [] if narrow else [Text(printable(row.tool)), Text(row.ids[-1])]
        table.add_row(*cells)
    if rows:
        console.print(table)
    left = len(rows) - len(rows[:limit])
    if left:
        console.print(f"… and {left} more")
