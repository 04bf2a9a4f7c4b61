"""A whole instance with its analyzer stopped and killed under load: no request fails, every call is recorded once."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from proxy.instance import Instance
from proxy.memory import captures_wait
from proxy.status import alive, read_pids

from .conftest import WAIT_S, one_route, wait_for

pytestmark = pytest.mark.faults

BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "list the files"}]}).encode()


@pytest.fixture
def instance(tmp_path, memory, upstream):
    with Instance.start(one_route(tmp_path, memory, upstream)) as one:
        assert one.wait_analyzer()
        yield one


def pids(instance):
    return read_pids(instance.config.pids_file)


async def ask(port, numbers, done, failed):
    """Chat requests one after the other on a kept connection; ``done`` gets the numbers answered."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        head = f"POST /v1/chat/completions?n={number} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
        try:
            reply = await reader.readuntil(b"\r\n\r\n")
            size = int(reply.partition(b"Content-Length: ")[2].split(b"\r")[0])
            assert f"call_{number}".encode() in await reader.readexactly(size)
        except (OSError, EOFError):
            failed.append(number)
            break
        done.append(number)
        await asyncio.sleep(0.02)
    writer.close()


def play(instance, during, clients=4, each=60, first=0):
    port = int(instance.listen.rpartition(":")[2])
    done, failed = [], []

    async def main():
        asks = [ask(port, [c * 1000 + first + n for n in range(each)], done, failed) for c in range(clients)]
        await asyncio.wait_for(asyncio.gather(during(), *asks), 2 * WAIT_S)

    asyncio.run(main())
    return done, failed


def recorded(instance):
    """How often each call's id is in the log as an action."""
    assert instance.stop() == 0
    return Counter(r["call"]["id"] for r in instance.records() if r["kind"] == "action")


def test_an_analyzer_killed_again_and_again_records_each_call_once(instance):
    killed = []

    async def kill():
        for _ in range(4):
            await asyncio.sleep(0.5)
            old = pids(instance)["analyzer"]
            os.kill(old, signal.SIGKILL)
            killed.append(old)
            deadline = time.monotonic() + WAIT_S
            while pids(instance).get("analyzer") in {None, old}:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)

    done, failed = play(instance, kill)
    assert not failed
    assert len(killed) == 4
    assert recorded(instance) == Counter(f"call_{n}" for n in done)


def test_a_stopped_analyzer_and_control_fail_no_request_and_everything_is_recorded_afterwards(instance):
    async def stop():
        held = pids(instance)
        for role in ("analyzer", "control"):
            os.kill(held[role], signal.SIGSTOP)
        await asyncio.sleep(2.0)
        for role in ("analyzer", "control"):
            os.kill(held[role], signal.SIGCONT)

    done, failed = play(instance, stop)
    assert not failed
    assert recorded(instance) == Counter(f"call_{n}" for n in done)


def test_a_killed_relay_loses_no_call_a_client_received(instance):
    async def kill():
        await asyncio.sleep(0.5)
        os.kill(pids(instance)["relays"][0], signal.SIGKILL)

    done, failed = play(instance, kill)
    assert len(failed) <= 4
    count = recorded(instance)
    assert {f"call_{n}" for n in done} <= set(count)
    assert set(count.values()) == {1}


def test_without_supervisor_and_relay_the_analyzer_records_the_rest_and_leaves(instance):
    """The supervisor killed, then the relay: nobody has to come and end what is left."""
    running = pids(instance)

    async def kill():
        await asyncio.sleep(0.3)
        os.kill(running["supervisor"], signal.SIGKILL)
        await asyncio.sleep(0.8)
        assert alive(running["analyzer"])  # a relay still serves
        for pid in running["relays"]:
            os.kill(pid, signal.SIGKILL)

    done, _ = play(instance, kill, each=100)
    assert done
    wait_for(lambda: not alive(running["analyzer"]), "the analyzer to leave")
    count = Counter(
        r["call"]["id"] for r in instance.records() if r["kind"] == "action" and r["call"].get("complete", True)
    )
    assert set(count.values()) == {1}
    assert set(count) >= {f"call_{n}" for n in done}
    assert not captures_wait(Path(instance.config.spool.dir))
    with contextlib.suppress(ProcessLookupError):  # it leaves by itself 30 s later
        os.kill(running["control"], signal.SIGTERM)


def test_no_canary_is_in_any_file_of_the_instance(instance):
    """The key of a request is in no record, log, spool or status file, analysed or not."""
    port = int(instance.listen.rpartition(":")[2])

    async def main():
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = "POST /v1/chat/completions?key=sk-CANARY-1&n=1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer sk-CANARY-2\r\n"
        head += f"Cookie: c=sk-CANARY-3\r\nContent-Length: {len(BODY)}\r\nContent-Type: application/json\r\n\r\n"
        writer.write(head.encode() + BODY)
        assert b"200 OK" in await reader.readuntil(b"\r\n\r\n")
        writer.close()

    asyncio.run(main())
    state, spool = Path(instance.config.state), Path(instance.config.spool.dir)
    assert not canaries(spool)
    assert recorded(instance) == Counter({"call_1": 1})
    assert not canaries(state)
    assert not canaries(spool.parent)


def canaries(folder):
    return [p for p in folder.rglob("*") if p.is_file() and b"CANARY" in p.read_bytes()]
