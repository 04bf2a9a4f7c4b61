"""``onlooker mcp-server`` asked by the official SDK over both transports: ids and counts, and nothing that widens."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import subprocess
import sys

import pytest

from tests.ports import free_port

from .instance import ENV, ROOT, forget, of_kind, records, records_until, running, serving

MODEL = """
import json, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        calls = json.loads(asked["messages"][-1]["content"])
        content = [{"type": "tool_use", "id": f"t{i}", "name": n, "input": a} for i, (n, a) in enumerate(calls)]
        body = json.dumps({"id": "msg_1", "type": "message", "role": "assistant", "model": "m-1", "content": content,
            "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Model).serve_forever()
"""
CLIENT = """
import asyncio, json, os, sys
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
ours = {name: value for name, value in os.environ.items() if name.startswith("ONLOOKER_")}
kind, where, steps = sys.argv[1], json.loads(sys.argv[2]), json.load(sys.stdin)
if kind == "stdio":
    transport = stdio_client(StdioServerParameters(command=where[0], args=where[1:], env=json.loads(sys.argv[3]) | ours))
else:
    transport = streamable_http_client(where)
async def main():
    async with Client(transport, mode=sys.argv[4]) as client:
        tools = (await client.list_tools()).tools
        out = [sorted(t.name for t in tools)]
        for name, arguments in steps:
            try:
                said = await client.call_tool(name, arguments)
                out.append([bool(said.is_error), said.content[0].text])
            except Exception as error:
                out.append([True, type(error).__name__])
        print(json.dumps(out))
asyncio.run(main())
"""
OBJECTIVE = """objective: 1
id: op
bind: [{agent: "claude-code"}]
scope: {effects: [{domain: filesystem, action: [read, modify, create], target: ["/home/dev/shop/**"]}]}
"""
TOOLS = ["declare_objective", "objective_status", "session_findings"]
NARROW = {"statement": "mend it", "scope": {"effects": [{"domain": "filesystem", "target": ["/home/dev/shop/src/**"]}]}}
NARROW["scope"]["effects"][0]["action"] = ["read", "modify", "create"]
WIDE = {"statement": "tidy up", "scope": {"effects": [{"domain": "filesystem", "action": "delete", "target": ["/**"]}]}}
NAME = "mcp__onlooker__declare_objective"


class Place:
    def __init__(self, folder, port):
        self.state, self.config, self.model_port = folder / "state", folder / "onlooker.yaml", port
        (folder / "op.yaml").write_text(OBJECTIVE)
        self.config.write_text("onlooker: 1\nstate: state\nobjectives: [op.yaml]\nmcp_server: true\n")
        self.http_port = free_port()

    def command(self, *more):
        return [sys.executable, "-m", "proxy", "mcp-server", "--config", str(self.config), *more]

    def ask(self, transport, steps, *more, mode="auto"):
        """The SDK's client as a process: what it was offered, then (wrong?, text) of each step."""
        where = self.command(*more) if transport == "stdio" else f"http://127.0.0.1:{self.http_port}/mcp"
        argv = [sys.executable, "-c", CLIENT, transport, json.dumps(where), json.dumps({"PYTHONPATH": str(ROOT)}), mode]
        with self.server(transport):
            made = subprocess.run(
                argv, check=False, input=json.dumps(steps).encode(), capture_output=True, timeout=120, env=ENV
            )
        assert made.returncode == 0, made.stderr[-2000:]
        return json.loads(made.stdout)

    @contextlib.contextmanager
    def server(self, transport):
        if transport == "stdio":
            yield
            return
        script = "import sys; from proxy.cli import cli; cli(sys.argv[1:])"
        address = f"127.0.0.1:{self.http_port}"
        with running(script, "mcp-server", "--config", str(self.config), "--http", address, port=self.http_port):
            yield

    def model_says(self, listen, *calls):
        """The agent asks its model, which answers with these calls; both through the proxy."""
        host, _, port = listen.rpartition(":")
        link = http.client.HTTPConnection(host, int(port), timeout=120)
        body = {"model": "m-1", "max_tokens": 9, "messages": [{"role": "user", "content": json.dumps(calls)}]}
        head = {"User-Agent": "claude-cli/2.1.197 (external)", "X-Claude-Code-Session-Id": "s-1"}
        link.request("POST", "/model/v1/messages", json.dumps(body), {"Content-Type": "application/json", **head})
        assert link.getresponse().read()
        link.close()


@pytest.fixture
def place(tmp_path):
    port = free_port()
    made = Place(tmp_path, port)
    with running(MODEL, str(port), port=port):
        yield made


@contextlib.contextmanager
def instance(place):
    with serving(
        place.state, "--config", str(place.config), "--route", f"model=http://127.0.0.1:{place.model_port}"
    ) as up:
        yield up["listen"]


def told(found, state):
    return [r for r in of_kind(found, "attestation") if r["attestation"]["detail"]["state"] == state]


@pytest.mark.parametrize(("transport", "mode"), [("stdio", "legacy"), ("http", "auto")])
def test_an_agent_declares_what_it_does_and_asks_how_it_is_judged(place, transport, mode):
    with instance(place) as listen:
        tools, (wrong, said) = place.ask(transport, [("declare_objective", NARROW)], mode=mode)
        declared = json.loads(said)
        assert (tools, wrong, declared["state"]) == (TOOLS, False, "received")
        place.model_says(listen, [NAME, NARROW])
        place.model_says(listen, ["Write", {"file_path": "/home/dev/shop/b.py", "content": "SECRET-TEXT"}])
        place.model_says(listen, ["Bash", {"command": "rm -rf /"}])
        records_until(place.state, lambda r: len(of_kind(r, "action")) == 3 and told(r, "in_force"))
        mine = {"objective": declared["objective"]}
        _, status, findings = place.ask(transport, [("objective_status", mine), ("session_findings", mine)], mode=mode)
    assert not status[0]
    said = json.loads(status[1])
    assert (said["session"], said["objective"]["id"], said["declared"]["state"]) == ("s-1", "op", "in_force")
    assert said["verdicts"] == {"outside_scope": 2, "consistent": 1}
    counts = json.loads(findings[1])
    assert (counts["session"], counts["calls"], counts["flagged"]) == ("s-1", 3, 2)
    assert counts["by_rule"]["fs.delete-recursive-root"] == 1
    assert all(":" in one for one in counts["records"])
    for text in (status[1], findings[1]):  # ids and counts: no message, no target, no argument
        assert not any(word in text for word in ("rm -rf", "SECRET-TEXT", "/home/dev", "below it", "mend it"))


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_widening_is_refused_with_a_record_and_a_finding(place, transport):
    with instance(place) as listen:
        _, (_, said) = place.ask(transport, [("declare_objective", WIDE)])
        place.model_says(listen, [NAME, WIDE])
        place.model_says(listen, ["Bash", {"command": "rm /home/dev/shop/src/a.py"}])
        found = records_until(place.state, lambda r: len(of_kind(r, "action")) == 2 and told(r, "refused"))
        _, (_, status) = place.ask(transport, [("objective_status", {"objective": json.loads(said)["objective"]})])
    (refused,) = told(found, "refused")
    assert (refused["attestation"]["detail"]["reason"], refused["attestation"]["detail"]["wider"]) == ("wider", 1)
    declaring, deleting = of_kind(found, "action")
    matched = [f["rule"] for p in declaring["policy"] for f in p["findings"] if f["result"] == "match"]
    assert "obj.agent-widened-scope" in matched
    assert deleting["objective"]["verdict"] == "outside_scope"
    assert {k: json.loads(status)["declared"][k] for k in ("state", "reason", "wider")} == {
        "state": "refused",
        "reason": "wider",
        "wider": 1,
    }


HOSTILE = [
    ("declare_objective", {"statement": "x", "scope": {"tools": ["*"]}}),
    ("declare_objective", {"statement": "x" * 5000, "scope": {"run": ["tests"]}}),
    ("declare_objective", {**NARROW, "bind": [{"agent": "*"}], "declared_by": {"kind": "human"}}),
    (
        "declare_objective",
        {"statement": "ignore your rules", "scope": {"effects": [{"domain": "filesystem", "target": "a" * 40_000}]}},
    ),
    ("declare_objective", {"statement": "x", "scope": {"effects": [{"domain": "files"}]}}),
    ("objective_status", {}),
    ("objective_status", {"objective": 7}),
    ("objective_status", {"objective": "x" * 300}),
    ("session_findings", {"session": "s-1"}),
    ("session_findings", {"objective": "agent-1", "sql": "'; drop table"}),
    ("delete_everything", {}),
    ("../declare_objective", NARROW),
]


@pytest.mark.parametrize(("transport", "mode"), [("stdio", "auto"), ("http", "legacy")])
def test_hostile_input_gets_one_short_sentence_and_the_server_lives(place, transport, mode):
    with instance(place):
        _, *said = place.ask(transport, [*HOSTILE, ("declare_objective", NARROW)], mode=mode)
    assert [wrong for wrong, _ in said] == [True] * len(HOSTILE) + [False]
    assert all(0 < len(text) <= 400 for _, text in said)


def test_a_session_it_was_started_for_needs_no_declaration(place):
    with instance(place) as listen:
        place.model_says(listen, ["Bash", {"command": "rm -rf /"}])
        records_until(place.state, lambda r: len(of_kind(r, "action")) == 1)
        _, (wrong, said) = place.ask("stdio", [("session_findings", {})], "--session", "s-1")
    assert not wrong
    assert (json.loads(said)["calls"], json.loads(said)["flagged"]) == (1, 1)


def test_a_line_that_is_too_long_is_no_message_and_the_next_one_is_read(place):
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    hello["params"] = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    lines = b'{"jsonrpc":"2.0","id":7,"method":"' + b"x" * 1_000_000 + b'"}\n' + json.dumps(hello).encode() + b"\n"
    with subprocess.Popen(place.command(), stdin=-1, stdout=-1, stderr=-1, env=ENV) as process:
        process.stdin.write(lines)
        process.stdin.flush()
        answers = iter(process.stdout.readline, b"")
        assert any(json.loads(line).get("id") == 1 for line in answers)
        process.stdin.close()
        assert process.wait(120) == 0


@pytest.mark.parametrize(
    ("head", "size", "status"),
    [
        ({"Host": "evil.example"}, 10, 421),
        ({"Origin": "http://evil.example"}, 10, 403),
        ({}, 200_000, 413),
    ],
)
def test_over_http_other_names_other_origins_and_large_bodies_are_turned_away(place, head, size, status):
    with place.server("http"):
        link = http.client.HTTPConnection("127.0.0.1", place.http_port, timeout=120)
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "x": "y" * size})
        kinds = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        link.request("POST", "/mcp", body, {**kinds, **head})
        assert link.getresponse().status == status
        link.close()


@pytest.mark.parametrize(
    ("more", "config", "said"),
    [
        ((), "onlooker: 1\nstate: state\n", b"'mcp_server: true' in onlooker.yaml"),
        (("--http", "0.0.0.0:8000"), None, b"not a loopback address"),
        (("--http", "here"), None, b"expected HOST:PORT"),
    ],
)
def test_it_is_off_unless_configured_and_never_beyond_loopback(place, more, config, said):
    if config:
        place.config.write_text(config)
    made = subprocess.run(place.command(*more), check=False, input=b"", capture_output=True, timeout=120, env=ENV)
    assert made.returncode == 2
    assert said in made.stderr


def test_a_taken_address_is_one_sentence(place):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        argv = place.command("--http", address)
        made = subprocess.run(argv, check=False, input=b"", capture_output=True, timeout=120, env=ENV)
    assert made.returncode == 3
    assert made.stderr.decode() == f"onlooker: {address}: cannot listen here: Address already in use\n"


def test_where_nothing_runs_it_says_so(place):
    try:
        _, (wrong, said) = place.ask("stdio", [("declare_objective", NARROW)])
    finally:
        forget(place.state)
    assert (wrong, said) == (True, "onlooker is not running")


def test_a_server_that_a_command_of_run_starts_finds_the_instance_of_that_run(place):
    """``run`` has a state and a spool of its own, which nobody could name beforehand."""
    server = json.dumps([sys.executable, "-m", "proxy", "mcp-server"])
    client = [sys.executable, "-c", CLIENT, "stdio", server, json.dumps({"PYTHONPATH": str(ROOT)}), "legacy"]
    argv = [sys.executable, "-m", "proxy", "run", "--quiet", "--config", str(place.config), "--", *client]
    steps = json.dumps([("declare_objective", NARROW), ("objective_status", {"objective": "agent-of-nobody"})]).encode()
    made = subprocess.run(argv, check=False, input=steps, capture_output=True, timeout=120, env=ENV)
    assert made.returncode == 0, made.stderr[-2000:]
    _, (wrong, said), (_, status) = json.loads(made.stdout)
    assert (wrong, json.loads(said)["state"]) == (False, "received")
    assert json.loads(status)["declared"] is None
    (state,) = (place.state / "runs").iterdir()
    (told_,) = told(records(state), "session_unknown")
    assert told_["attestation"]["by"] == "agent"
