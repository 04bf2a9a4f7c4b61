"""Bodies far larger than any buffer, both ways, beside a reader that stalls: byte for byte, counted, in little memory.

ONLOOKER_BODY_MIB (64): how large; 1024 once by hand.
"""

import contextlib
import hashlib
import os
import random
import select
import signal
import socket
import threading
from pathlib import Path

import pytest

from proxy.spool.events import Ended

from .conftest import WAIT_S, drain

pytestmark = pytest.mark.faults

BODY_MIB = int(os.environ.get("ONLOOKER_BODY_MIB", "64"))
SIZE = BODY_MIB << 20
PIECE = random.Random(3).randbytes(1 << 20)
CHUNK = b"100000\r\n" + PIECE + b"\r\n"
HEADS = {
    "Content-Length": (b"Content-Length: %d\r\n\r\n" % SIZE, PIECE, b""),
    "chunked": (b"Transfer-Encoding: chunked\r\n\r\n", CHUNK, b"0\r\n\r\n"),
}


def anonymous_mib(pid):
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.partition("\nAnonymous:")[2].split()[0]) / 1024


def pour(sock, framing, full):
    """The body; ``full`` is set once nobody takes it for a while."""
    head, piece, end = HEADS[framing]
    sock.setblocking(False)
    for data in (head, *[piece] * BODY_MIB, end):
        view = memoryview(data)
        while view:
            if not select.select((), (sock,), (), 0.3)[1]:
                full.set()
                assert select.select((), (sock,), (), WAIT_S)[1]
            with contextlib.suppress(BlockingIOError):
                view = view[sock.send(view) :]


def take(sock, framing):
    """(bytes, digest) of all that comes until the body's end, the head that ends in an empty line not counted."""
    digest, got, held = hashlib.sha256(), 0, b""
    while b"\r\n\r\n" not in held:
        held += sock.recv(65536)
    data = held.partition(b"\r\n\r\n")[2]
    _, piece, end = HEADS[framing]
    wanted = len(piece) * BODY_MIB + len(end)
    while True:
        digest.update(data)
        got += len(data)
        if got >= wanted or not (data := sock.recv(1 << 20)):
            return got, digest.digest()


def expected(framing):
    _, piece, end = HEADS[framing]
    digest = hashlib.sha256()
    for _ in range(BODY_MIB):
        digest.update(piece)
    digest.update(end)
    return len(piece) * BODY_MIB + len(end), digest.digest()


@pytest.mark.parametrize("framing", HEADS)
@pytest.mark.parametrize("way", ["response", "request"])
def test_a_large_body_waits_for_its_reader_and_arrives_whole(relay, memory, way, framing):
    full, seen = threading.Event(), []
    listener = socket.create_server(("127.0.0.1", 0))

    def upstream():
        sock, _ = listener.accept()
        sock.settimeout(WAIT_S)
        with sock:
            if way == "response":
                sock.recv(65536)
                sock.sendall(b"HTTP/1.1 200 OK\r\n")
                pour(sock, framing, full)
            else:
                assert full.wait(WAIT_S)  # reads nothing until its client stands still
                seen.append(take(sock, framing))
                sock.settimeout(WAIT_S)
                sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            with contextlib.suppress(OSError):
                sock.recv(1)

    serving = threading.Thread(target=upstream)
    serving.start()
    child, port = relay(routes={"/": {"url": f"http://127.0.0.1:{listener.getsockname()[1]}"}})
    before = anonymous_mib(child.pid)
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as sock:
        if way == "response":
            sock.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert full.wait(WAIT_S)
            seen.append(take(sock, framing))
        else:
            sock.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n")
            pour(sock, framing, full)
            sock.settimeout(WAIT_S)
            assert sock.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")
        grown = anonymous_mib(child.pid) - before
    serving.join(WAIT_S)
    listener.close()
    assert seen == [expected(framing)]
    assert grown < 16
    assert child.end(signal.SIGTERM) == 0
    (ended,) = [e for e in drain(memory) if isinstance(e, Ended)]
    carried = ended.bytes_out if way == "response" else ended.bytes_in
    assert carried > expected(framing)[0]
