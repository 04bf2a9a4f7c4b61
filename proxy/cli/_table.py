"""Findings as a table: colour and columns on a terminal, plain tab-free text in a pipe.

In: rows and coverage of ``proxy/findings.py``. Out: text on the stream given. No control character of a record's text
reaches the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from proxy.findings import Row

_COLOURS = {"critical": "bold red", "high": "red", "medium": "yellow", "low": "cyan", "info": "dim"}
_NARROW = 110  # columns
_WIDE = 200  # columns of a pipe: nothing there needs folding


def printable(text: str) -> str:
    """The text without control, bidi or line-breaking characters; each shows as its escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def words(value: object) -> str:
    """A value of a JSON answer as a person would write it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {words(v)}" for name, v in value.items()) or "none"
    if isinstance(value, list | tuple):
        return ", ".join(map(words, value)) or "none"
    return {True: "yes", False: "no", None: "none"}[value] if value is None or isinstance(value, bool) else str(value)


def print_rows(rows: Sequence[Row], stream: TextIO | None = None, limit: int | None = None) -> None:
    """A table; on a terminal too narrow for one, two lines a row. The id, which ``explain`` wants, is always whole."""
    stream = stream or sys.stdout
    console = Console(file=stream, highlight=False, width=None if stream.isatty() else _WIDE)
    if stream.isatty() and console.width < _NARROW:
        for row in rows[:limit]:
            console.print(_two_lines(row))
    elif rows:
        console.print(_table(rows[:limit]))
    left = len(rows) - len(rows[:limit])
    if left:
        console.print(f"… and {left} more")


def _cells(row: Row) -> dict[str, Text]:
    colour = _COLOURS.get(row.severity, "")
    times = f" (x{len(row.ids)})" if len(row.ids) > 1 else ""
    return {
        "REVERSIBILITY": Text(row.reversibility.upper(), style=colour),
        "EFFECT": Text(printable(row.effect) + times),
        "VERDICT": Text(row.verdict.replace("_", " ")),
        "SEVERITY": Text(row.severity, style=colour),
        "WHY": Text(printable(row.reason)),
        "TOOL": Text(printable(row.tool)),
        "ID": Text(row.ids[-1]),
    }


def _table(rows: Sequence[Row]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold", padding=(0, 2, 0, 0))
    shown = [_cells(row) for row in rows]
    for name in shown[0]:
        table.add_column(name, overflow="fold", no_wrap=name == "ID")
    for cells in shown:
        table.add_row(*cells.values())
    return table


def _two_lines(row: Row) -> Text:
    cells = _cells(row)
    first = Text("  ").join(cells[n] for n in ("SEVERITY", "REVERSIBILITY", "EFFECT"))
    second = Text("  ").join(cells[n] for n in ("ID", "VERDICT", "WHY"))
    second.stylize("dim")
    return Text.assemble(first, "\n  ", second)
