"""Point an agent at onlooker without changing anything else about it: profiles as data, one adapter file per exception.

An adapter is one file here exposing ``ADAPTER`` (``name`` and ``adapt``), found by ``discover``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Pointing:
    """What makes a command talk to onlooker: variables to set, arguments to add, upstreams its routes go to."""

    variables: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()  # right behind the command
    routes: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


# Route name -> the address under which that route is reached, objective segment included.
Address = Callable[[str], str]


class Adapter(Protocol):
    name: str

    def adapt(self, environment: Mapping[str, str], home: Path, address: Address) -> Pointing: ...
