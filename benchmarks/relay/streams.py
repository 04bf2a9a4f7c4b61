"""Upstream and client of many event streams in one process: ``python streams.py PORT_OF_PROXY UPSTREAM_PORT STREAMS RATE SECONDS``.

Prints JSON: events received, delay p50/p99 in ms (from the upstream's write to the client's read).
"""

import asyncio
import json
import sys
import time
from typing import ClassVar

import uvloop

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
ASK = b"GET /events HTTP/1.1\r\nHost: x\r\n\r\n"


class Up(asyncio.Protocol):
    live: ClassVar = set()

    def connection_made(self, t):
        self.t = t

    def data_received(self, _):
        self.t.write(HEAD)
        Up.live.add(self.t)

    def connection_lost(self, _):
        Up.live.discard(self.t)


class Down(asyncio.Protocol):
    got = 0
    delays: ClassVar = []

    def connection_made(self, t):
        t.write(ASK)

    def data_received(self, d):
        now = time.perf_counter_ns()
        at = d.find(b"t=")
        while at >= 0:
            Down.got += 1
            if Down.got % 8 == 0:
                Down.delays.append(now - int(d[at + 2 : at + 22]))
            at = d.find(b"t=", at + 22)


async def main():
    proxy, port, streams, rate, seconds = (int(a) for a in sys.argv[1:6])
    loop = asyncio.get_running_loop()
    await loop.create_server(Up, "127.0.0.1", port, backlog=9000)
    for _ in range(streams):
        await loop.create_connection(Down, "127.0.0.1", proxy)
    while len(Up.live) < streams:
        await asyncio.sleep(0.01)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await loop.run_in_executor(None, sys.stdin.readline)
    period = streams / rate if rate else seconds
    began, sent = time.perf_counter(), 0
    Down.delays.clear()
    Down.got = 0
    while time.perf_counter() - began < seconds:
        if rate:
            for t in Up.live:
                data = b'event: d\ndata: {"t=%020d": "%s"}\n\n' % (time.perf_counter_ns(), b"x" * 60)
                t.write(b"%x\r\n" % len(data) + data + b"\r\n")
                sent += 1
        await asyncio.sleep(max(0.0, began + (sent / streams) * period - time.perf_counter()) if rate else 0.1)
    await asyncio.sleep(0.3)
    delays = sorted(Down.delays) or [0]
    print(
        json.dumps(
            {
                "sent": sent,
                "got": Down.got,
                "p50_ms": delays[len(delays) // 2] / 1e6,
                "p99_ms": delays[int(len(delays) * 0.99)] / 1e6,
            }
        )
    )
    sys.stdout.flush()
    import os

    os._exit(0)


uvloop.run(main())
