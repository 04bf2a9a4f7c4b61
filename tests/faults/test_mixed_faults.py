"""Everything at once: 50 clients of every kind, some rude, while any process is killed or stopped.

ONLOOKER_MIXED_S lengthens it (12 s), ONLOOKER_MIXED_SEED changes what is hit when. What the clients counted decides.
"""

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import aiohttp
import httpx
import pytest

from audit.verify import verify
from proxy.instance import read_records
from proxy.settings import spool_dir_for
from proxy.status import alive, read_pids
from tests.ports import free_port

from .conftest import WAIT_S, listening, many_files, wait_for
from .test_soak import descriptors, memory_of

pytestmark = pytest.mark.faults

SECONDS = float(os.environ.get("ONLOOKER_MIXED_S", "12"))
SEED = int(os.environ.get("ONLOOKER_MIXED_SEED", "7"))
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "list the files"}], "tools": [
    {"type": "function", "function": {"name": "Bash", "parameters": {"type": "object"}}}]}).encode()  # fmt: skip
MALFORMED = (
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    b"GET / HTTP/1.1\nHost: a\n\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 90,
    b"GET / HTTP/9.9\r\nHost: a\r\n\r\n",
)


class Served:
    """``onlooker serve`` on a state, as an operator starts it."""

    def __init__(self, tmp_path, upstream, *more):
        self.more = more
        self.state, self.log = tmp_path / "state", tmp_path / "serve.log"
        self.port, self.control = free_port(), free_port()
        self.spool = Path(spool_dir_for(str(self.state))[0])
        self.upstream = upstream
        self.start()

    def start(self):
        """Until it says it is ready: a port is open before the relays behind it have opened their files."""
        begun = self.ready()
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "proxy", "serve", "--state", str(self.state), "--route", f"/=http://127.0.0.1:{self.upstream}",
                 "--listen", f"127.0.0.1:{self.port}", "--control", f"127.0.0.1:{self.control}", "--workers", "2", *self.more],
                stdout=log, stderr=log,
            )  # fmt: skip
        wait_for(lambda: self.ready() > begun, "serve")
        wait_for(lambda: listening(self.port) and listening(self.control), "ports")

    def ready(self):
        return self.log.read_bytes().count(b'"ready"') if self.log.exists() else 0

    def pids(self):
        return read_pids(self.state / "pids.json")

    def figures(self):
        """Exchanges offered, recorded, in gaps."""
        text = httpx.get(f"http://127.0.0.1:{self.control}/metrics", timeout=WAIT_S).text
        return [
            int(float(re.search(rf"(?m)^onlooker_exchanges{n}_total (\S+)", text)[1]))
            for n in ("", "_recorded", "_gap")
        ]

    def everyone(self):
        """Every process that works for this state, by its command line."""
        mark, found = str(self.state).encode(), []
        for place in Path("/proc").iterdir():
            try:
                line = (place / "cmdline").read_bytes()
            except OSError:
                continue
            if mark in line and place.name.isdigit() and int(place.name) != os.getpid():
                found.append(int(place.name))
        return found

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(2 * WAIT_S)


@pytest.fixture
def served(tmp_path, children):
    port = free_port()
    children([sys.executable, str(Path(__file__).parent / "mixed_upstream.py"), str(port)], preexec_fn=many_files)
    wait_for(lambda: listening(port), "upstream")
    one = Served(tmp_path, port)
    yield one
    for pid in one.everyone():
        os.kill(pid, signal.SIGKILL)
    one.process.wait(WAIT_S)


class Book:
    """What the clients know. ``whole``: calls received to the end; ``maybe``: requests whose fate they cannot know."""

    def __init__(self):
        self.number, self.whole, self.begun, self.maybe, self.refused = 0, [], [], [], 0

    def next(self):
        self.number += 1
        return self.number


def post(number, kind):
    head = f"POST /v1/chat/completions?n={number}&kind={kind} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY


async def read_answer(reader, *, slowly=False):
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    size = re.search(rb"Content-Length: (\d+)", head)
    if size:
        return await reader.readexactly(int(size[1]))
    body = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        piece = await reader.readexactly(int(line, 16) + 2)
        if line == b"0\r\n":
            return body
        body += piece[:-2]
        if slowly:
            await asyncio.sleep(0.01)


async def raw(port, book, kind, *, slowly=False):
    """Kept connections; each answer read to its end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for _ in range(8):
            number = book.next()
            book.maybe.append(number)
            writer.write(post(number, kind))
            body = await read_answer(reader, slowly=slowly)
            assert b"call_%d" % number in body
            book.maybe.remove(number)
            book.whole.append(number)
            await asyncio.sleep(0.05)
    finally:
        writer.close()


async def leaves(port, book, kind):
    """Goes away after the first byte of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = book.next()
    book.maybe.append(number)
    try:
        writer.write(post(number, kind))
        assert await reader.readexactly(1)
        book.maybe.remove(number)
        book.begun.append(number)
    finally:
        writer.transport.abort()


async def half_a_head(port, _book):
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"POST /v1/chat/completions?n=1 HTTP/1.1\r\nHo")
    await asyncio.sleep(0.05)
    writer.transport.abort()


async def malformed(port, book):
    for data in MALFORMED:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(data)
            answer = await reader.read()
            assert not answer or re.match(rb"HTTP/1\.1 (4|5)\d\d ", answer), answer
            book.refused += bool(answer)
        finally:
            writer.close()


async def socket(port, book):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = book.next()
    book.maybe.append(number)
    try:
        writer.write(
            f"GET /v1/responses?n={number} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 101")
        said = json.dumps({"type": "response.create", "model": "m", "input": "list the files"}).encode()
        writer.write(b"\x81" + bytes([0x80 | 126]) + struct.pack("!H", len(said)) + b"\0\0\0\0" + said)
        got = await reader.readuntil(b"\x88\x02\x03\xe8")
        assert b"call_%d" % number in got
        writer.write(b"\x88\x82\0\0\0\0\x03\xe8")
        await reader.read()
        book.maybe.remove(number)
        book.whole.append(number)
    finally:
        writer.close()


async def with_httpx(port, book):
    async with httpx.AsyncClient(timeout=WAIT_S, trust_env=False) as client:
        for kind in ("json", "sse", "chunked", "json"):
            number = book.next()
            book.maybe.append(number)
            url = f"http://127.0.0.1:{port}/v1/chat/completions?n={number}&kind={kind}"
            answer = await client.post(url, content=BODY, headers={"Content-Type": "application/json"})
            assert f"call_{number}" in answer.text
            book.maybe.remove(number)
            book.whole.append(number)


async def with_aiohttp(port, book):
    async with aiohttp.ClientSession() as client:
        for kind in ("sse", "json", "late"):
            number = book.next()
            book.maybe.append(number)
            url = f"http://127.0.0.1:{port}/v1/chat/completions?n={number}&kind={kind}"
            async with client.post(url, data=BODY, headers={"Content-Type": "application/json"}) as answer:
                assert f"call_{number}" in await answer.text()
            book.maybe.remove(number)
            book.whole.append(number)


def the_clients(port, book):
    """Fifty of them, each a coroutine function to be called again and again."""
    kinds = [(raw, ("json",))] * 14 + [(raw, ("sse",))] * 10 + [(raw, ("chunked",))] * 4 + [(leaves, ("sse",))] * 3
    kinds += [(leaves, ("rst",))] * 3 + [(half_a_head, ())] * 2 + [(malformed, ())] * 2 + [(socket, ())] * 4
    kinds += [(with_httpx, ())] * 4 + [(with_aiohttp, ())] * 4
    return [lambda k=k, a=a: k(port, book, *a) for k, a in kinds]


CUT = (OSError, EOFError, httpx.HTTPError, aiohttp.ClientError)


async def again_and_again(client, over):
    while not over.is_set():
        try:
            await client()
        except CUT:
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.05)


def play(served, during):
    book = Book()

    async def main():
        over = asyncio.Event()
        tasks = [asyncio.create_task(again_and_again(c, over)) for c in the_clients(served.port, book)]
        await during()
        over.set()
        done, pending = await asyncio.wait(tasks, timeout=WAIT_S)
        assert not pending
        for task in done:
            task.result()

    asyncio.run(main())
    return book


def settled(served, low, high):
    """The figures, once what was recorded and what is declared missing add up to something the clients can confirm."""
    deadline = time.monotonic() + 2 * WAIT_S
    while True:
        offered, recorded, gaps = served.figures()
        if low <= recorded + gaps <= high and offered <= recorded + gaps:
            return offered, recorded, gaps
        assert time.monotonic() < deadline, (offered, recorded, gaps, low, high)
        time.sleep(0.2)


def the_log_is_exact(served, book):
    records = read_records(served.state)
    actions = [r for r in records if r["kind"] == "action"]
    count = Counter(int(r["call"]["id"].rpartition("_")[2]) for r in actions)
    assert not {n: c for n, c in count.items() if c > 1}
    lost = set(book.whole) - set(count)
    declared = sum(r["exchanges"] for r in records if r["kind"] == "gap")
    assert len(lost) <= declared, (sorted(lost)[:20], declared)
    assert set(count) <= {*book.whole, *book.begun, *book.maybe}
    assert all(r["call"].get("complete", True) for r in actions if int(r["call"]["id"][5:]) in set(book.whole))
    assert [v.answer for v in verify(served.state / "audit")] == ["valid"]
    return records


def test_fifty_clients_of_every_kind_are_counted_exactly(served):
    async def wait():
        await asyncio.sleep(SECONDS / 3)
        sizes.append(sum(memory_of(p) for p in served.pids()["relays"]))
        await asyncio.sleep(2 * SECONDS / 3)
        sizes.append(sum(memory_of(p) for p in served.pids()["relays"]))

    sizes = []
    base = {pid: descriptors(pid) for pid in served.pids()["relays"]}
    book = play(served, wait)
    certain = len(book.whole) + len(book.begun)
    settled(served, certain, certain + len(book.maybe))
    for pid, before in base.items():
        wait_for(lambda pid=pid, before=before: descriptors(pid) <= before, "descriptors")
    assert sizes[1] - sizes[0] < 4 << 20
    everyone = served.everyone()
    assert served.stop() == 0
    records = the_log_is_exact(served, book)
    assert sum(r["kind"] == "refusal" for r in records) == book.refused
    assert not any(map(alive, everyone))
    assert not served.spool.exists()


def test_any_process_killed_or_stopped_under_fifty_clients(served):
    chance = random.Random(SEED)
    hits = Counter()

    async def one_hit():
        role = chance.choice(("relay", "relay", "analyzer", "analyzer", "control", "supervisor"))
        pids = served.pids()
        pid = chance.choice(pids["relays"]) if role == "relay" else pids.get(role)
        if not alive(pid):
            return
        hits[role] += 1
        if chance.random() < 0.5:
            os.kill(pid, signal.SIGSTOP)
            await asyncio.sleep(chance.uniform(0.05, 0.8))
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
            return
        os.kill(pid, signal.SIGKILL)
        if role == "supervisor":
            served.process.wait()
            await asyncio.sleep(chance.uniform(0, 0.5))
            await asyncio.to_thread(served.start)

    async def hit():
        until = time.monotonic() + SECONDS
        while time.monotonic() < until or sum(hits.values()) < SECONDS / 2:
            await one_hit()
            await asyncio.sleep(chance.uniform(0.1, 0.6))

    book = play(served, hit)
    certain = len(book.whole) + len(book.begun)
    deadline = time.monotonic() + 2 * WAIT_S
    while not certain <= sum(served.figures()[1:]) <= certain + len(book.maybe):
        assert time.monotonic() < deadline, (served.figures(), certain, len(book.maybe), hits)
        time.sleep(0.2)
    everyone = served.everyone()
    assert served.stop() == 0, served.log.read_text()[-2000:]
    the_log_is_exact(served, book)
    assert not any(map(alive, everyone))
    assert not served.everyone()
    assert not served.spool.exists()
