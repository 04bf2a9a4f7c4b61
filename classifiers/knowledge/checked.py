"""Values of a command file looked at: a value and its path in, the value or the mistake it is kept as out."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from classifiers.strict_yaml import Mapped, Problem

Json = dict[str, Any]
Path = tuple[str | int, ...]


class Checked:
    """One file's mistakes, found while it is compiled."""

    def __init__(self, doc: Mapped) -> None:
        self.doc = doc
        self.problems: list[Problem] = []

    def wrong(self, what: str, *path: str | int, key: bool = False) -> None:
        self.problems.append(self.doc.problem(what, *path, key=key))

    def keys(self, value: Any, allowed: Iterable[str], path: Path, what: str) -> Json:
        """``value`` as a mapping whose keys are all allowed; unknown keys are reported with the nearest known one."""
        if not isinstance(value, dict):
            self.wrong(f"{what} is a mapping, not {_kind(value)}", *path)
            return {}
        for key in value:
            if key not in allowed:
                near = difflib.get_close_matches(key, list(allowed), 1)
                hint = f"; did you mean '{near[0]}'?" if near else f"; {what} takes {', '.join(sorted(allowed))}"
                self.wrong(f"unknown key '{key}'{hint}", *path, key, key=True)
        return value

    def one_of(self, value: Any, allowed: Iterable[str], path: Path) -> str:
        if value not in set(allowed):
            self.wrong(f"'{value}' is not known here; one of {', '.join(sorted(allowed))}", *path)
        return str(value)


def _kind(value: Any) -> str:
    return {dict: "a mapping", list: "a list", str: "text", type(None): "nothing"}.get(
        type(value), type(value).__name__
    )
