"""Time alone does no harm: memory and descriptors are what they were. ONLOOKER_SOAK_S lengthens it (20 s)."""

import asyncio
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from proxy.relay import counters
from proxy.spool.tail import SpoolTail

from .conftest import WAIT_S, load, totals, wait_for

pytestmark = pytest.mark.faults

SECONDS = float(os.environ.get("ONLOOKER_SOAK_S", "20"))
WARM_S = 5.0


def memory_of(pid):
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("RssAnon:")[2].split()[0]) * 1024


def descriptors(pid):
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def rude(port):
    """Clients that leave in the middle: of a head, of a stream, with a reset."""
    for data in (
        b"GET / HT",
        b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx",
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock:
            sock.sendall(data)
            if b"/sse" in data:
                sock.recv(100)


def test_memory_and_descriptors_stay_and_every_exchange_is_accounted_for(relay, memory):
    child, port = relay()
    tail = SpoolTail(memory)
    with socket.create_connection(
        ("127.0.0.1", port), timeout=WAIT_S
    ) as sock:  # it listens before it has opened all its files
        sock.sendall(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        sock.recv(65536)
    wait_for(lambda: counters.read(memory / "counters")[0]["connections_open"] == 0, "the first client to leave")
    base = descriptors(child.pid)
    seen, sizes = [0, 0, 0], []

    def read():
        while events := tail.poll():
            for n, value in enumerate(totals(events)):
                seen[n] += value
        tail.release(tail.checkpoint())

    async def soak(account):
        began = time.monotonic()
        while (now := time.monotonic()) - began < SECONDS:
            await asyncio.to_thread(rude, port)
            read()
            if now - began > WARM_S:
                sizes.append(memory_of(child.pid))
            await asyncio.sleep(0.2)

    account = load(port, 8, soak)
    assert (account.refused, account.cut_in_flight) == (0, 0)
    wait_for(lambda: descriptors(child.pid) <= base, "descriptors back to base")
    assert child.end(signal.SIGTERM) == 0
    read()
    assert seen[0] > len(account.sent)
    third = len(sizes) // 3
    early, late = sum(sizes[:third]) / third, sum(sizes[-third:]) / third
    assert late - early < 1 << 20
