"""Real processes under load, and accounts of what every client got: the relay's promises are checked against those."""

import asyncio
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from proxy.exchange import Side
from proxy.settings import Config, SpoolSettings
from proxy.spool.events import BodySeen, Dropped, Ended
from proxy.spool.tail import SpoolTail
from tests.ports import free_port

WAIT_S = 60.0  # against hanging only: nothing here is a promise about time


def one_route(tmp_path, memory, upstream):
    """An instance's configuration: everything goes to ``upstream``; its state folder is made."""
    (tmp_path / "state").mkdir(mode=0o700)
    return Config(
        state=str(tmp_path / "state"),
        spool=SpoolSettings(dir=str(memory)),
        listen=f"127.0.0.1:{free_port()}",
        control=f"127.0.0.1:{free_port()}",
        routes={"/": {"url": f"http://127.0.0.1:{upstream}"}},
    )


def wait_for(condition, what="condition"):
    deadline = time.monotonic() + WAIT_S
    while not (got := condition()):
        assert time.monotonic() < deadline, what
        time.sleep(0.01)
    return got


def listening(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


class Child:
    def __init__(self, argv, **more):
        self.process = subprocess.Popen(argv, **more)
        self.pid = self.process.pid

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGKILL):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(number)
        return self.process.wait(WAIT_S)


@pytest.fixture
def children():
    made = []

    def start(argv, **more):
        made.append(Child(argv, **more))
        return made[-1]

    yield start
    for one in made:
        one.end()


@pytest.fixture
def upstream(children):
    port = free_port()
    children([sys.executable, str(Path(__file__).parent / "upstream.py"), str(port)], preexec_fn=many_files)
    wait_for(lambda: listening(port), "upstream")
    return port


def many_files():
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@pytest.fixture
def memory(tmp_path):
    """A directory on a memory-backed filesystem where there is one."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path / "spool"
        return
    import shutil
    import tempfile

    path = Path(tempfile.mkdtemp(prefix="onlooker-test-", dir="/dev/shm"))
    yield path / "spool"
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def relay(children, upstream, memory):
    """A relay process on ``memory``; returns (child, port)."""

    def start(*, before=lambda: None, **more):
        port = free_port()
        config = {
            "routes": {"/": {"url": f"http://127.0.0.1:{upstream}"}},
            "spool_dir": str(memory),
            "listen": [f"127.0.0.1:{port}"],
            **more,
        }
        child = children([sys.executable, "-m", "proxy.relay", json.dumps(config)], preexec_fn=before)
        wait_for(lambda: listening(port), "relay")
        return child, port

    return start


class Account:
    """What the clients of a run know: requests sent whole, answers received whole, and how connections ended."""

    def __init__(self):
        self.sent, self.answered = [], []
        self.refused = self.cut_in_flight = self.closed_idle = 0
        self.bytes_received = 0


async def one_client(port, number, account, stop, pause):
    """Sequential requests on a kept connection, a new one whenever it ends."""
    count = 0
    while not stop.is_set():
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            account.refused += 1
            await asyncio.sleep(0.01)
            continue
        try:
            while not stop.is_set():
                count += 1
                path = f"/c{number}/n{count}/"
                writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
                account.sent.append(path)
                body = path.encode() * 20
                want = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                got = b""
                while len(got) < len(want):
                    data = await reader.read(len(want) - len(got))
                    if not data:
                        break
                    got += data
                    account.bytes_received += len(data)
                assert want.startswith(got), (want, got)
                if len(got) < len(want):
                    account.cut_in_flight += 1
                    break
                account.answered.append(path)
                if pause:
                    await asyncio.sleep(pause)
                if reader.at_eof():
                    account.closed_idle += 1
                    break
        except (ConnectionError, OSError):
            account.cut_in_flight += 1
        finally:
            writer.close()


def load(port, clients, during, *, pause=0.0):
    """Run ``clients`` clients while ``during(account)`` (a coroutine function) runs; the account."""
    account = Account()

    async def main():
        stop = asyncio.Event()
        tasks = [asyncio.ensure_future(one_client(port, n, account, stop, pause)) for n in range(clients)]
        await during(account)
        stop.set()
        done, pending = await asyncio.wait(tasks, timeout=WAIT_S)
        assert not pending
        for task in done:
            task.result()

    asyncio.run(main())
    return account


def drain(root):
    """Every event in the spool, read to the end."""
    tail = SpoolTail(root)
    events = []
    while more := tail.poll():
        events += more
    tail.close()
    return events


def totals(events):
    """exchanges, bytes in, bytes out: recorded plus declared dropped."""
    ended = [e for e in events if isinstance(e, Ended)]
    gone = [e for e in events if isinstance(e, Dropped)]
    return (
        len(ended) + sum(e.exchanges for e in gone),
        sum(e.bytes_in for e in ended) + sum(e.bytes_in for e in gone),
        sum(e.bytes_out for e in ended) + sum(e.bytes_out for e in gone),
    )


def response_bodies(events):
    return b"".join(e.data for e in events if isinstance(e, BodySeen) and e.side is Side.RESPONSE)
