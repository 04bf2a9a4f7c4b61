"""Which policies and objectives records refer to, by hash, and which of them an evidence pack can hold.

In: raw lines, files by hash. Out: one ``Reference`` each, with the files when they still are what was in force.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

Key = tuple[str, str, str]  # kind (policy | objective), id, hash
FilesByHash = Mapping[str, Sequence[Path]]


@dataclass(frozen=True, slots=True)
class Reference:
    """``files``: empty when no file here has that hash any more. A policy's are in the order its hash is over."""

    kind: str
    id: str
    hash: str
    files: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind} {self.id} {self.hash}"


def references(lines: Iterable[bytes], known: FilesByHash) -> list[Reference]:
    """In the order they were first referred to."""
    found = dict.fromkeys(key for line in lines if b'"sha256:' in line for key in _keys(orjson.loads(line)))
    return [Reference(*key, files=tuple(known.get(key[2], ()))) for key in found]


def _keys(record: Mapping[str, Any]) -> Iterator[Key]:
    for kind, one, many in (("policy", "policy", "policies"), ("objective", "objective", "objectives")):
        said = [record.get(one), *_list(record.get(many))]
        for entry in (e for s in said for e in _list(s)):
            if isinstance(entry, dict) and entry.get("hash"):
                yield kind, str(entry.get("id") or ""), str(entry["hash"])


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
