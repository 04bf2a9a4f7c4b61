"""What the checker has to say about a file: errors reject it, warnings are lints. Text, and the pieces of SARIF.

In: positions and sentences. Out: ``Diagnostic`` values, sorted, each with a stable ``code``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from classifiers.strict_yaml import Mapped, StrictYamlError


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    name: str
    line: int
    col: int
    level: str  # error | warning
    code: str
    what: str

    def __str__(self) -> str:
        mark = "" if self.level == "error" else "warning: "
        return f"{self.name}:{self.line}:{self.col}: {mark}{self.what}"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Notes:
    """Collects diagnostics of one document while it is read."""

    def __init__(self, doc: Mapped) -> None:
        self.doc = doc
        self.found: list[Diagnostic] = []

    def error(self, what: str, *path: str | int, key: bool = False, code: str = "value") -> None:
        self._add("error", what, path, key=key, code=code)

    def warn(self, what: str, *path: str | int, key: bool = False, code: str = "lint") -> None:
        self._add("warning", what, path, key=key, code=code)

    def _add(self, level: str, what: str, path: tuple[str | int, ...], *, key: bool, code: str) -> None:
        line, col = self.doc.key_mark(*path) if key else self.doc.mark(*path)
        self.place(level, what, line, col, code)

    def place(self, level: str, what: str, line: int, col: int, code: str) -> None:
        self.found.append(Diagnostic(self.doc.name, line, col, level, code, what))

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.found if d.level == "error"]


def of_yaml(error: StrictYamlError) -> list[Diagnostic]:
    return [Diagnostic(p.name, p.line, p.col, "error", "yaml", p.what) for p in error.problems]


def sarif(found: Iterable[Diagnostic]) -> dict[str, Any]:
    """SARIF 2.1.0, the least a code host needs to show the lines."""
    results = [
        {
            "ruleId": d.code,
            "level": d.level,
            "message": {"text": d.what},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": d.name},
                        "region": {"startLine": d.line, "startColumn": d.col},
                    }
                }
            ],
        }
        for d in found
    ]
    rules = [{"id": code} for code in sorted({str(r["ruleId"]) for r in results})]
    driver = {"name": "onlooker policy check", "rules": rules}
    return {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}
