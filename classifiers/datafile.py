"""Load a knowledge table that ships beside the code, once.

In: a file name below ``classifiers/``. Out: plain values, as the strict YAML loader gives them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from classifiers.clock import loading
from classifiers.strict_yaml import load

HERE = Path(__file__).parent


@cache
@loading()
def table(name: str) -> Any:
    """The values of ``classifiers/<name>``, for example ``sql/functions.yaml``."""
    return load((HERE / name).read_text("utf-8"), name).value


@cache
def tables(folder: str) -> tuple[tuple[str, Any], ...]:
    """(name without suffix, values) of every YAML file in ``classifiers/<folder>``, by name."""
    return tuple((p.stem, table(f"{folder}/{p.name}")) for p in sorted((HERE / folder).glob("*.yaml")))


@cache
def alternatives(name: str, key: str, *, lower: bool = True) -> dict[str, Any]:
    """The mapping ``key`` of a table with its ``a|b|c`` keys taken apart, each name pointing at the same value."""
    entries = table(name)[key]
    return {(n.lower() if lower else n): v for names, v in entries.items() for n in names.split("|")}
