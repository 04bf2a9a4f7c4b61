"""Check a built wheel: our four packages, their data files, and nothing else. usage: check_wheel.py DIST_DIR."""

import sys
import zipfile
from pathlib import Path

wheel = max(Path(sys.argv[1]).glob("onlooker-*.whl"))
names = zipfile.ZipFile(wheel).namelist()
top = {n.split("/")[0] for n in names if ".dist-info/" not in n}
assert top == {"proxy", "policies", "classifiers", "audit"}, f"unexpected top-level folders in the wheel: {top}"
sources = {str(p) for d in top for p in Path(d).rglob("*") if p.is_file() and "__pycache__" not in p.parts}
missing = sources - set(names)
assert not missing, f"missing from the wheel: {sorted(missing)[:10]}"
print(f"{wheel.name}: {len(names)} files, 1 passed")
