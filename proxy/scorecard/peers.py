"""Other command classifiers, when they are installed beside this one: a command in, what they say of it out.

sentience-governor (PyPI) says ``complete`` and ``destructive`` and reads bash only; it has no tags, so its alarm is
``destructive`` True. bash-classify is on no package registry (asked 2026-11-30), so it has no column.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Said:
    complete: bool
    destructive: bool | None


@dataclass(frozen=True, slots=True)
class Peer:
    name: str
    judge: Callable[[str], Said]


def installed() -> list[Peer]:
    """The peers of this environment; an empty list is the rule."""
    try:
        module = importlib.import_module("sentience_governor.wrapper.shell_classification")
        version = importlib.metadata.version("sentience-governor")
    except ImportError:
        return []
    classify = module.classify_shell_command

    def judge(command: str) -> Said:
        found = classify(command)
        return Said(bool(found.complete), found.destructive)

    return [Peer(f"sentience-governor {version}", judge)]
