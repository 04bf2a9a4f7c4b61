"""An upstream that closes kept connections while the next request is on its way: through the relay a client sees what it
sees directly, a close it may answer with another try, and never an answer the upstream did not give.
"""

import contextlib
import random
import socket
import threading
import time
from collections import Counter

import pytest

from proxy.exchange import Ending
from proxy.spool.events import Ended

from .conftest import WAIT_S, drain

pytestmark = pytest.mark.faults

ROUNDS = 400
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ASK = b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody"


class Restless:
    """Closes a connection 0 to 2 ms after an answer, as a server does whose idle timeout is over."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.taken = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(sock,), daemon=True).start()

    def _serve(self, sock):
        choose = random.Random()
        with sock, contextlib.suppress(OSError):
            while True:
                got = b""
                while len(got) < len(ASK):
                    data = sock.recv(65536)
                    if not data:
                        return
                    got += data
                self.taken += 1
                sock.sendall(ANSWER)
                sock.settimeout(choose.random() * 0.002 + 1e-4)
                try:
                    if not sock.recv(1, socket.MSG_PEEK):
                        return
                except TimeoutError:
                    return  # idle for too long
                sock.settimeout(WAIT_S)


def keep_asking(port):
    """What each of the requests on kept connections met: "ok", "closed" (nothing came), or the bytes that came instead."""
    seen, choose, sock = Counter(), random.Random(1), None
    for _ in range(ROUNDS):
        fresh = sock is None
        if sock is None:
            sock = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        got = b""
        with contextlib.suppress(ConnectionError):
            sock.sendall(ASK)
            while len(got) < len(ANSWER) and (data := sock.recv(65536)):
                got += data
        met = "ok" if got == ANSWER else got or "closed"
        seen["closed at once" if met == "closed" and fresh else met] += 1
        if met != "ok":
            sock.close()
            sock = None
        time.sleep(choose.random() * 0.002)
    if sock is not None:
        sock.close()
    return seen


def test_closes_that_cross_a_request_are_closes_and_no_answer_is_invented(relay, memory):
    restless = Restless()
    direct = keep_asking(restless.port)
    child, port = relay(routes={"/": {"url": f"http://127.0.0.1:{restless.port}"}})
    through = keep_asking(port)
    restless.listener.close()
    assert set(direct) == {"ok", "closed"}  # both happen, or nothing is compared
    assert set(through) == {"ok", "closed"}
    assert restless.taken >= direct["ok"] + through["ok"]
    child.end(15)
    endings = Counter(e.ending for e in drain(memory) if isinstance(e, Ended))
    assert endings[Ending.COMPLETE] == through["ok"]
    assert set(endings) <= {Ending.COMPLETE, Ending.UPSTREAM_FAILED, Ending.CLIENT_GONE}
