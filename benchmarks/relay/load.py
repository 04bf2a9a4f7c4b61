"""One run of wrk against a port, and medians of many runs beside each other: (rate, p50, count) and a printed table."""

import os
import re
import statistics
import subprocess
import sys

from benchmarks.relay.proxies import CONTENDERS, OTHER_CORE, present

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
