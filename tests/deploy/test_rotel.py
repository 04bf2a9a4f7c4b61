"""Records of a live instance through rotel, started with the file that ships."""

import gzip
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


class Store:
    """What stands behind the collector: keeps the bodies it is sent, by path."""

    def __init__(self):
        self.came = threading.Event()
        self.logs = b""
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                body = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()
                if self.path == "/v1/logs":
                    outer.logs += body
                    if b"onlooker.action" in outer.logs:
                        outer.came.set()

            def log_message(self, *_): ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def store():
    made = Store()
    yield made
    made.server.shutdown()
    made.server.server_close()


def listening(port, process):
    """Until the collector takes connections: a sink that met a closed port waits longer and longer."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, "rotel ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("rotel never listened")


@pytest.mark.slow
def test_records_of_a_live_instance_reach_the_store_behind_rotel(started, model, store, tmp_path):
    rotel = pytest.importorskip("rotel", reason="rotel is not installed here: not run")
    text = (ROOT / "deploy/collector/rotel.env").read_text()
    settings = dict(re.findall(r"^(ROTEL_\w+)=(.*)$", text, re.MULTILINE))
    assert settings["ROTEL_OTLP_HTTP_ENDPOINT"].startswith("127.0.0.1:")
    port = free_port()
    moved = {
        "ROTEL_OTLP_GRPC_ENDPOINT": f"127.0.0.1:{free_port()}",
        "ROTEL_OTLP_HTTP_ENDPOINT": f"127.0.0.1:{port}",
        "ROTEL_OTLP_EXPORTER_ENDPOINT": f"http://127.0.0.1:{store.server.server_address[1]}",
    }
    binary = str(Path(rotel.__file__).with_name("rotel-agent"))
    if subprocess.run([binary, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("rotel does not start here (it needs Python's shared library): not run")
    config = tmp_path / "onlooker.yaml"
    sinks = [{"otlp": {"endpoint": f"http://127.0.0.1:{port}"}}]
    config.write_text(json.dumps({"onlooker": 1, "listen": "127.0.0.1:0", "control": "127.0.0.1:0", "sinks": sinks}))
    serve = [sys.executable, "-m", "proxy", "serve", "--config", str(config), "--state", str(tmp_path / "state")]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with (
        started(binary, "start", env={**os.environ, **settings, **moved}, **quiet) as collector,
        started(*serve, "--route", f"model={model.url}", env=env, stdout=subprocess.PIPE) as instance,
    ):
        listening(port, collector)
        listen = json.loads(instance.stdout.readline())["listen"]
        ask(listen)
        assert store.came.wait(60), "no record came through"


def ask(listen):
    body = json.dumps({"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}).encode()
    headers = {"Content-Type": "application/json", "anthropic-version": "2023-06-01"}
    request = urllib.request.Request(f"http://{listen}/model/v1/messages", body, headers)
    with urllib.request.urlopen(request, timeout=120) as reply:
        assert reply.status == 200
