"""A relay in a thread, a raw upstream in another, raw sockets in the test: bytes in, bytes out, nothing between."""

import asyncio
import contextlib
import datetime as dt
import socket
import struct
import threading
import time

import pytest
import uvloop
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from proxy.relay.core import Relay
from proxy.relay.serve import start
from proxy.spool.tail import SpoolTail

WAIT_S = 60.0  # against hanging only: nothing here is a promise about time


class Upstream:
    """Accepts connections; each is handled by ``handler(sock)`` in a thread of its own."""

    def __init__(self, handler=None, wrap=None):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.handler = handler
        self.wrap = wrap
        self.accepted = 0
        self.errors = []
        self.threads = []
        self.accepting = threading.Thread(target=self._accept)
        self.accepting.start()

    def _accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:
                return
            self.accepted += 1
            thread = threading.Thread(target=self._run, args=(sock,))
            self.threads.append(thread)
            thread.start()

    def _run(self, sock):
        sock.settimeout(WAIT_S)
        with sock:
            try:
                if self.wrap:
                    sock = self.wrap(sock)
                self.handler(sock)
            except OSError as error:
                self.errors.append(error)
            finally:
                sock.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.accepting.join(WAIT_S)
        for thread in self.threads:
            thread.join(WAIT_S)


class Rig:
    """``routes`` may name ports as ``{port}``; ``send``/``talk`` use raw sockets."""

    def __init__(self, loop_name, root, routes, *, forwarding=False, **more):
        """``forwarding``: one more listener, at ``forward_port``, is a forward proxy."""
        self.root = root
        self.forwarding = [socket.create_server(("127.0.0.1", 0), backlog=256)] if forwarding else []
        self.forward_port = self.forwarding[0].getsockname()[1] if forwarding else 0
        self.config = {"spool_dir": str(root), "routes": routes, **more}
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self.listener.getsockname()[1]
        self.started = threading.Event()
        self.loop_name = loop_name
        self.relay: Relay | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        assert self.started.wait(WAIT_S)

    def _run(self):
        run = uvloop.run if self.loop_name == "uvloop" else asyncio.run
        run(self._main())

    async def _main(self):
        self.loop = asyncio.get_running_loop()
        self.complaints = []
        self.loop.set_exception_handler(lambda _, context: self.complaints.append(context))
        self.stop = asyncio.Event()
        self.listener.setblocking(False)
        for sock in self.forwarding:
            sock.setblocking(False)
        self.relay = await start(self.config, [self.listener], self.forwarding)
        self.started.set()
        await self.stop.wait()
        await self.relay.drain(1.0)

    def close(self):
        self.loop.call_soon_threadsafe(self.stop.set)
        self.thread.join(WAIT_S)
        assert not self.complaints, self.complaints

    def connect(self):
        sock = socket.create_connection(("127.0.0.1", self.forward_port or self.port), timeout=WAIT_S)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return sock

    def talk(self, data, *, pieces=None):
        """Send, then read until the relay closes."""
        with self.connect() as sock:
            for piece in pieces or [data]:
                sock.sendall(piece)
            return read_all(sock)

    def events(self, *, until=None):
        """Everything in the spool, or polled until ``until(events)`` holds."""
        tail = SpoolTail(self.root)
        events = []
        deadline = time.monotonic() + WAIT_S
        while True:
            events += tail.wait(0.05)
            if until is None or until(events):
                tail.close()
                return events
            assert time.monotonic() < deadline, events


def read_all(sock):
    """Until FIN; a reset ends with the marker b"<RST>"."""
    out = b""
    while True:
        try:
            data = sock.recv(65536)
        except ConnectionResetError:
            return out + b"<RST>"
        if not data:
            return out
        out += data


def read_exactly(sock, size):
    out = b""
    while len(out) < size:
        data = sock.recv(size - len(out))
        if not data:
            return out
        out += data
    return out


def read_head(sock):
    out = b""
    while b"\r\n\r\n" not in out:
        data = sock.recv(65536)
        if not data:
            break
        out += data
    return out


def reset(sock):
    """Close with RST."""
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


@pytest.fixture(params=["uvloop", "asyncio"])
def loop_name(request):
    return request.param


@pytest.fixture
def upstream():
    made = []

    def make(handler, wrap=None):
        made.append(Upstream(handler, wrap))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture
def rig(loop_name, tmp_path):
    made = []

    def make(routes, **more):
        made.append(Rig(loop_name, tmp_path / f"spool{len(made)}", routes, **more))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(scope="module", params=["uvloop", "asyncio"])
def stage(request, tmp_path_factory):
    from .stage import Stage

    one = Stage(request.param, tmp_path_factory.mktemp("stage") / "spool")
    yield one
    one.close()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(made.public_bytes(serialization.Encoding.PEM) + private)
    return str(path)
