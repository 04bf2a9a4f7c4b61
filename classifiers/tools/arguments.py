"""Look arguments up by name in a call's argument value.

In: the parsed arguments (any JSON value), names such as ``file_path`` or ``action.command``. Out: the value with its
JSON path. Names match exactly first, then without case, ``_`` and ``-`` (``filePath`` is ``file_path``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

ROOT = "arguments"
ITEM = "item"  # the name a mapping gives to the member of a list it reads one by one
MAX_ITEMS = 200


@dataclass(frozen=True, slots=True)
class Found:
    value: Any
    path: str


def find(arguments: Any, names: Iterable[str], root: str = ROOT) -> Found | None:
    """The first of ``names`` that is present and not null; ``.`` alone is the whole value."""
    for name in names:
        if name == ".":
            return Found(arguments, root)
        found = _walk(arguments, name.split("."), root)
        if found is not None and found.value is not None:
            return found
    return None


def members(arguments: Any, names: Iterable[str], root: str = ROOT) -> list[Found]:
    """The members of the list argument, each with its path; a lone value counts as a list of one."""
    found = find(arguments, names, root)
    if found is None:
        return []
    if not isinstance(found.value, list):
        return [found]
    return [Found(value, f"{found.path}[{i}]") for i, value in enumerate(found.value[:MAX_ITEMS])]


def _walk(value: Any, steps: list[str], path: str) -> Found | None:
    for step in steps:
        if not isinstance(value, Mapping):
            return None
        key = step if step in value else _loosely(value, step)
        if key is None:
            return None
        value, path = value[key], f"{path}.{key}"
    return Found(value, path)


def _loosely(value: Mapping[Any, Any], step: str) -> str | None:
    wanted = _flat(step)
    return next((k for k in list(value)[:100] if isinstance(k, str) and _flat(k) == wanted), None)


def _flat(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
