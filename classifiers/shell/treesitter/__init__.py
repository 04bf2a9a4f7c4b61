"""tree-sitter-bash's tree to our IR: a script's text in, statements and parse errors out (``parse``).

``legible.py`` writes the text as the grammar can read it, ``reader.py`` walks the tree by two tables: node type →
reader in ``statements.py``, ``commands.py`` and ``words.py``. Text the grammar marks as ERROR or MISSING becomes
``Broken``, never nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from classifiers.shell import ir
from classifiers.shell.treesitter import commands, statements, words
from classifiers.shell.treesitter.reader import Tables, TooDeepError, TooLongError, read

__all__ = ["TooDeepError", "TooLongError", "parse"]

_TABLES = Tables({**statements.STATEMENTS, **commands.STATEMENTS}, words.PARTS)


def parse(text: str, tick: Callable[[float], None] | None = None) -> ir.Body:
    """Statements of a script. Raises TooDeepError, TooLongError and what ``tick`` (called per statement) raises."""
    return read(text, _TABLES, tick)
