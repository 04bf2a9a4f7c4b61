"""What the opt-in tests share: packages from npm, installed once below pytest's cache."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGES = {
    "@ag-ui/client": "1.0.0",
    "@ag-ui/encoder": "1.0.0",
    "@modelcontextprotocol/server-everything": "2026.8.31",
    "@modelcontextprotocol/server-filesystem": "2026.8.31",
}


@pytest.fixture(scope="session")
def node_modules(pytestconfig) -> Path:
    """A folder whose node_modules holds PACKAGES; skipped where there is no npm or no registry."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = Path(pytestconfig.cache.mkdir("npm"))
    wanted = json.dumps({"private": True, "type": "module", "dependencies": PACKAGES})
    manifest = folder / "package.json"
    if not manifest.is_file() or manifest.read_text() != wanted or not (folder / "installed").is_file():
        manifest.write_text(wanted)
        argv = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(argv, cwd=folder, capture_output=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip(f"npm could not install the packages: {done.stderr.decode(errors='replace')[-200:]}")
        (folder / "installed").write_text("")
    return folder
