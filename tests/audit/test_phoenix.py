"""A person sees the tool calls in a trace viewer that is not ours: arize-phoenix, from an environment of its own.

Opt-in, because it brings a hundred packages and its licence (Elastic-2.0) lets it be a test only:
``python -m venv P; P/bin/pip install arize-phoenix; ONLOOKER_PHOENIX=P/bin/phoenix pytest -m slow tests/audit/test_phoenix.py``.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest

from audit import record as records
from audit.sink_runner import SinkRunner
from audit.sinks.otlp import SINK as OTLP
from tests.audit.build import action_record, open_log, shell_action, shell_call
from tests.ports import free_port

PHOENIX = os.environ.get("ONLOOKER_PHOENIX", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    pytest.mark.skipif(not PHOENIX, reason="ONLOOKER_PHOENIX names no phoenix program"),
]


def get(url):
    with urllib.request.urlopen(url, timeout=120) as answer:
        return json.loads(answer.read())


@pytest.fixture
def phoenix(tmp_path):
    port = free_port()
    said = {"PHOENIX_WORKING_DIR": str(tmp_path), "PHOENIX_HOST": "127.0.0.1", "PHOENIX_TELEMETRY_ENABLED": "false"}
    ports = {"PHOENIX_PORT": str(port), "PHOENIX_GRPC_PORT": str(free_port())}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    server = subprocess.Popen([PHOENIX, "serve"], env=os.environ | said | ports, **quiet)
    url, until = f"http://127.0.0.1:{port}", time.monotonic() + 120
    while True:
        try:
            get(f"{url}/v1/projects")
            break
        except OSError:
            assert server.poll() is None, "phoenix did not start"
            assert time.monotonic() < until, "phoenix does not answer"
            time.sleep(0.2)
    yield url
    server.terminate()
    server.wait(60)


def test_phoenix_shows_each_call_as_a_tool_and_joins_the_callers_trace(tmp_path, phoenix):
    trace = "ab" * 16
    around = records.Around(session={"id": "s-2"}, exchange={"traceparent": f"00-{trace}-{'cd' * 8}-01"})
    with open_log(tmp_path) as log:
        log.append(action_record())
        log.append(action_record())
        log.append(records.action(shell_call("ls /srv"), shell_action("/srv"), around=around))
    sink = OTLP.open({"endpoint": phoenix, "logs": False, "metrics": False}, tmp_path)
    runner = SinkRunner(tmp_path / "audit", tmp_path / "sinks", {"otlp": sink})
    asyncio.run(runner.drain())
    sink.close()
    assert (runner.status["otlp"].rejected, runner.status["otlp"].error) == (0, None)
    until = time.monotonic() + 60
    while len(found := get(f"{phoenix}/v1/projects/default/spans")["data"]) < 3:
        assert time.monotonic() < until, found
        time.sleep(0.2)
    assert {(s["name"], s["span_kind"]) for s in found} == {("execute_tool Bash", "TOOL")}
    assert trace in {s["context"]["trace_id"] for s in found}
    assert "Bash: delete filesystem /srv/shop/cache" in {s["attributes"]["onlooker.summary"] for s in found}
    if (browser := shutil.which("chromium")) is None:
        pytest.skip("what a person sees was not looked at: no chromium is installed")
    project = get(f"{phoenix}/v1/projects")["data"][0]["id"]
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1500,900", "--virtual-time-budget=20000"]
    picture = Path(os.environ.get("ONLOOKER_PICTURE", tmp_path / "phoenix.png"))
    for what in ("--dump-dom", f"--screenshot={picture}"):
        command = [browser, *flags, profile, what, f"{phoenix}/projects/{project}/spans"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        if what == "--dump-dom":
            # the joined call hangs below its caller's span, which is not there: the first view lists the roots
            assert len(re.findall(r">execute_tool Bash<", done.stdout)) == 2
    assert picture.stat().st_size > 20_000
