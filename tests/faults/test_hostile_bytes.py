"""A running instance under bytes that are no HTTP, clients that never finish, and targets that point elsewhere.

Nobody dies, honest clients beside them are served, each honest call is recorded once, nothing is reached but the route.
"""

import asyncio
import os
import random
import socket
import threading
from collections import Counter
from pathlib import Path

import pytest

from audit.verify import verify
from proxy.status import read_pids

from .conftest import WAIT_S
from .test_instance_faults import instance, play  # noqa: F401 - a fixture

pytestmark = pytest.mark.faults

INPUTS = int(os.environ.get("ONLOOKER_HOSTILE", "400"))
HEAD = b"POST /v1/chat/completions?n=1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\n{}\n"
CHUNKED = (
    b"POST /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: v\r\n\r\n"
)
UPGRADE = b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: eA==\r\n\r\n"
SPICE = (
    b"\0",
    b"\r",
    b"\n",
    b" ",
    b"\t",
    b":",
    b"\xff",
    b"\r\n\r\n",
    b"0x",
    b"%0d%0a",
    b"\xe2\x80\xa8",
    b"HTTP/2",
    b"-1",
    b"9" * 30,
)


def hostile(dice):
    """One input: noise, a mutated request, or a good one cut off."""
    kind = dice.randrange(4)
    if kind == 0:
        return dice.randbytes(dice.randrange(1, 3000))
    data = bytearray(dice.choice((HEAD, CHUNKED, UPGRADE)))
    if kind == 1:
        return bytes(data[: dice.randrange(len(data))])
    for _ in range(dice.randrange(1, 6)):
        at = dice.randrange(len(data) + 1)
        data[at : at + dice.choice((0, 0, 1, 4))] = dice.choice(SPICE)
    return bytes(data)


async def throw(port, data, dice):
    """Send it in pieces, read what comes, leave politely or not."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    cut = dice.randrange(len(data) + 1)
    leave = dice.randrange(3)
    try:
        writer.write(data[:cut])
        await asyncio.sleep(0)
        writer.write(data[cut:])
        if leave == 0:
            writer.transport.abort()
            return
        if leave == 1:
            writer.write_eof()
        async with asyncio.timeout(0.2):
            while await reader.read(65536):
                pass
    except (OSError, TimeoutError):
        pass
    finally:
        writer.transport.abort()


async def dribble(port, stop):
    """A head that grows by a byte now and then and never ends."""
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    while not stop.is_set():
        writer.write(b"a")
        await asyncio.sleep(0.1)
    writer.transport.abort()


def test_noise_broken_requests_and_clients_that_never_finish_hurt_nobody(instance):  # noqa: F811 - the fixture
    port = int(instance.listen.rpartition(":")[2])
    before = read_pids(instance.config.pids_file)
    dice = random.Random(20)

    async def attack():
        stop = asyncio.Event()
        slow = [asyncio.ensure_future(dribble(port, stop)) for _ in range(50)]
        half_open = [await asyncio.open_connection("127.0.0.1", port) for _ in range(50)]
        for start in range(0, INPUTS, 20):
            await asyncio.gather(*(throw(port, hostile(dice), dice) for _ in range(min(20, INPUTS - start))))
        stop.set()
        await asyncio.gather(*slow)
        for _, writer in half_open:
            writer.transport.abort()

    done, failed = play(instance, attack)
    assert not failed
    assert len(done) == 240
    after = read_pids(instance.config.pids_file)
    assert after == before
    assert instance.stop() == 0, instance.stderr.read_text()
    records = instance.records()
    count = Counter(r["call"]["id"] for r in records if r["kind"] == "action")
    assert all(count[f"call_{n}"] == 1 for n in done if n != 1)  # the mutated requests ask for number 1 too
    assert [r for r in records if r["kind"] == "refusal"]
    assert not [r for r in records if r["kind"] == "analysis_failed"]
    assert [v.answer for v in verify(Path(instance.config.state) / "audit")] == ["valid"]
    assert "Traceback" not in instance.stderr.read_text()


TARGETS = (
    b"http://2130706433:@PORT@/x",
    b"http://0x7f000001:@PORT@/x",
    b"http://127.1:@PORT@/x",
    b"http://user:pw@127.0.0.1:@PORT@/x",
    b"http://localhost@127.0.0.1:@PORT@/x",
    b"http://127.0.0.1:@PORT@%23@localhost/x",
    b"http://127.0.0.1:@PORT@#@localhost/x",
    b"http://127.0.0.1:@PORT@\\@localhost/x",
    b"http://[::1%25lo]:@PORT@/x",
    b"http://[::ffff:127.0.0.1]:@PORT@/x",
    b"http://169.254.169.254/latest/meta-data/",
    b"https://127.0.0.1:@PORT@/x",
    b"gopher://127.0.0.1:@PORT@/x",
    b"//127.0.0.1:@PORT@/x",
    b"/@127.0.0.1:@PORT@/x",
    b"/..//127.0.0.1:@PORT@/x",
    b"/x%0d%0aHost:%20127.0.0.1:@PORT@",
    b"/x HTTP/1.1\r\nHost: 127.0.0.1:@PORT@\r\nX: ",
    b"127.0.0.1:@PORT@",
)


@pytest.mark.parametrize("method", [b"GET", b"CONNECT"])
def test_no_target_and_no_host_leads_anywhere_but_to_the_route(instance, method):  # noqa: F811 - the fixture
    reached = []
    trap = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            try:
                reached.append(trap.accept())
            except OSError:
                return

    threading.Thread(target=accept, daemon=True).start()
    here = b"%d" % trap.getsockname()[1]
    port = int(instance.listen.rpartition(":")[2])
    answers = {}
    for target in TARGETS:
        with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock:
            asked = b"%s %s HTTP/1.1\r\nHost: 127.0.0.1:@PORT@\r\nConnection: close\r\n\r\n" % (method, target)
            sock.sendall(asked.replace(b"@PORT@", here))
            answers[target] = sock.recv(65536).split(b" ")[1]
    trap.shutdown(socket.SHUT_RDWR)
    trap.close()
    assert reached == []
    assert set(answers.values()) <= {b"200", b"400", b"403", b"404", b"501"}, answers
    absolute = {answers[t] for t in TARGETS if b"://" in t}
    assert not absolute & {b"200"}, answers
