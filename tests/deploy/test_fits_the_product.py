"""What deploy/ and the runbook say is what the product has: flags, keys, commands, metrics."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from proxy.cli.serve import COMMAND as SERVE
from proxy.config import build

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
FLAGS = {flag for option in SERVE.params for flag in option.opts}


def flags_of(words):
    return {w for w in words if w.startswith("--")}


def test_the_image_starts_serve_with_flags_it_has():
    command = json.loads(re.findall(r"^CMD (\[.+\])$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)[0])
    assert command[0] == "serve"
    assert flags_of(command)
    assert flags_of(command) <= FLAGS


def test_the_unit_starts_serve_with_flags_it_has():
    (line,) = re.findall(r"^ExecStart=(.+)$", (DEPLOY / "systemd/onlooker.service").read_text(), re.MULTILINE)
    words = shlex.split(line)
    assert words[1] == "serve"
    assert flags_of(words)
    assert flags_of(words) <= FLAGS


def test_onlooker_itself_loads_the_composed_configuration():
    config = build(DEPLOY / "compose/onlooker.yaml", {"allow_remote": True})
    assert (config.listen, config.control, config.state) == ("0.0.0.0:8790", "127.0.0.1:8791", "/state")
    assert [list(sink) for sink in config.sinks] == [["stdout"], ["otlp"], ["clickhouse"]]


def test_a_live_instance_exports_every_metric_an_alert_names(served):
    exported = set(re.findall(r"^(onlooker_\w+)", served.get("/metrics"), re.MULTILINE))
    used = set(re.findall(r"onlooker_[a-z_]+", (DEPLOY / "prometheus/onlooker.rules.yml").read_text()))
    declared = set(re.findall(r"^# TYPE (\w+)", served.get("/metrics"), re.MULTILINE))
    assert used
    assert used <= declared
    assert used <= exported


def commands():
    found = re.findall(r"`onlooker ([^`]+)`", (ROOT / "docs/runbook.md").read_text())
    return sorted({" ".join(c.split()) for c in found})


@pytest.mark.parametrize("command", commands())
def test_every_command_of_the_runbook_runs_on_a_real_log(command, demo_state, tmp_path):
    policy = tmp_path / "own.yaml"
    base = [sys.executable, "-m", "proxy"]
    records = [json.loads(x) for f in (demo_state / "audit").glob("*.jsonl") for x in f.read_text().splitlines()]
    first = next(r["id"] for r in records if r["kind"] == "action" and r["classification"]["destructive"])
    words = command.replace(" FILE…", f" {policy}").replace(" ID", f" {first}").split()
    if words[0] != "policy":
        words += ["--state", str(demo_state)]
    done = subprocess.run([*base, *words], capture_output=True, text=True, timeout=120, cwd=ROOT, check=False)
    said = done.stdout + done.stderr
    # a policy file that is not there is a bad file (3), not a wrong command line (2)
    assert done.returncode in ({3} if words[0] == "policy" else {0, 1}), said
