"""A stage may raise, hang or kill the process: the call stays, and the third try is not made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.analyzer.guard import Guard, StageFailedError


def test_a_stage_that_raises_is_named_without_its_content(tmp_path):
    guard = Guard(tmp_path / "g")
    with pytest.raises(StageFailedError) as caught:
        guard.run("classify", lambda: int("secret"))
    guard.close()
    assert (caught.value.stage, caught.value.error) == ("classify", "ValueError")


def test_a_stage_that_does_not_end_is_ended(tmp_path):
    guard = Guard(tmp_path / "g", stage_s=0.05)

    def forever():
        while True:
            try:
                sum(range(1000))
            except Exception:
                pass

    with pytest.raises(StageFailedError, match="took more than"):
        guard.run("policy", forever)
    guard.close()


DIES = """
import os, sys
from pathlib import Path
from proxy.analyzer.guard import Guard
guard = Guard(Path(sys.argv[1]))
if guard.quarantined("r0/7"):
    print("quarantined"); raise SystemExit
with guard.holding("r0/7"):
    os.kill(os.getpid(), 9)
"""


def test_a_place_that_killed_the_process_twice_is_quarantined(tmp_path):
    said = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", DIES, str(tmp_path / "g")],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(Path.cwd())},
            check=False,
        )
        said.append((done.returncode, done.stdout.strip()))
    assert said == [(-9, ""), (-9, ""), (0, "quarantined")]


def test_work_that_ended_well_counts_no_crash(tmp_path):
    one = Guard(tmp_path / "g")
    with one.holding("r0/7"):
        pass
    one.close()
    two = Guard(tmp_path / "g")
    assert two.crashes == {}
    two.close()
