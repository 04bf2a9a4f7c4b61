"""A forward proxy beside the https reverse listener, one relay process, one run: added latency, requests a second, CPU.

``direct``: the client's own TLS to the upstream. ``reverse``: plain HTTP to a route whose upstream is https.
``intercepted``: CONNECT, the client's TLS ends in the relay. ``tunnel``: CONNECT to a host that is not listed.
Rounds interleaved; the client is Python, so requests a second are those it can send: trust the CPU column.
"""

import asyncio
import json
import os
import queue
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.relay.certificate import make
from benchmarks.relay.proxies import free_port
from proxy.ca import authority
from proxy.ca.leaf import Mint

SECONDS = float(os.environ.get("BENCH_SECONDS", "2"))
ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
CONNECTIONS = 16
BODY = b'{"ok":true}' * 20
REPLY = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
ASK = (
    b"POST /v1/messages HTTP/1.1\r\nHost: localhost:@@@@@\r\nUser-Agent: bench\r\nAccept: */*\r\nContent-Type: application/json\r\n"
    b"Authorization: Bearer 0123456789abcdef0123456789abcdef\r\nContent-Length: 20\r\n\r\n" + b"x" * 20
)

UPSTREAM = """
import asyncio, ssl, sys
REPLY = {reply!r}
ASK = {size}
class Answer(asyncio.Protocol):
    def connection_made(self, t): self.t, self.got = t, 0
    def data_received(self, data):
        self.got += len(data)
        while self.got >= ASK:
            self.got -= ASK
            self.t.write(REPLY)
async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2])
    server = await asyncio.get_running_loop().create_server(Answer, "127.0.0.1", int(sys.argv[1]), ssl=context, backlog=1024)
    await server.serve_forever()
import uvloop
uvloop.run(main())
"""


def listening(port):
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    sys.exit(f"nobody listens on {port}")


def connect(way):
    """A connected socket of one way, TLS done where the client does it."""
    raw = socket.create_connection(("127.0.0.1", way["port"]), timeout=10)
    raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if "connect" in way:
        raw.sendall(b"CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n" % way["connect"])
        assert raw.recv(200).startswith(b"HTTP/1.1 200")
    if way["ca"]:
        context = ssl.create_default_context(cafile=way["ca"])
        return context.wrap_socket(raw, server_hostname="localhost")
    return raw


def one(sock):
    sock.sendall(ASK)
    left = len(REPLY)
    while left:
        left -= len(sock.recv(left))


def latency(way, count=400):
    """p50 of a request on one kept connection, ms."""
    with connect(way) as sock:
        for _ in range(20):
            one(sock)
        took = []
        for _ in range(count):
            begin = time.perf_counter()
            one(sock)
            took.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(took)


def opening(way, count=30):
    """p50 of connecting and the first answer, ms."""
    took = []
    for _ in range(count):
        begin = time.perf_counter()
        with connect(way) as sock:
            one(sock)
        took.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(took)


def cpu_s(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Asking(asyncio.Protocol):
    def __init__(self, count):
        self.count, self.left = count, len(REPLY)

    def connection_made(self, transport):
        self.write = transport.write
        self.write(ASK)

    def data_received(self, data):
        self.left -= len(data)
        if self.left <= 0:
            self.left += len(REPLY)
            self.count[0] += 1
            self.write(ASK)


async def loaded(way, pid):
    """(requests a second, the relay's CPU us a request) of CONNECTIONS connections."""
    loop, count = asyncio.get_running_loop(), [0]
    transports = []
    for _ in range(CONNECTIONS):
        raw = socket.create_connection(("127.0.0.1", way["port"]), timeout=10)
        if "connect" in way:
            raw.sendall(b"CONNECT %s HTTP/1.1\r\nHost: x\r\n\r\n" % way["connect"])
            assert raw.recv(200).startswith(b"HTTP/1.1 200")
        raw.setblocking(False)
        more = (
            {"ssl": ssl.create_default_context(cafile=way["ca"]), "server_hostname": "localhost"} if way["ca"] else {}
        )
        transports.append((await loop.create_connection(lambda: Asking(count), sock=raw, **more))[0])
    await asyncio.sleep(0.3)
    begin, had, used = time.perf_counter(), count[0], cpu_s(pid)
    await asyncio.sleep(SECONDS)
    done, wall = count[0] - had, time.perf_counter() - begin
    used = cpu_s(pid) - used
    for transport in transports:
        transport.abort()
    await asyncio.sleep(0.1)
    return done / wall, used / max(done, 1) * 1e6


def minting(made):
    mint = Mint(made)
    begin = time.perf_counter()
    for _ in range(50):
        mint.certificate("localhost")
    signed = (time.perf_counter() - begin) / 50 * 1e3
    begin = time.perf_counter()
    for _ in range(50):
        Mint(made).context("localhost")
    return signed, (time.perf_counter() - begin) / 50 * 1e3


def main():
    global ASK
    with tempfile.TemporaryDirectory(prefix="onlooker-bench-", dir="/dev/shm") as folder:
        root = Path(folder)
        certificate = make(root / "upstream.pem")
        made = authority.create(root / "ca", ["localhost"])
        up, reverse, forward, blind = (free_port() for _ in range(4))
        ASK = ASK.replace(b"@@@@@", b"%d" % up)  # as every way sends it on: the upstream counts bytes
        code = UPSTREAM.format(reply=REPLY, size=len(ASK))
        upstream = subprocess.Popen([sys.executable, "-c", code, str(up), str(certificate)])
        relays = []
        for n, (listen, hosts) in enumerate(((forward, ["localhost"]), (blind, []))):
            config = {
                "routes": {"/": {"url": f"https://localhost:{up}", "ca": str(certificate)}},
                "spool_dir": str(root / f"spool{n}"), "listen": [f"127.0.0.1:{reverse if n == 0 else free_port()}"],
                "forward_listen": [f"127.0.0.1:{listen}"],
                "forward": {"intercept": hosts, "ca_dir": str(root / "ca"), "upstream_ca": str(certificate)},
            }  # fmt: skip
            relays.append(subprocess.Popen([sys.executable, "-m", "proxy.relay", json.dumps(config)]))
        try:
            for port in (up, reverse, forward, blind):
                listening(port)
            to = b"localhost:%d" % up
            ways = {
                "direct": {"port": up, "ca": str(certificate), "pid": upstream.pid},
                "reverse": {"port": reverse, "ca": None, "pid": relays[0].pid},
                "intercepted": {
                    "port": forward,
                    "ca": str(root / "ca" / "ca.pem"),
                    "connect": to,
                    "pid": relays[0].pid,
                },
                "tunnel": {"port": blind, "ca": str(certificate), "connect": to, "pid": relays[1].pid},
            }
            show(ways, minting(made))
            gone(ways, certificate)
        finally:
            for process in (*relays, upstream):
                process.terminate()
                process.wait(10)


def show(ways, minted):
    got = {name: {"p50 ms": [], "open ms": [], "req/s": [], "CPU us": []} for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            rate, used = asyncio.run(loaded(way, way["pid"]))
            for column, value in zip(got[name], (latency(way), opening(way), rate, used), strict=True):
                got[name][column].append(value)
    print(f"\n{CONNECTIONS} connections, {ROUNDS} rounds of {SECONDS:.0f} s; medians; load {os.getloadavg()[0]:.1f}")
    print(f"{'':12}" + "".join(f"{c:>11}" for c in next(iter(got.values()))))
    medians = {name: {c: statistics.median(v) for c, v in columns.items()} for name, columns in got.items()}
    for name, columns in medians.items():
        print(f"{name:12}" + "".join(f"{v:11.3f}" if c.endswith("ms") else f"{v:11.0f}" for c, v in columns.items()))
    a, b = medians["intercepted"], medians["reverse"]
    print("intercepted ÷ reverse: " + ", ".join(f"{c} {a[c] / b[c]:.2f}" for c in a))
    print(f"a certificate signed {minted[0]:.2f} ms, with its context {minted[1]:.2f} ms")


def gone(ways, certificate, count=100):
    """From a client's close, mid-response, until its upstream reads the end: ms."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    to = b"localhost:%d" % listener.getsockname()[1]
    for name in ("intercepted", "tunnel"):
        took = []
        for _ in range(count):
            ended = queue.Queue()

            def serve(ended=ended):
                raw, _ = listener.accept()
                try:
                    with context.wrap_socket(raw, server_side=True) as sock:
                        sock.recv(65536)
                        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx")
                        sock.recv(1)
                except OSError:
                    pass
                ended.put(time.perf_counter())

            thread = threading.Thread(target=serve)
            thread.start()
            sock = connect({**ways[name], "connect": to})
            sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            sock.recv(10)
            begin = time.perf_counter()
            sock.close()
            took.append((ended.get(timeout=5) - begin) * 1e3)
            thread.join()
        print(
            f"a {name} client leaves, its upstream sees it: p50 {statistics.median(took):.2f} ms, worst of {count} {max(took):.2f} ms"
        )
    listener.close()


if __name__ == "__main__":
    main()
