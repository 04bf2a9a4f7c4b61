"""Every parser of foreign bytes under a coverage-guided fuzzer for a moment. ONLOOKER_FUZZ_S lengthens it (2 s each)."""

import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path
from types import CodeType

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


def _lines(code, only):
    """Numbers of the lines inside functions of a compiled module, or inside the one function named."""
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    found = set().union(*(_lines(c, only) for c in inner))
    if not code.co_flags & inspect.CO_OPTIMIZED or only not in {"", code.co_name}:  # a class or module body
        return found
    return found | {line for _, _, line in code.co_lines() if line and line > code.co_firstlineno}


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_reach_most_of_what_is_fuzzed(name):
    """A fuzzer is guided from where its seeds get: half a head, or a wrong checksum, gets nowhere."""
    module, _, only = TARGETS[name].reads.partition(":")
    path = importlib.util.find_spec(module).origin
    all_of_it = _lines(compile(Path(path).read_text(encoding="utf-8"), path, "exec"), only)
    seen = set()

    def look(frame, event, _):
        if frame.f_code.co_filename != path:
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        for seed in TARGETS[name].corpus():
            TARGETS[name].run(seed)
    finally:
        sys.settrace(before)
    reached = len(all_of_it & seen) / len(all_of_it)
    assert reached >= 0.75, sorted(all_of_it - seen)


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
