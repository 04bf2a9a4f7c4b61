"""Does one analyzer core keep up with many live sessions? Prints lag p50 and p99, calls recorded, exchanges lost.

usage: python -m benchmarks.keep_up [SESSIONS [SECONDS]]. A live instance; every session re-sends 1 MiB of history and gets one
streamed call every 20 s, as coding agents do. The analyzer is pinned to one core; relay, load and upstream share the other.
BENCH_CONFIG adds a line to the instance's configuration, such as ``spool: {overflow: true}``.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

from aiohttp import ClientSession, TCPConnector

from benchmarks.analyzer import EVERY_S
from benchmarks.assembly import history
from benchmarks.record_latency import serve_model
from proxy.config import build
from proxy.instance import Instance, read_records
from proxy.status import read_pids

LAG_MS = 1_000.0
GOLDEN = 0.618033988749895  # sessions begin evenly over the time, however many there are


async def session(
    client: ClientSession, url: str, number: int, *, until: float, body: bytes, closed: dict[str, int]
) -> None:
    await asyncio.sleep(EVERY_S * (number * GOLDEN % 1.0))
    turn = 0
    while time.monotonic() < until:
        began, call = time.monotonic(), f"toolu_keep_{number:05}_{turn:04}"
        headers = {"x-call": call, "Content-Type": "application/json", "X-Claude-Code-Session-Id": f"s{number}"}
        got = b""
        async with client.post(url, data=body, headers=headers) as answer:
            async for piece in answer.content.iter_any():
                got += piece
                if call not in closed and b"content_block_stop" in got:
                    closed[call] = time.monotonic_ns()
        turn += 1
        await asyncio.sleep(max(0.0, began + EVERY_S - time.monotonic()))


async def measure(sessions: int, seconds: float) -> None:
    runner, upstream = await serve_model()
    body = history()
    closed: dict[str, int] = {}
    cores = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as state:
        routes = {"m": {"url": upstream, "agui": False}}
        file = Path(state, "onlooker.yaml")
        file.write_text("onlooker: 1\n" + os.environ.get("BENCH_CONFIG", ""), encoding="utf-8")
        config = build(file, {"state": state, "listen": "127.0.0.1:0", "control": "127.0.0.1:0", "routes": routes})
        with await asyncio.to_thread(Instance.start, config) as instance:
            await asyncio.to_thread(instance.wait_analyzer)
            pids = read_pids(config.pids_file)
            os.sched_setaffinity(pids["analyzer"], {cores[-1]})
            for pid in (os.getpid(), *pids["relays"]):
                os.sched_setaffinity(pid, {cores[0]})
            until = time.monotonic() + seconds
            async with ClientSession(connector=TCPConnector(limit=0)) as client:
                url = f"{instance.base}/m/v1/messages"
                await asyncio.gather(
                    *(session(client, url, n, until=until, body=body, closed=closed) for n in range(sessions))
                )
            await runner.cleanup()
        report(sessions, Path(state), closed)


def report(sessions: int, state: Path, closed: dict[str, int]) -> None:
    records = list(read_records(state))
    actions = [r for r in records if r["kind"] == "action" and (r.get("call") or {}).get("id") in closed]
    lags = sorted((r["mono_ns"] - closed[r["call"]["id"]]) / 1e6 for r in actions)
    lost = sum(r["gap"]["exchanges"] for r in records if r["kind"] == "gap")
    p50, p99 = lags[len(lags) // 2], lags[int(len(lags) * 0.99)]
    print(
        f"keep-up, {sessions} sessions, 1 MiB history each, one exchange per {EVERY_S:g} s: {len(actions)} of {len(closed)} calls "
        f"recorded, {lost} exchanges lost, lag p50 {p50:.1f} ms, p99 {p99:.1f} ms (promise: p99 <= {LAG_MS:g} ms, 0 lost)"
    )


def main() -> None:
    given = [int(a) for a in sys.argv[1:] if a.isdigit()]
    asyncio.run(measure(given[0] if given else 500, given[1] if len(given) > 1 else 60))


if __name__ == "__main__":
    main()
