"""All contenders under the same load: a path, headers and connections in, interleaved rounds of fresh processes out."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

from benchmarks.relay import certificate, paired
from benchmarks.relay.load import ROUNDS, table, wrk
from benchmarks.relay.proxies import (
    CONTENDERS,
    HERE,
    OTHER_CORE,
    PROXY_CORE,
    Process,
    free_port,
    on_core,
    present,
    spool_folder,
    upstream,
)


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


def idle(bench):
    few = bench.streams(10, 0, bench.names("nginx", "haproxy", "onlooker"))
    many = bench.streams(1010, 0, bench.names("nginx", "haproxy", "onlooker"))
    got = {
        n: [((statistics.median(r[3] for r in many[n]) - statistics.median(r[3] for r in few[n])) / 1000,)] for n in few
    }
    table("KiB per idle stream (Pss, 1000 streams)", got, ("KiB",))
