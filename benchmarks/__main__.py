"""``python -m benchmarks [name …]``: runs the benchmarks of this folder (all of them without a name), each prints ratios."""

import importlib
import pkgutil
import sys
from pathlib import Path


def main(names):
    found = sorted(m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if not m.name.startswith("_"))
    sys.argv[1:] = []  # a benchmark reads its own options from here, when it is run by its own name
    for name in names or found:
        if name not in found:
            sys.exit(f"no benchmark {name}; there are: {', '.join(found)}")
        module = importlib.import_module(f"benchmarks.{name}")
        getattr(module, "main", lambda: None)()


if __name__ == "__main__":
    main(sys.argv[1:])
