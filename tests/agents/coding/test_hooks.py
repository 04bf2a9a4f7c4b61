"""Hooks written by ``onlooker install`` and run by the real clients: the hook's sight is a sighting, not a second action."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.agents
ROOT = Path(__file__).parents[3]
NAMES = ["codex", "gemini", "opencode"]


@pytest.mark.parametrize("name", NAMES)
def test_a_hooks_sight_joins_the_models_call(agents, monkeypatch, name):
    made = getattr(agents, name)

    def hooked(home, url, allowed):
        argv = [sys.executable, "-m", "proxy", "install", name, "--home", str(home), "--apply"]
        started, more = made(home, url, allowed)
        subprocess.run(argv, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        trusted = ["--dangerously-bypass-hook-trust"] if name == "codex" else []
        return [*started[:2], *trusted, *started[2:]], more

    monkeypatch.setattr(agents, name, hooked)
    run = agents.run(name, through=True)
    assert (run.code, run.probe) == (0, True), run.stderr
    (action,) = [r for r in run.records if r["kind"] == "action"]
    (sighting,) = [r for r in run.records if r["kind"] == "sighting"]
    assert (sighting["action"], action["call"]["observed_at"]) == (action["id"], "model_response")
    assert sighting["disagrees"] == []
    outcomes = {r["outcome"] for r in run.records if r["kind"] == "outcome" and r["action"] == action["id"]}
    assert outcomes >= ({"error"} if name == "opencode" else {"unknown"})
