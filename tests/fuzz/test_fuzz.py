"""Every parser of foreign bytes under a coverage-guided fuzzer for a moment. ONLOOKER_FUZZ_S lengthens it (2 s each)."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SECONDS = int(os.environ.get("ONLOOKER_FUZZ_S", "2"))
sys.path.insert(0, str(HERE))
from targets import TARGETS  # noqa: E402 - a folder without packages


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_themselves_keep_every_promise(name):
    seeds = TARGETS[name].corpus()
    assert seeds
    for seed in seeds:
        for cut in (0, 1, 77, 128, 255):
            TARGETS[name].run(bytes([cut]) + seed[1:])


@pytest.mark.faults
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_breaks_in_a_moment_of_fuzzing(name, tmp_path):
    if importlib.util.find_spec("atheris") is None:
        pytest.skip("atheris has no wheel for this Python")
    argv = [sys.executable, str(HERE / "run.py"), name, str(SECONDS)]
    env = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    done = subprocess.run(
        argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=SECONDS + 120, check=False
    )
    crashes = {p.name: p.read_bytes() for p in tmp_path.glob("crash-*")}
    assert (done.returncode, crashes) == (0, {}), done.stderr[-3000:]
