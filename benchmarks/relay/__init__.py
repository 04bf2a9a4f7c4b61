"""The relay beside nginx, HAProxy and an aiohttp proxy: same load, same core, interleaved rounds, ratios.

``python -m benchmarks relay`` · BENCH_ROUNDS (3), BENCH_SECONDS (2), BENCH_ONLY (comma-separated parts), BENCH_REALTIME (1, root) from the
environment. The proxy runs alone on one core; load (wrk) and upstream (nginx) on the other.
"""

import json
import os
import re
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.relay import certificate, paired
from benchmarks.relay.proxies import (
    CONTENDERS,
    HERE,
    OTHER_CORE,
    PROXY_CORE,
    REQUEST_HEADERS,
    Process,
    free_port,
    on_core,
    present,
    spool_folder,
    upstream,
)

ROUNDS = int(os.environ.get("BENCH_ROUNDS", "3"))
SECONDS = int(os.environ.get("BENCH_SECONDS", "2"))


def wrk(port, path, connections, *, headers=None, seconds=None):
    """(requests per second, p50 in ms, requests)"""
    argv = ["taskset", "-c", str(OTHER_CORE), "wrk", "-t1", f"-c{connections}", f"-d{seconds or SECONDS}s", "--latency"]
    for name, value in (headers or {}).items():
        argv += ["-H", f"{name}: {value}"]
    done = subprocess.run([*argv, f"http://127.0.0.1:{port}{path}"], capture_output=True, text=True, check=True)
    text = done.stdout
    number, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", text).groups()
    if "Socket errors" in text or "Non-2xx" in text:
        raise RuntimeError(text)
    p50 = float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]
    return float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1]), p50, int(re.search(r"(\d+) requests in", text)[1])


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.certificate = certificate.make(folder / "both.pem")
        self.plain, self.tls, self.up = upstream(folder, self.certificate)

    def names(self, *wanted):
        return [n for n in wanted if present(n)]

    def rounds(self, names, run, *, tls=False):
        """name -> list of what ``run(process)`` returned, rounds interleaved, fresh processes each round."""
        out = {n: [] for n in names}
        for _ in range(ROUNDS):
            for name in names:
                process = CONTENDERS[name][0](self.folder, self.tls if tls else self.plain, tls, self.certificate)
                if process is None:
                    continue
                try:
                    out[name].append(run(process))
                finally:
                    process.stop()
                    self.clear()
        return out

    def clear(self):
        for path in spool_folder(self.folder).glob("spool-*"):
            shutil.rmtree(path, ignore_errors=True)

    def load(self, title, path, names, *, headers=None, connections=32, tls=False):
        def run(process):
            wrk(process.port, path, connections, headers=headers, seconds=1)
            before = process.cpu()
            rate, p50, count = wrk(process.port, path, connections, headers=headers)
            return rate, (process.cpu() - before) / count * 1e6, p50

        table(title, self.rounds(names, run, tls=tls), ("req/s", "CPU µs/req"))

    def latency(self):
        direct = statistics.median(wrk(self.plain, "/small", 1)[1] for _ in range(ROUNDS))
        got = self.rounds(self.names("nginx", "onlooker"), lambda p: (max(wrk(p.port, "/small", 1)[1] - direct, 1e-4),))
        table(f"added latency p50, one connection (direct {direct:.3f} ms)", got, ("ms",))

    def paired(self, rounds=100):
        """p50 and p99 of one connection above direct, all contenders at once."""
        got = self._together(lambda ports: paired.latency(ports, rounds))
        paired.show(f"one connection, {rounds} interleaved rounds of 300 requests", got, ((0, "p50"), (1, "p99")))

    def half_open(self, count=2000, rounds=30):
        """The same client while 2,000 others never finish their heads, each fed a byte every 4 s."""
        without, beside = self._together(lambda ports: _without_and_beside(ports, count, rounds))
        for title, got in (("alone", without), (f"beside {count} half-open heads", beside)):
            paired.show(f"one connection, {title}, {rounds} interleaved rounds", got, ((0, "p50"), (1, "p99")))
        for name in beside:
            before, after = (statistics.median(r[1] for r in got[name]) for got in (without, beside))
            print(f"  {name:10} p99 {after / before:.2f}x what it was alone")

    def _together(self, measure):
        """``measure`` of the ports of direct, nginx and ours, all running at once."""
        made = {
            n: CONTENDERS[n][0](self.folder, self.plain, False, self.certificate)
            for n in self.names("nginx", "onlooker")
        }
        os.sched_setaffinity(0, {OTHER_CORE})
        if os.environ.get("BENCH_REALTIME"):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        try:
            return measure({"direct": self.plain, **{n: p.port for n, p in made.items()}})
        finally:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            os.sched_setaffinity(0, {PROXY_CORE, OTHER_CORE})
            for process in made.values():
                process.stop()
            self.clear()

    def saturated(self, rounds=10):
        """Delay of events above direct, 16 streams, 2000/s, a reader of the spool at work and another process busy beside it."""
        self.stream_port = free_port()
        saved, self.plain = self.plain, self.stream_port
        busy = subprocess.Popen(["taskset", "-c", str(OTHER_CORE), sys.executable, "-c", "while True: pass"])
        got = {n: [] for n in ("direct", *self.names("nginx", "onlooker"))}
        try:
            for _ in range(rounds):
                for name, rows in got.items():
                    rows.append(self._delays(name))
        finally:
            busy.kill()
            busy.wait()
            self.plain = saved
        paired.show(
            f"events, 16 streams, 2000/s, other core saturated, {rounds} interleaved rounds",
            got,
            ((0, "p50"), (1, "p99")),
        )

    def _delays(self, name):
        process = CONTENDERS[name][0](self.folder, self.plain, False, self.certificate) if name != "direct" else None
        reader = self._read_spool() if name == "onlooker" else None
        argv = [sys.executable, str(HERE / "streams.py"), str(process.port if process else self.plain), str(self.plain)]
        player = subprocess.Popen(
            [*on_core(OTHER_CORE), *argv, "16", "2000", "2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert player.stdout.readline() == "ready\n"
            player.stdin.write("go\n")
            player.stdin.flush()
            result = json.loads(player.stdout.readline())
            assert result["got"] == result["sent"], result
            return result["p50_ms"], result["p99_ms"]
        finally:
            player.wait()
            for one in (process, reader):
                if one is not None:
                    one.stop()
            self.clear()

    def _read_spool(self):
        code = "import sys; from pathlib import Path; from proxy.spool.tail import SpoolTail\ntail = SpoolTail(Path(sys.argv[1]))\nwhile True: tail.wait(1.0)"
        root = next(spool_folder(self.folder).glob("spool-*"))
        return Process([sys.executable, "-c", code, str(root)], OTHER_CORE, 0, wait=False)

    def streams(self, count, rate, names):
        def run(process):
            argv = [
                sys.executable,
                str(HERE / "streams.py"),
                str(process.port),
                str(self.stream_port),
                str(count),
                str(rate),
                "3",
            ]
            player = subprocess.Popen(
                ["taskset", "-c", str(OTHER_CORE), *argv], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert player.stdout.readline() == "ready\n"
            time.sleep(0.3)
            before, memory = process.cpu(), process.memory()
            player.stdin.write("go\n")
            player.stdin.flush()
            result = json.loads(player.stdout.readline())
            player.wait()
            assert result["got"] == result["sent"], result
            spent = process.cpu() - before
            return spent / max(result["got"], 1) * 1e6, result["p50_ms"], result["p99_ms"], memory / 1024

        self.stream_port = free_port()
        saved, self.plain = self.plain, self.stream_port
        try:
            return self.rounds(names, run)
        finally:
            self.plain = saved

    def close(self):
        self.up.stop()
        self.clear()


def _without_and_beside(ports, count, rounds):
    """``paired.latency`` twice: alone, then with ``count`` half-open heads at each proxy."""
    without = paired.latency(ports, rounds)
    argv = [*on_core(OTHER_CORE), sys.executable, str(HERE / "half_open.py")]
    holders = [
        subprocess.Popen([*argv, str(port), str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for name, port in ports.items()
        if name != "direct"
    ]
    try:
        for one in holders:
            assert one.stdout.readline() == b"ready\n"
        time.sleep(0.5)
        return without, paired.latency(ports, rounds)
    finally:
        for one in holders:
            one.communicate()


def table(title, got, columns):
    """Medians, and each divided by nginx's."""
    print(f"\n{title}")
    first = next((n for n in ("nginx", *got) if got.get(n)), None)
    for name in CONTENDERS:
        if name not in got:
            continue
        if not got[name]:
            print(f"  {name:10} not run")
            continue
        cells = []
        for i, column in enumerate(columns):
            middle = statistics.median(r[i] for r in got[name])
            base = statistics.median(r[i] for r in got[first])
            cells.append(f"{column} {middle:10.3f} = {middle / base:5.2f}x {first}")
        print(f"  {name:10} " + "   ".join(cells))
    for name in CONTENDERS:
        if not present(name):
            print(f"  {name:10} not run: it is not installed")
    sys.stdout.flush()


PARTS = {
    "small": lambda b: b.load("small heads, 32 connections", "/small", b.names(*CONTENDERS)),
    "real": lambda b: b.load(
        "realistic heads (17 request, 25 response headers), 32 connections", "/real", b.names(*CONTENDERS), headers=REQUEST_HEADERS
    ),
    "https": lambda b: b.load("https upstream, realistic heads", "/real", b.names("nginx", "haproxy", "onlooker"), headers=REQUEST_HEADERS, tls=True),
    "big": lambda b: b.load("1 MiB responses, 8 connections", "/big", b.names("nginx", "haproxy", "onlooker"), connections=8),
    "latency": lambda b: b.latency(),
    "paired": lambda b: b.paired(),
    "half_open": lambda b: b.half_open(),
    "saturated": lambda b: b.saturated(),
    "sse": lambda b: table(
        "events, 16 streams, 8000/s", b.streams(16, 8000, b.names("nginx", "haproxy", "onlooker")), ("CPU µs/event", "delay p50 ms", "delay p99 ms")
    ),
    "wake": lambda b: wake(b),  # noqa: PLW0108 - defined below
    "gone": lambda b: gone(b),  # noqa: PLW0108 - defined below
    "idle": lambda b: idle(b),  # noqa: PLW0108 - defined below
}  # fmt: skip


def wake(bench):
    """From an exchange's end being captured to the analyzer's side holding it, one exchange every 5 ms."""
    process = CONTENDERS["onlooker"][0](bench.folder, bench.plain, tls=False, certificate=bench.certificate)
    root = next(spool_folder(bench.folder).glob("spool-*"))
    code = (
        "import sys, time; from pathlib import Path; from proxy.spool.tail import SpoolTail; from proxy.spool.events import Ended\n"
        "tail = SpoolTail(Path(sys.argv[1])); late = []\n"
        "while len(late) < 450: late += [time.monotonic_ns() - e.mono_ns for e in tail.wait(1.0) if isinstance(e, Ended)]\n"
        "late = sorted(late[50:]); print(late[200] / 1e6, late[396] / 1e6)"
    )
    reader = subprocess.Popen(
        ["taskset", "-c", str(OTHER_CORE), sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE, text=True
    )
    with socket.create_connection(("127.0.0.1", process.port)) as sock:
        while reader.poll() is None:
            sock.sendall(b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n")
            sock.recv(65536)
            time.sleep(0.005)
    p50, p99 = reader.communicate()[0].split()
    process.stop()
    print(f"\ncaptured to read by the analyzer's side: p50 {float(p50):.3f} ms, p99 {float(p99):.3f} ms")


LEAVING = {  # phase: what the client sends, what the upstream answers before the client leaves
    "uploading": (b"POST /gone HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nx", b""),
    "before the first byte": (b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n", b""),
    "mid-stream": (b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"),
    "idle": (b"GET /gone HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"),
}


def gone(bench):
    """A client that leaves, in each phase, to its upstream's connection being closed."""
    print()
    for phase, (asked, answer) in LEAVING.items():
        for how in ("FIN", "RST"):
            late = sorted(_leave(bench, asked, answer, reset=how == "RST"))
            print(
                f"client gone by {how}, {phase}, to upstream closed: p50 {late[50] * 1e3:.3f} ms, worst of {len(late)} {late[-1] * 1e3:.3f} ms"
            )


def _leave(bench, asked, answer, *, reset):
    late = []

    def serve(listener):
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with sock:
                sock.recv(65536)
                sock.sendall(answer)
                began.release()
                try:
                    while sock.recv(65536):
                        pass
                except OSError:
                    pass
                late.append(time.perf_counter() - left[0])
                seen.release()

    left, began, seen = [0.0], threading.Semaphore(0), threading.Semaphore(0)
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener,), daemon=True).start()
    process = CONTENDERS["onlooker"][0](
        bench.folder, listener.getsockname()[1], tls=False, certificate=bench.certificate
    )
    for _ in range(100):
        sock = socket.create_connection(("127.0.0.1", process.port))
        sock.sendall(asked)
        assert began.acquire(timeout=5)
        if answer:
            sock.recv(65536)
        time.sleep(0.001)  # the upstream waits in recv
        if reset:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        left[0] = time.perf_counter()
        sock.close()
        assert seen.acquire(timeout=5)
    process.stop()
    listener.close()
    return late


def idle(bench):
    few = bench.streams(10, 0, bench.names("nginx", "haproxy", "onlooker"))
    many = bench.streams(1010, 0, bench.names("nginx", "haproxy", "onlooker"))
    got = {
        n: [((statistics.median(r[3] for r in many[n]) - statistics.median(r[3] for r in few[n])) / 1000,)] for n in few
    }
    table("KiB per idle stream (Pss, 1000 streams)", got, ("KiB",))


def main():
    if not shutil.which("wrk") or not present("nginx"):
        print("relay benchmark not run: needs wrk and nginx (Debian packages)")
        return
    chosen = [p for p in os.environ.get("BENCH_ONLY", "").split(",") if p] or list(PARTS)
    with tempfile.TemporaryDirectory(prefix="onlooker-bench-") as folder:
        bench = Bench(Path(folder))
        try:
            for name in chosen:
                PARTS[name](bench)
        finally:
            bench.close()
            shutil.rmtree(spool_folder(Path(folder)), ignore_errors=True)
