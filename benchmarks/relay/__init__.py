"""The relay beside nginx, HAProxy and an aiohttp proxy: same load, same core, interleaved rounds, ratios.

``python -m benchmarks relay`` · BENCH_ROUNDS (3), BENCH_SECONDS (2), BENCH_ONLY (comma-separated parts), BENCH_REALTIME (1, root) from the
environment. The proxy runs alone on one core; load (wrk) and upstream (nginx) on the other.
"""

import os
import shutil
import tempfile
from pathlib import Path

from benchmarks.relay.leaving import gone
from benchmarks.relay.load import table
from benchmarks.relay.proxies import CONTENDERS, REQUEST_HEADERS, present, spool_folder
from benchmarks.relay.side_by_side import Bench, idle
from benchmarks.relay.waking import wake

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
    "wake": wake,
    "gone": gone,
    "idle": idle,
}  # fmt: skip


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
