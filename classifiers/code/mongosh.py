"""mongosh's front end: JavaScript, and lines of the shell's own (``use shop``, ``show dbs``). Raises SyntaxError."""

from __future__ import annotations

import re

from classifiers.code import ir, javascript

_OWN = re.compile(r"^[ \t]*(?:use[ \t]+([\w-]+)|show[ \t]+(\w+)|it|exit|quit|help|cls)[ \t]*;?[ \t]*$", re.MULTILINE)


def _spelled(line: re.Match[str]) -> str:
    """The line as the method it stands for."""
    used, shown = line.groups()
    return f'db = db.getSiblingDB("{used}");' if used else f"db.show_{shown}();" if shown else ""


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    return javascript.parse(_OWN.sub(_spelled, text), deadline)
