"""The seam between a call and the classifier of its kind: ``CallParts`` in, ``Action`` (or None: not mine) out.

A mapper (``classifiers/tools``, exposing ``MAP``) says which surface a call belongs to and which argument plays
which role; a surface (``classifiers/surfaces/<name>.py``, exposing ``SURFACE``) reads those roles. Surfaces also hand
payloads to one another through ``surface_named``: the shell gives ``python -c`` text to ``code``, for example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from classifiers.context import Context
from classifiers.discover import discover
from classifiers.effects import Action


@dataclass(frozen=True, slots=True)
class CallParts:
    """One payload and the roles in it.

    ``values``: role → value. Roles: command (str), argv (list of str), stdin, cwd, sql, dialect, url, method, headers,
    body, path, content, code, language, patch, query; a surface may read others its mapper names.
    ``paths``: role → JSON path of that value within the call's arguments, for evidence; absent means the role's name.
    """

    surface: str
    values: Mapping[str, Any]
    paths: Mapping[str, str] = field(default_factory=dict)
    tool: str = ""
    via: tuple[str, ...] = ()
    depth: int = 0  # how many payloads deep this one is; surfaces stop at their own cap with depth_cap

    def path_of(self, role: str) -> str:
        return self.paths.get(role, role)


class Surface(Protocol):
    """``name`` is the value mappings use (shell, sql, http, code, files, …). ``classify`` never raises."""

    name: str

    def classify(self, call_parts: CallParts, context: Context) -> Action | None: ...


@cache
def _by_name() -> dict[str, Surface]:
    return {surface.name: surface for surface in discover("classifiers.surfaces", "SURFACE")}


def surface_named(name: str) -> Surface | None:
    return _by_name().get(name)
