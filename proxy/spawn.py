"""How onlooker starts its own parts: a module name in, a command and an environment out. Standard library only.

The folder somebody works in must never be on a part's import path: a project with a ``proxy/`` folder of its own would
be run in our place. So ``-P``, and the folder this code came from named in ``PYTHONPATH``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[1])


def command(module: str, *arguments: str) -> list[str]:
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> dict[str, str]:
    """The environment for ``command``: ours, and our own folder first on the import path."""
    rest = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != ROOT]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([ROOT, *rest])}
