"""Find plug-ins by walking a package's folder: one new file, no list to edit.

``discover("proxy.providers", "PROVIDER")`` imports each module below the package and returns the named attribute
of those that have it, ordered by module name. Cached for the life of the process.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from classifiers.clock import loading


@cache
@loading()
def discover(package: str, attribute: str) -> tuple[Any, ...]:
    root = importlib.import_module(package)
    names = sorted(m.name for m in pkgutil.walk_packages(root.__path__, package + "."))
    found = ((n, importlib.import_module(n)) for n in names if not n.rpartition(".")[2].startswith("_"))
    return tuple(getattr(module, attribute) for _, module in found if hasattr(module, attribute))
