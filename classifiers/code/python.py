"""Python's front end: text in, program form out, by the standard library's own parser.

Notebook lines (``!pip install x``, ``%cd d``, ``%%bash``) are read as what they run. Raises SyntaxError.
"""

from __future__ import annotations

import ast
import re
import warnings

from classifiers.code import ir
from classifiers.code.python_statements import Statements

_SHELL_LINE = re.compile(r"^(\s*)!(.*)$")
_MAGIC = re.compile(r"^\s*%(\w+)\s*(.*)$")


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    """Raises SyntaxError, ValueError for a null byte, TimeoutError past ``deadline`` (of ``classifiers.clock``)."""
    if re.search(r"^\s*[!%]", text, re.MULTILINE):
        text = _without_magics(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, tree = _tree(text)
    return Statements(text, deadline).block(tree.body)


# What no Python 3 reads and people write in one-liners all the same: a compound statement after a semicolon, and
# Python 2's print. Read as what they mean, in the same number of characters.
_COMPOUND = re.compile(r";[ \t]*(?=(?:async[ \t]+)?(?:for|while|if|with|def|class|try)\b)")
_PRINT = re.compile(r"((?:^|[;:])[ \t]*print)[ \t](?=[ \t]*[\w\"'\[{(-])", re.MULTILINE)


def _tree(text: str) -> tuple[str, ast.Module]:
    try:
        return text, ast.parse(text)
    except SyntaxError:
        meant = _COMPOUND.sub(lambda m: " " * (len(m[0]) - 1) + "\n", text)
        meant = _PRINT.sub(r"\1,", meant)
        if meant == text:
            raise
        return meant, ast.parse(meant)


def _without_magics(text: str) -> str:
    """Notebook lines as calls of two names nobody else has, kept on their own lines."""
    if text.lstrip().startswith(("%%bash", "%%sh", "%%script")):
        return f"__shell__({text.lstrip().partition(chr(10))[2]!r})"
    out = []
    for line in text.split("\n"):
        shell, magic = _SHELL_LINE.match(line), _MAGIC.match(line)
        if shell is not None:
            line = f"{shell.group(1)}__shell__({shell.group(2)!r})"  # noqa: PLW2901 - the line as Python
        elif magic is not None:
            name, rest = magic.groups()
            command = f"{name} {rest}" if name in {"cd", "pip", "conda", "mkdir", "rm", "cp", "mv", "ls", "cat"} else ""
            line = f"__shell__({(rest if name in {'sx', 'system'} else command)!r})"  # noqa: PLW2901 - the line as Python
        out.append(line)
    return "\n".join(out)
