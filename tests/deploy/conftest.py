"""A live onlooker started as a user starts it, an agent's call through it, and the log of a real demo run."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
OBJECTIVE = """\
objective: 1
id: tidy-notes
statement: Tidy the notes of the week.
declared_by: {kind: human, id: lead@acme.example, via: file, at: "2026-11-30T08:00:00Z"}
scope:
  effects: [{domain: filesystem, action: [read, modify], target: ["/srv/notes/**"]}]
"""


def answer(command: str) -> bytes:
    """A model's whole reply that asks for one shell command."""
    block = {"type": "tool_use", "id": "toolu_deploy0001", "name": "Bash", "input": {"command": command}}
    usage = {"input_tokens": 3, "output_tokens": 9}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": [block]}
    return json.dumps({**message, "stop_reason": "tool_use", "stop_sequence": None, "usage": usage}).encode()


class Hook:
    """An HTTP server on loopback: every POST is kept and answered with ``reply``."""

    def __init__(self, reply: bytes = b"{}") -> None:
        self.received: list[Any] = []
        self._came = threading.Condition()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer._came:
                    outer.received.append(body)
                    outer._came.notify_all()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *_: object) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self._thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self._thread.start()

    def wait(self, want: Callable[[list[Any]], bool], within_s: float) -> bool:
        with self._came:
            return self._came.wait_for(lambda: want(self.received), within_s)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self._thread.join()


class Served:
    """``onlooker serve`` with an objective, before a model that asks for an irreversible command outside it."""

    def __init__(self, listen: str, control: str) -> None:
        self.listen, self.control = listen, control

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://{self.control}{path}", timeout=30) as reply:
            return reply.read().decode()

    def ask(self) -> None:
        body = json.dumps({"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}).encode()
        headers = {
            "Content-Type": "application/json",
            "anthropic-version": "2023-06-01",
            "X-Onlooker-Objective": "tidy-notes",
        }
        request = urllib.request.Request(f"http://{self.listen}/model/v1/messages", body, headers)
        with urllib.request.urlopen(request, timeout=120) as reply:
            assert reply.status == 200

    def until(self, want: str, within_s: float = 60) -> str:
        """The metrics, once a line of them is ``want``; fails with what they say instead."""
        end = time.monotonic() + within_s
        while True:
            text = self.get("/metrics")
            if want in text.splitlines():
                return text
            assert time.monotonic() < end, f"no {want!r} in\n{text}"
            time.sleep(0.05)


@contextmanager
def ended(*argv: str, **how: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is told to stop, and waited for, whatever happens."""
    process = subprocess.Popen(argv, **how)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(60)
        if process.stdout is not None:
            process.stdout.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    objective = folder / "objective.yaml"
    objective.write_text(OBJECTIVE)
    model = Hook(answer("rm -rf /srv/shop/data"))
    argv = [sys.executable, "-m", "proxy", "serve", "--state", str(folder / "state")]
    argv += ["--listen", "127.0.0.1:0", "--control", "127.0.0.1:0", "--route", f"model={model.url}"]
    with ended(*argv, "--objective", str(objective), env=ENV, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        made = Served(ready["listen"], ready["control"])
        made.until('onlooker_policy_disk_matches_active{policy="onlooker.starter"} 1')  # the analyzer judges
        yield made
    model.close()


@pytest.fixture(scope="session")
def demo_state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state of one real ``onlooker demo``."""
    state = tmp_path_factory.mktemp("demo") / "state"
    argv = [sys.executable, "-m", "proxy", "demo", "--state", str(state)]
    done = subprocess.run(argv, env=ENV, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return state


@pytest.fixture(scope="session")
def tool() -> Callable[[str], str]:
    """The path of a program (this environment's first), or a skip that says it was not run."""

    def find(name: str) -> str:
        found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
        if found is None:
            pytest.skip(f"{name} is not installed here: not run")
        return found

    return find


@pytest.fixture(scope="session")
def started() -> Any:
    return ended


@pytest.fixture(scope="session")
def hook() -> Iterator[Hook]:
    made = Hook()
    yield made
    made.close()


@pytest.fixture
def model() -> Iterator[Hook]:
    """A model that always asks for one harmless command."""
    made = Hook(answer("ls -la"))
    yield made
    made.close()


# chdb is native code with threads of its own: it runs in a process of its own.
RUN = """
import json, sys
from chdb import session
schema, lines, queries = json.load(sys.stdin)
db = session.Session()
for statement in schema:
    db.query(statement)
for _ in range(2):  # a second load of the same file must change no answer
    db.query(f"INSERT INTO onlooker.records (line) SELECT line FROM file('{lines}', 'LineAsString')")
print(json.dumps([json.loads(str(db.query(q, "JSONCompact")) or '{"data": []}')["data"] for q in queries]))
"""


def statements(name: str) -> list[str]:
    text = re.sub(r"^\s*--.*$", "", (ROOT / "deploy/clickhouse" / name).read_text(), flags=re.MULTILINE)
    return [s.strip() for s in text.split(";") if s.strip()]


@pytest.fixture(scope="session")
def ask(demo_state, tmp_path_factory):
    pytest.importorskip("chdb", reason="chdb is not installed here: not run")
    lines = tmp_path_factory.mktemp("click") / "all.jsonl"
    lines.write_text("".join(f.read_text() for f in sorted((demo_state / "audit").glob("*.jsonl"))))

    def run(*queries):
        told = json.dumps([statements("schema.sql"), str(lines), queries])
        done = subprocess.run(
            [sys.executable, "-c", RUN], input=told, capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    run.records = [json.loads(line) for line in lines.read_text().splitlines()]
    run.examples = statements("queries.sql")
    return run
