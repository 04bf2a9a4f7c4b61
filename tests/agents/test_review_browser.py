"""The review in a real Chromium: log in, live updates within a second, axe finds nothing serious, nothing foreign loads.

Needs Chromium, node, playwright-core and axe-core from npm; skipped where one is missing. With ONLOOKER_SHOTS=DIR the
pages are also photographed there.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from proxy.config import build
from proxy.demo.run import show
from proxy.instance import Instance

pytestmark = pytest.mark.agents
HERE = Path(__file__).parent
PACKAGES = {"axe-core": "4.14.1", "playwright-core": "1.65.1"}
CHROMIUM = next((p for n in ("chromium", "chromium-browser", "google-chrome") if (p := shutil.which(n))), None)


@pytest.fixture(scope="session")
def browser_modules(pytestconfig) -> Path:
    if shutil.which("npm") is None or CHROMIUM is None:
        pytest.skip("npm or Chromium is not installed")
    folder = Path(pytestconfig.cache.mkdir("npm-review"))
    if not (folder / "installed").is_file():
        (folder / "package.json").write_text(json.dumps({"private": True, "dependencies": PACKAGES}))
        argv = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts"]
        done = subprocess.run(argv, cwd=folder, capture_output=True, timeout=300, check=False)
        if done.returncode:
            pytest.skip("npm could not install the packages")
        (folder / "installed").write_text("")
    return folder


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """An instance over the demo's log, with its analyzer."""
    state = tmp_path_factory.mktemp("review") / "state"
    show(str(state))
    config = build(None, {"state": str(state), "listen": "127.0.0.1:0", "control": "127.0.0.1:0"}, None)
    with Instance.start(config) as instance:
        assert instance.wait_analyzer()
        yield instance


def drive(modules: Path, instance: Instance) -> dict:
    token = Path(instance.config.token_file).read_text().strip()
    given = {
        "base": f"http://{instance.control}",
        "token": token,
        "chromium": CHROMIUM,
        "shots": os.environ.get("ONLOOKER_SHOTS"),
    }
    script = modules / "review_browser.mjs"
    shutil.copy(HERE / "review_browser.mjs", script)
    done = subprocess.run(
        ["node", str(script), json.dumps(given)], cwd=modules, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_the_review_in_a_real_browser(browser_modules, running):
    found = drive(browser_modules, running)
    assert found["violations"] == []
    assert found["errors"] == []
    assert found["foreign"] == []
    assert found["wide"] == []  # no page is wider than a phone
    assert found["marked"] is True
    assert 0 <= found["live_ms"] <= 1000
    assert "acme.any-send" in found["tried"]
    assert found["opened_by_keys"].startswith("/review/actions/")
