"""``doctor --live`` follows a probe through a real instance into its log, and says where one got stuck."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from proxy.doctor.live import NotRunningError, last_seen, run_live
from tests.ports import free_port

from . import instance


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.seen.append(dict(self.headers))
        body = b"" if self.server.silent else b'{"error": "no such path"}'
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def upstream():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads, server.seen, server.silent = True, [], False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@contextlib.contextmanager
def recording(state, *flags):
    """An instance whose analyzer has begun its log: the doctor gives a record 10 s, and a slow machine's start none of them."""
    with instance.serving(state, *flags) as up:
        instance.wait_for(lambda: instance.records(state))
        yield up


def doctor(state, *flags):
    argv = [sys.executable, "-m", "proxy", "doctor", "--live", "--json", "--state", str(state), *flags]
    done = subprocess.run(argv, env=instance.ENV, capture_output=True, text=True, timeout=120, check=False)
    return done, {c["name"]: c for c in json.loads(done.stdout)["checks"]} if done.stdout else {}


def test_a_probe_of_the_listener_and_of_each_route_is_followed_into_the_log(tmp_path, upstream):
    here = f"http://127.0.0.1:{upstream.server_port}"
    with recording(tmp_path / "s", "--route", f"mine={here}", "--route", f"/={here}") as up:
        done, checks = doctor(tmp_path / "s")
        found = instance.records(tmp_path / "s")
    own, mine = checks[f"probe {up['listen']}"], checks["probe route mine"]
    assert (own["state"], mine["state"], checks["probe route /"]["state"]) == ("ok", "ok", "ok"), done.stdout
    assert f"names the upstream 127.0.0.1:{upstream.server_port}" in mine["said"]
    ids = {r["id"] for r in found}
    assert all(any(i in check["said"] for i in ids) for check in (own, mine))
    assert len(upstream.seen) == 2
    assert not any(h.lower() in {"authorization", "x-api-key"} for sent in upstream.seen for h in sent)


def test_an_answer_without_a_body_has_nothing_to_record_and_says_so(tmp_path, upstream):
    upstream.silent = True
    with recording(tmp_path / "s", "--route", f"mine=http://127.0.0.1:{upstream.server_port}"):
        _, checks = doctor(tmp_path / "s")
    assert checks["probe route mine"]["state"] == "ok"
    assert "nothing in it to read" in checks["probe route mine"]["said"]


def test_an_upstream_that_refuses_is_said_with_the_relays_reason(tmp_path):
    with recording(tmp_path / "s", "--route", f"dead=http://127.0.0.1:{free_port()}"):
        done, checks = doctor(tmp_path / "s")
        wrong, _ = doctor(tmp_path / "s", "--probe", "nope")
    assert done.returncode == 1
    said = checks["probe route dead"]["said"]
    assert said == "upstream-connect: the upstream refused the connection"
    assert (wrong.returncode, "--probe nope: no such route" in wrong.stderr) == (2, True)


def test_nothing_running_is_exit_4(tmp_path):
    done, _ = doctor(tmp_path / "s")
    assert (done.returncode, "nothing runs with the state" in done.stderr) == (4, True)
    with pytest.raises(NotRunningError):
        run_live(tmp_path / "s")


def test_another_program_on_the_port_is_told_from_ours(tmp_path, upstream):
    """The files say that a relay listens there; what answers is somebody else."""
    with recording(tmp_path / "s"):
        kept = {n: (tmp_path / "s" / n).read_text() for n in ("running.json", "config.json")}
    running = json.loads(kept["running.json"]) | {"listen": [f"127.0.0.1:{upstream.server_port}"]}
    state = tmp_path / "s"
    (state / "running.json").write_text(json.dumps(running))
    (state / "pids.json").write_text(json.dumps({"supervisor": os.getpid()}))
    (check,) = run_live(state)
    assert (check.state, "another program listens here" in check.said) == ("bad", True)
    running["listen"] = [f"127.0.0.1:{free_port()}"]
    (state / "running.json").write_text(json.dumps(running))
    (check,) = run_live(state)
    assert (check.state, "Connection refused" in check.said) == ("bad", True)


def test_a_stopped_analyzer_is_where_the_probe_waits(tmp_path):
    with recording(tmp_path / "s"):
        pid = json.loads((tmp_path / "s" / "pids.json").read_text())["analyzer"]
        os.kill(pid, signal.SIGSTOP)
        try:
            (check,) = run_live(tmp_path / "s", within_s=0.3)
        finally:
            os.kill(pid, signal.SIGCONT)
        instance.records_until(tmp_path / "s", lambda r: instance.of_kind(r, "refusal"))
    assert (check.state, "no record of it came" in check.said) == ("bad", True)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (None, "the analyzer is silent"),
        ({"mono_s": -60.0}, "the analyzer is silent"),
        ({"mono_s": "now", "log": {"error": "no space left"}}, "cannot be written: no space left"),
        ({"mono_s": "now", "log": {}, "behind_bytes": 7}, "7 bytes behind"),
        ({"mono_s": "now"}, "has read everything"),
    ],
)
def test_where_a_probe_waits_is_told_from_the_analyzers_last_word(status, said):
    if status and status["mono_s"] == "now":  # when the test runs, not when it was collected
        status = {**status, "mono_s": time.monotonic()}
    assert said in last_seen(status)
