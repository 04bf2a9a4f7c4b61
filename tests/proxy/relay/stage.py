"""A long-lived relay and upstream per loop for tables of raw cases: one case plays, both ends compare bytes."""

import queue
import socket
import threading
import time

from proxy.spool.events import Refused
from proxy.spool.tail import SpoolTail

from .conftest import WAIT_S, Rig, Upstream, read_all, read_exactly

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ASK = b"GET / HTTP/1.1\r\nHost: @HOST@\r\n\r\n"


class Stage:
    """``play_request``: what arrives at the upstream. ``play_response``: what arrives at the client."""

    def __init__(self, loop_name, root):
        self.scripts = queue.Queue()
        self.seen = queue.Queue()
        self.up = Upstream(self._act)
        self.host = b"127.0.0.1:%d" % self.up.port
        self.rig = Rig(
            loop_name,
            root,
            {"/": {"url": f"http://127.0.0.1:{self.up.port}"}, "api": {"url": f"http://127.0.0.1:{self.up.port}/v9"}},
        )

        self.tail = SpoolTail(root)

    def close(self):
        self.tail.close()
        self.rig.close()
        self.up.close()

    def refused(self):
        """The reasons of the refusals captured since the last call; waits for one."""
        deadline = time.monotonic() + WAIT_S
        while not (found := [e.reason for e in self.tail.wait(0.05) if isinstance(e, Refused)]):
            assert time.monotonic() < deadline
        return found

    def _act(self, sock):
        want, reply, end = self.scripts.get(timeout=WAIT_S)
        got = read_exactly(sock, want)
        for piece in reply:
            sock.sendall(piece)
        if end == "fin":
            self.seen.put(got)
            return
        sock.settimeout(WAIT_S)
        try:
            while data := sock.recv(65536):  # anything beyond the expected bytes, until the relay leaves
                got += data
        except OSError:
            pass
        self.seen.put(got)

    def _clear(self):
        """A case that failed leaves nothing to the next one."""
        for q in (self.scripts, self.seen):
            while not q.empty():
                q.get_nowait()

    def at_upstream(self, raw):
        return raw.replace(b"@HOST@", self.host)

    def at_client(self, raw):
        return raw.replace(b"@HOST@", b"localhost:7")

    def play_request(self, sent, expected, reply=OK):
        """(bytes the upstream got, bytes the client got)"""
        expected = self.at_upstream(expected)
        self._clear()
        self.scripts.put((len(expected), [reply], "stay"))
        with self.rig.connect() as sock:
            sender = threading.Thread(target=_send, args=(sock, self.at_client(sent)))
            sender.start()
            answer = read_exactly(sock, len(reply))
            sender.join(WAIT_S)
            sock.shutdown(socket.SHUT_RDWR)
        return self.seen.get(timeout=WAIT_S), answer

    def play_response(self, reply, *, ask=ASK, end="fin", pieces=None):
        """Bytes the client got until the relay closed; FIN after ``reply`` unless ``end`` says otherwise."""
        ask_up = self.at_upstream(ask)
        self._clear()
        self.scripts.put((len(ask_up), pieces or [reply], end))
        with self.rig.connect() as sock:
            sock.sendall(self.at_client(ask))
            got = read_exactly(sock, len(reply)) if end == "stay" else read_all(sock)
        self.seen.get(timeout=WAIT_S)
        return got

    def play_refusal(self, sent):
        """(bytes the client got, connections the upstream got)"""
        before = self.up.accepted
        with self.rig.connect() as sock:
            _send(sock, self.at_client(sent))
            got = read_all(sock)
        return got, self.up.accepted - before


def _send(sock, data):
    try:
        sock.sendall(data)
    except OSError:
        pass  # refused before all was sent
