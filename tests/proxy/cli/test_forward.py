"""A whole instance as a forward proxy: what is looked into becomes actions, what is not becomes an opaque flow."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys

import pytest

from proxy.ca import authority
from proxy.instance import read_records

from . import forward_clients
from .forward_clients import ASK, CALL, Model, client_environment, recorded
from .instance import ENV, ROOT, forget, serving


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    one = Model(tmp_path_factory.mktemp("model"))
    yield one
    one.sock.close()


@pytest.fixture
def forwarding(tmp_path, model):
    state = tmp_path / "state"
    authority.create(state / "ca", ["localhost"])
    flags = ("--forward", "127.0.0.1:0", "--intercept", "localhost", "--upstream-ca", str(model.ca))
    with serving(state, *flags) as ready:
        yield ready, state


def ask(proxy, model, trust):
    """One request by hand: CONNECT, TLS, POST."""
    host, port = proxy.rsplit(":", 1)
    raw = socket.create_connection((host, int(port)), timeout=120)
    raw.sendall(b"CONNECT localhost:%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % model.port)
    assert raw.recv(100).startswith(b"HTTP/1.1 200 ")
    body = json.dumps(ASK).encode()
    with ssl.create_default_context(cafile=str(trust)).wrap_socket(raw, server_hostname="localhost") as sock:
        sock.sendall(
            b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAnthropic-Version: 2023-06-01\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
            % len(body)
            + body
        )
        got = b""
        while not got.endswith(b"}"):
            got += sock.recv(65536)
    return got


def test_a_call_inside_an_intercepted_connection_is_an_action(forwarding, model):
    ready, state = forwarding
    assert b"toolu_1" in ask(ready["forward"], model, state / "ca" / "ca.pem")
    (action,) = recorded(state, "action")
    assert action["call"]["name"] == "bash"
    assert {e["domain"] for e in action["classification"]["effects"]} == {"filesystem"}
    assert action["exchange"]["upstream"] == f"localhost:{model.port}"
    assert not [r for r in read_records(state) if r["kind"] in {"opaque_flow", "unread", "gap", "analysis_failed"}]


def test_a_tunnel_is_an_opaque_flow_and_nothing_else(tmp_path, model):
    state = tmp_path / "state"
    with serving(state, "--forward", "127.0.0.1:0", "--upstream-ca", str(model.ca)) as ready:
        assert b"toolu_1" in ask(ready["forward"], model, model.ca)
        (flow,) = recorded(state, "opaque_flow")
    assert flow["flow"]["host"] == f"localhost:{model.port}"
    assert flow["flow"]["reason"] == "not_listed"
    assert flow["flow"]["bytes_out"] > len(json.dumps(CALL))
    assert not [r for r in read_records(state) if r["kind"] in {"action", "unread", "gap", "analysis_failed"}]


def test_a_killed_relay_is_replaced_on_the_same_address_with_the_same_authority(forwarding, model):
    ready, state = forwarding
    ask(ready["forward"], model, state / "ca" / "ca.pem")
    pids = json.loads((state / "pids.json").read_text())
    os.kill(pids["relays"][0], signal.SIGKILL)
    assert b"toolu_1" in ask(ready["forward"], model, state / "ca" / "ca.pem")  # waits in the socket's backlog
    assert len(recorded(state, "action", 2)) == 2


# clients


def commands(tmp_path, url, body, ready, state):
    """Client name -> command, of the clients that are here."""
    made = {}
    if shutil.which("curl"):
        made["curl"] = [part.format(body=body, url=url) for part in forward_clients.CURL]
    for name, script in forward_clients.PYTHON.items():
        made[name] = [sys.executable, "-c", script, url, str(body)]
    if shutil.which("node"):
        script = tmp_path / "ask.js"
        script.write_text(forward_clients.NODE)
        made["node"] = ["node", str(script), url, str(body)]
    return made


def test_clients_told_by_the_environment_alone_are_read(forwarding, model, tmp_path):
    ready, state = forwarding
    body = tmp_path / "body.json"
    body.write_text(json.dumps(ASK))
    environment = client_environment(ready, state)
    found = commands(tmp_path, f"https://localhost:{model.port}/v1/messages", body, ready, state)
    for name, command in found.items():
        done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=120)
        assert (name, done.returncode, json.loads(done.stdout or "null")) == (name, 0, CALL), done.stderr
    # the same history from one caller is one session, so later ones are further calls of it
    actions = recorded(state, "action", len(found))
    assert {a["call"]["name"] for a in actions} == {"bash"}
    assert not [r for r in read_records(state) if r["kind"] in {"opaque_flow", "unread", "gap"}]


def test_run_forward_needs_no_set_up_and_leaves_no_key(tmp_path, model):
    config = tmp_path / "onlooker.yaml"
    config.write_text(f"onlooker: 1\nupstream_ca: {model.ca}\n")
    body = tmp_path / "body.json"
    body.write_text(json.dumps(ASK))
    script = "import os; os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''" + forward_clients.PYTHON["urllib"]
    command = [sys.executable, "-c", script, f"https://localhost:{model.port}/v1/messages", str(body)]
    argv = [sys.executable, "-m", "proxy", "run", "--config", str(config), "--state", str(tmp_path / "state")]
    objective = ROOT / "proxy" / "demo" / "objective.yaml"  # its id travels as the proxy's user name
    argv += ["--objective", str(objective), "--forward", "--intercept", "localhost", "--", *command]
    kept = {k: v for k, v in ENV.items() if not k.lower().endswith("_proxy")}
    done = subprocess.run(argv, env=kept, check=False, capture_output=True, text=True, timeout=120)
    assert (done.returncode, json.loads(done.stdout)) == (0, CALL), done.stderr
    (state,) = (tmp_path / "state" / "runs").iterdir()
    (action,) = [r for r in read_records(state) if r["kind"] == "action"]
    assert action["call"]["name"] == "bash"
    assert action["objective"]["id"] == "upgrade-django"
    assert not (state / "ca").exists()
    forget(state)


def test_run_says_what_is_wrong_with_its_flags(tmp_path):
    argv = [sys.executable, "-m", "proxy", "run", "--state", str(tmp_path), "--intercept", "a.example", "--", "true"]
    done = subprocess.run(argv, env=ENV, check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "needs --forward" in done.stderr
