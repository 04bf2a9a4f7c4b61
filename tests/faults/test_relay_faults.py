"""The relay killed, stopped, starved and flooded: nobody is refused, nothing a client got is missing, gaps are exact."""

import asyncio
import json
import os
import resource
import signal
import socket
import sys
from pathlib import Path

import pytest

from proxy.relay import counters
from proxy.spool.events import BodySeen, Dropped, Ended
from proxy.spool.tail import SpoolTail

from .conftest import WAIT_S, drain, load, many_files, response_bodies, totals, wait_for

pytestmark = pytest.mark.faults

KILL_ROUNDS = int(os.environ.get("ONLOOKER_KILL_ROUNDS", "10"))
RESTARTS = int(os.environ.get("ONLOOKER_RESTARTS", "10"))
STREAMS = int(os.environ.get("ONLOOKER_STREAMS", "1000"))
HALF_OPEN = int(os.environ.get("ONLOOKER_HALF_OPEN", "500"))
HEAD_BYTES = len(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")


async def until(condition):
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.02)


def full(root):
    """Nothing is captured right now; a relay that has only begun to listen has no page yet."""
    return any(slot["spool_full"] for slot in counters.read(root / "counters"))


def offered(root):
    (slot,) = counters.read(root / "counters")
    return slot["exchanges"], slot["bytes_in"], slot["bytes_out"]


def test_kill_9_loses_nothing_a_client_received(relay, memory):
    """Each round: load, SIGKILL, then the spool against what the clients hold and the counters page."""
    for number in range(KILL_ROUNDS):
        root = memory.parent / f"round{number}"
        child, port = relay(spool_dir=str(root))

        async def kill(account, child=child, after=0.15 + 0.02 * (number % 5)):
            await until(lambda: len(account.answered) >= 20)
            await asyncio.sleep(after)
            child.send(signal.SIGKILL)
            await asyncio.sleep(0.05)

        account = load(port, 8, kill)
        child.end()
        assert account.answered
        events = drain(root)
        recorded = response_bodies(events)
        # every answer a client holds whole is in the spool whole
        missing = [path for path in account.answered if path.encode() * 20 not in recorded]
        assert not missing
        assert totals(events) == offered(root)
        assert offered(root)[0] >= len(account.answered)


def test_a_stopped_reader_and_a_full_spool_fail_no_request_and_every_gap_is_counted(relay, memory):
    child, port = relay(spool_cap=2 << 20)
    tail = SpoolTail(memory)
    events = []

    async def nobody_reads(account):
        await until(lambda: full(memory))
        full_at = len(account.answered)
        await until(lambda: len(account.answered) > full_at + 500)
        sizes = sum(p.stat().st_size for p in memory.glob("*/seg-*"))
        assert sizes <= 2 << 20
        while more := tail.poll():  # the reader is back
            events.extend(more)
        tail.release(tail.checkpoint())
        await until(lambda: not full(memory))
        free_at = len(account.answered)
        await until(lambda: len(account.answered) > free_at + 500)

    account = load(port, 16, nobody_reads)
    assert (account.refused, account.cut_in_flight) == (0, 0)
    assert child.end(signal.SIGTERM) == 0
    while more := tail.poll():
        events.extend(more)
    gaps = [e for e in events if isinstance(e, Dropped)]
    assert gaps
    assert len(gaps) < 20  # coalesced
    exchanges, bytes_in, bytes_out = totals(events)
    # against the clients' own count, exactly
    assert exchanges == len(account.sent) == len(account.answered)
    assert bytes_out == account.bytes_received
    assert (exchanges, bytes_in, bytes_out) == offered(memory)
    assert sum(isinstance(e, Ended) for e in events) > gaps[0].first_exchange - 1  # captured again after the gap


def test_spool_files_that_may_not_grow_fail_no_request(relay, memory):
    """RLIMIT_FSIZE below a segment: write(2) fails with EFBIG, like a full filesystem."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    child, port = relay(before=limit)

    async def wait(account):
        await until(lambda: full(memory))
        full_at = len(account.answered)
        await until(lambda: len(account.answered) > full_at + 500)

    account = load(port, 8, wait)
    assert (account.refused, account.cut_in_flight) == (0, 0)
    assert child.end(signal.SIGTERM) == 0
    events = drain(memory)
    assert [e for e in events if isinstance(e, Dropped)]
    exchanges, _, bytes_out = totals(events)
    assert exchanges == len(account.sent)
    assert bytes_out == account.bytes_received


def test_a_relay_stopped_and_continued_goes_on_where_it_was(relay, memory):
    child, port = relay()

    async def freeze(account):
        await asyncio.sleep(0.3)
        child.send(signal.SIGSTOP)
        await asyncio.sleep(1.0)
        child.send(signal.SIGCONT)
        await asyncio.sleep(0.3)

    account = load(port, 8, freeze)
    assert (account.refused, account.cut_in_flight) == (0, 0)
    assert child.end(signal.SIGTERM) == 0
    assert totals(drain(memory))[0] == len(account.sent)


def test_the_relay_writes_to_no_filesystem_but_the_spools(relay, memory):
    """A frozen or full disk cannot hold a tick that touches none: every writable file of the process is in the spool."""
    child, port = relay()

    async def look(account):
        await asyncio.sleep(0.2)
        files = []
        for fd in Path(f"/proc/{child.pid}/fdinfo").iterdir():
            flags = int(fd.read_text().partition("flags:")[2].split()[0], 8)
            target = str(Path(f"/proc/{child.pid}/fd/{fd.name}").readlink())
            if (
                flags & os.O_ACCMODE
                and target.startswith("/")
                and not target.startswith(("/dev/null", "/dev/pts", "/dev/tty"))
            ):
                files.append(target)
        inherited = {str(Path(f"/proc/self/fd/{n}").readlink()) for n in (0, 1, 2)}
        files = [f for f in files if f not in inherited and "anon_inode" not in f]
        assert files
        assert all(f.startswith(str(memory)) for f in files), files

    load(port, 2, look)


def test_half_open_heads_hold_nobody_else(relay, memory):
    many_files()
    child, port = relay()
    before = rss(child.pid)
    held = []
    for _ in range(HALF_OPEN):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        held.append(sock)

    async def serve(account):
        await until(lambda: len(account.answered) >= 500)

    account = load(port, 4, serve)
    assert (account.refused, account.cut_in_flight) == (0, 0)
    assert (rss(child.pid) - before) / HALF_OPEN < 64 << 10
    for sock in held:
        sock.close()


def rss(pid):
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("\nPss:")[2].split()[0]) * 1024


def test_many_idle_streams_cost_little_and_one_event_reaches_all(relay, memory):
    many_files()
    child, port = relay()
    socks = [stream(port) for _ in range(20)]
    before = rss(child.pid)
    socks += [stream(port) for _ in range(STREAMS)]
    assert (rss(child.pid) - before) / STREAMS < 6 << 10
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock:
        sock.sendall(b"GET /tick HTTP/1.1\r\nHost: localhost\r\n\r\n")
        sock.recv(4096)
    for sock in socks:
        got = b""
        while b"event-1" not in got:
            data = sock.recv(4096)
            assert data
            got += data
        sock.close()
    wait_for(lambda: sum(isinstance(e, Ended) for e in drain(memory)) > STREAMS, "all streams ended in the record")
    bodies = response_bodies(drain(memory))
    assert bodies.count(b"event-1") == STREAMS + 20


def stream(port):
    sock = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
    sock.sendall(b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n")
    got = b""
    while b": hello" not in got:
        got += sock.recv(4096)
    return sock


def supervised(children, tmp_path, memory, upstream, **more):
    state = tmp_path / "state"
    config = {
        "state": str(state),
        "spool_dir": str(memory),
        "listen": "127.0.0.1:0",
        "routes": {"/": {"url": f"http://127.0.0.1:{upstream}"}},
        "drain_s": 10,
        **more,
    }
    child = children([sys.executable, "-m", "proxy.supervisor", json.dumps(config)], stdout=-1, text=True)
    running = json.loads(child.process.stdout.readline())
    return child, int(running["listen"][0].rpartition(":")[2]), state


def relays(state):
    return json.loads((state / "pids.json").read_text())["relays"]


def test_restarts_under_load_refuse_nobody_and_cut_nobody(children, tmp_path, memory, upstream):
    supervisor, port, state = supervised(children, tmp_path, memory, upstream)

    async def restart(account):
        for _ in range(RESTARTS):
            (old,) = relays(state)
            answered = len(account.answered)
            os.kill(old, signal.SIGTERM)
            await until(lambda a=answered: len(account.answered) >= a + 50)
            await until(lambda old=old: relays(state) != [old] and len(relays(state)) == 1)

    # A leaving relay can only close after an answer: to announce it would mean editing the answer (RFC 9112 §9.6). A
    # client that asks again within a scheduler's slice of the answer crosses that FIN, on a busy machine at 10 ms.
    account = load(port, 8, restart, pause=0.05)
    assert supervisor.end(signal.SIGTERM) == 0
    supervisor.process.stdout.close()
    assert (account.refused, account.cut_in_flight) == (0, 0)
    assert account.closed_idle > 0
    events = drain(memory)
    assert not [e for e in events if isinstance(e, Dropped)]
    assert totals(events)[0] == len(account.sent)


def test_a_killed_relay_breaks_only_its_own_live_exchanges(children, tmp_path, memory, upstream):
    supervisor, port, state = supervised(children, tmp_path, memory, upstream, workers=2)
    clients = 8

    async def kill(account):
        for _ in range(3):
            await asyncio.sleep(0.4)
            os.kill(relays(state)[0], signal.SIGKILL)
            await asyncio.sleep(0.6)

    account = load(port, clients, kill, pause=0.001)
    assert supervisor.end(signal.SIGTERM) == 0
    supervisor.process.stdout.close()
    assert account.refused == 0
    assert account.cut_in_flight <= 3 * clients
    events = drain(memory)
    recorded = response_bodies(events)
    assert not [path for path in account.answered if path.encode() * 20 not in recorded]


def test_a_drain_lets_what_is_in_flight_finish(children, tmp_path, memory, upstream):
    supervisor, port, _ = supervised(children, tmp_path, memory, upstream)
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock:
        sock.sendall(b"GET /slow/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = sock.recv(4096)
        supervisor.send(signal.SIGTERM)
        while data := sock.recv(4096):
            got += data
        assert got.endswith(b"/slow/x" * 20)
    assert supervisor.end(signal.SIGTERM) == 0
    supervisor.process.stdout.close()


def test_an_aborted_read_of_the_spool_goes_on_from_its_checkpoint_under_load(relay, memory):
    """The reader is replaced again and again while traffic flows: nothing lost, nothing twice."""
    child, port = relay()
    events = []
    saved = None

    async def read(account):
        nonlocal saved
        for _ in range(15):
            tail = SpoolTail(memory, saved)
            for _ in range(3):
                events.extend(tail.poll())
                await asyncio.sleep(0.02)
            saved = json.loads(json.dumps(tail.checkpoint()))
            tail.release(saved)
            tail.close()

    account = load(port, 8, read)
    assert child.end(signal.SIGTERM) == 0
    tail = SpoolTail(memory, saved)
    while more := tail.poll():
        events.extend(more)
    tail.close()
    bodies = [e.data for e in events if isinstance(e, BodySeen)]
    assert sorted(b for b in bodies) == sorted(p.encode() * 20 for p in account.answered)
