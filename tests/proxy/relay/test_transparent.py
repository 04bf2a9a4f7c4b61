"""Redirected connections, in network namespaces of the test's own, through the very rules deploy/nftables ships."""

import contextlib
import json
import os
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from proxy.ca import authority
from proxy.settings import spool_dir_for

from .company import API, Company

ROOT = Path(__file__).parents[3]
RULES = ROOT / "deploy" / "nftables"
INTERNET = "198.51.100.7"
NOBODY = 65534
ENV = {**os.environ, "PYTHONPATH": str(ROOT)}
PROBE = "add table ip probe\nadd chain ip probe out { type nat hook output priority -100 ; }\n"
PROBE += "add rule ip probe out tcp dport 1 redirect to :2\n"
needs = [p for p in ("ip", "nft", "curl", "setpriv") if shutil.which(p) is None]
SERVER = """
import socket, ssl, sys, threading
host, port, *tls = sys.argv[1:]
context = None
if tls:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*tls)
def serve(sock):
    try:
        sock = context.wrap_socket(sock, server_side=True) if context else sock
        head = b""
        while b"\\r\\n\\r\\n" not in head:
            head += sock.recv(65536)
        body = head.split(b"\\r\\n")[0] + b" from " + sock.getpeername()[0].encode()
        sock.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n" % len(body) + body)
        sock.close()
    except OSError:
        pass
listener = socket.create_server((host, int(port)))
print("up", flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""


def run(*argv, **more):
    return subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False, **more)


def must(*argv, **more):
    done = run(*argv, **more)
    assert done.returncode == 0, (argv, done.stderr)
    return done.stdout


class Net:
    """Two namespaces: ``gate`` has the internet behind it (one address), ``pod`` reaches it through ``gate``."""

    def __init__(self):
        self.gate, self.pod = (f"onl{secrets.token_hex(3)}{x}" for x in "gp")
        for name in (self.gate, self.pod):
            must("ip", "netns", "add", name)
            must("ip", "-n", name, "link", "set", "lo", "up")
        must("ip", "-n", self.gate, "addr", "add", f"{INTERNET}/32", "dev", "lo")
        must("ip", "link", "add", "g0", "netns", self.gate, "type", "veth", "peer", "name", "p0", "netns", self.pod)
        for name, device, address in ((self.gate, "g0", "10.200.0.1/24"), (self.pod, "p0", "10.200.0.2/24")):
            must("ip", "-n", name, "addr", "add", address, "dev", device)
            must("ip", "-n", name, "link", "set", device, "up")
        must("ip", "-n", self.pod, "route", "add", "default", "via", "10.200.0.1")

    def inside(self, *argv, pod=False):
        return ["ip", "netns", "exec", self.pod if pod else self.gate, *argv]

    def load(self, name, **defined):
        """A shipped file with the values of its ``define`` lines replaced."""
        text = (RULES / name).read_text()
        for key, value in defined.items():
            text, found = re.subn(rf"(?m)^define {key} = .*$", f"define {key} = {value}", text)
            assert found == 1
        must(*self.inside("nft", "-f", "-"), input=text)

    def close(self):
        for name in (self.gate, self.pod):
            run("ip", "netns", "del", name)


@pytest.fixture
def net():
    if needs or os.geteuid() != 0:
        pytest.skip(f"network namespaces need root and {', '.join(needs) or 'ip, nft, curl, setpriv'}")
    made = None
    try:
        made = Net()
        must(*made.inside("nft", "-f", "-"), input=PROBE)
    except AssertionError as error:
        if made:
            made.close()
        pytest.skip(f"this kernel or container has no namespaces or nftables: {error}")
    yield made
    made.close()


@contextlib.contextmanager
def program(argv, **more):
    """A program once it has said its first line; (the line, the process)."""
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENV, **more) as process:
        try:
            yield process.stdout.readline(), process
        finally:
            process.terminate()
            process.wait(60)


@contextlib.contextmanager
def onlooker(net, state, *flags):
    argv = [sys.executable, "-m", "proxy", "serve", "--state", str(state), "--listen", "127.0.0.1:0"]
    argv = net.inside(*argv, "--control", "127.0.0.1:0", *flags)
    try:
        with program(argv) as (line, _):
            yield json.loads(line)["transparent"].rpartition(":")[2]
    finally:
        spool = spool_dir_for(str(state))[0]
        shutil.rmtree(spool, ignore_errors=True)
        shutil.rmtree(f"{spool}.inbox", ignore_errors=True)


@pytest.fixture
def internet(net, tmp_path):
    """HTTP on port 80 and HTTPS on 443 of one address; the authority that signed the latter's certificate."""
    company = Company(tmp_path)
    argv = net.inside(sys.executable, "-c", SERVER, INTERNET)
    with program([*argv, "80"]), program([*argv, "443", company.server, company.key("server")]):
        yield company


def records(state):
    lines = [x for p in sorted((state / "audit").glob("*.jsonl")) for x in p.read_text().splitlines()]
    return [json.loads(x) for x in lines]


def until(state, kind):
    deadline = time.monotonic() + 60
    while not (found := [r for r in records(state) if r["kind"] == kind]):
        assert time.monotonic() < deadline, [r["kind"] for r in records(state)]
        time.sleep(0.05)
    return found


def curl(net, *more, pod=False, uid=NOBODY):
    as_agent = ["setpriv", f"--reuid={uid}", "--clear-groups"]
    where = ["--resolve", f"{API}:443:{INTERNET}", "--resolve", f"{API}:80:{INTERNET}", "--noproxy", "*"]
    return run(*net.inside(*as_agent, "curl", "-s", "-m", "60", *where, *more, pod=pod))


@pytest.fixture
def for_all():
    """A folder every user may look into, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_an_agents_connections_are_redirected_and_our_own_are_not(net, internet, tmp_path, for_all):
    state, readable = tmp_path / "s", for_all / "ca.pem"
    state.mkdir(mode=0o700)
    authority.create(state / "ca", [API], 1)
    readable.write_bytes((state / "ca" / "ca.pem").read_bytes())
    readable.chmod(0o644)
    flags = ("--transparent", "127.0.0.1:0", "--intercept", API, "--upstream-ca", internet.ca)
    with onlooker(net, state, *flags) as port:
        net.load("onlooker.nft", agents=NOBODY, relay_port=port)
        plain = curl(net, f"http://{API}/plain")
        assert plain.stdout == f"GET /plain HTTP/1.1 from {INTERNET}", plain
        # looked into: the client believes the local authority alone, the upstream is verified by us
        inside = curl(net, "--cacert", str(readable), f"https://{API}/inside")
        assert inside.stdout.startswith("GET /inside HTTP/1.1 from "), inside
        # not listed: end to end, the client sees the upstream's own certificate
        blind = curl(
            net, "-k", "-w", "%{certs}", "--resolve", f"other.example:443:{INTERNET}", "https://other.example/"
        )
        assert blind.stdout.startswith("GET / HTTP/1.1 from "), blind
        # another user's traffic is left alone
        assert curl(net, f"http://{API}/direct", uid=0).stdout.startswith("GET /direct")
        direct = curl(net, f"http://127.0.0.1:{port}/", uid=0)
        assert "not-redirected" in direct.stdout
        (flow,) = until(state, "opaque_flow")
        (refusal,) = until(state, "refusal")
    assert "other.example:443" in json.dumps(flow)
    assert refusal["refusal"]["reason"] == "not-redirected"
    unread = [r["exchange"] for r in records(state) if r["kind"] == "unread"]
    assert {x["upstream"] for x in unread} == {f"{INTERNET}:80", f"{API}:443"}


def test_a_rule_that_redirects_us_to_ourselves_is_said_and_ends(net, internet, tmp_path):
    """The agents' user is ours: without the guard each connection would make another, for ever."""
    with onlooker(net, tmp_path / "s", "--transparent", "127.0.0.1:0") as port:
        net.load("onlooker.nft", agents=0, relay_port=port)
        answer = curl(net, f"http://{API}/", uid=0)
        assert "redirect-loop" in answer.stdout, answer
        assert until(tmp_path / "s", "refusal")[0]["refusal"]["reason"] == "redirect-loop"


def test_a_gateway_takes_a_pods_connections_by_tproxy(net, internet, tmp_path):
    state = tmp_path / "s"
    flags = ("--transparent", "10.200.0.1:0", "--tproxy", "--allow-non-loopback")
    with onlooker(net, state, *flags) as port:
        net.load("gateway.nft", agents="10.200.0.0/16", relay_port=port)
        must(*net.inside("ip", "rule", "add", "fwmark", "0x6f6e", "lookup", "111"))
        must(*net.inside("ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo", "table", "111"))
        plain = curl(net, f"http://{API}/pod", pod=True)
        assert plain.stdout == f"GET /pod HTTP/1.1 from {INTERNET}", plain
        assert curl(net, "-k", f"https://{API}/pod", pod=True).stdout.startswith("GET /pod HTTP/1.1")
        (flow,) = until(state, "opaque_flow")
        assert f"{API}:443" in json.dumps(flow)
        (unread,) = until(state, "unread")
    assert unread["origin"]["peer"]["addr"].startswith("10.200.0.2:")
    assert unread["exchange"]["upstream"] == f"{INTERNET}:80"


def test_a_connection_that_nobody_redirected_is_refused_with_one_sentence(tmp_path):
    """Needs no namespace: whoever finds the port cannot use it as a proxy."""
    argv = [sys.executable, "-m", "proxy", "serve", "--state", str(tmp_path / "s"), "--listen", "127.0.0.1:0"]
    with program([*argv, "--control", "127.0.0.1:0", "--transparent", "127.0.0.1:0"]) as (line, _):
        host, _, port = json.loads(line)["transparent"].rpartition(":")
        with socket.create_connection((host, int(port)), 60) as sock:
            sock.sendall(b"GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
            answer = sock.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"nothing says where this one was going" in answer
