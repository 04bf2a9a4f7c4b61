"""https upstreams: verified, and a FIN without close_notify is never a clean end, on both loops."""

import socket
import ssl
import threading

import pytest

from proxy.exchange import Ending
from proxy.spool.events import BodySeen, Ended

from .conftest import WAIT_S, read_all, read_exactly, read_head, reset

ASK = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
UNTIL = b"HTTP/1.1 200 OK\r\n\r\npartial"
LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npartial"


def tls_server(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return lambda sock: context.wrap_socket(sock, server_side=True)


def cut(sock, how):
    """End the TLS connection: with close_notify, with a bare FIN, with RST."""
    if how == "notify":
        try:
            sock.unwrap()
        except (OSError, ssl.SSLError):
            pass
        return
    raw = socket.socket(fileno=sock.detach())
    if how == "rst":
        reset(raw)
    raw.close()


def route(up, certificate, host="localhost"):
    return {"/": {"url": f"https://{host}:{up.port}", "ca": certificate}}


def ended(events):
    return [e for e in events if isinstance(e, Ended)]


def test_exchanges_on_one_connection(rig, upstream, certificate):
    seen = []

    def handler(sock):
        while head := read_head(sock):
            seen.append(head)
            sock.sendall(OK)

    up = upstream(handler, tls_server(certificate))
    r = rig(route(up, certificate))
    with r.connect() as sock:
        for _ in range(3):
            sock.sendall(ASK)
            assert read_exactly(sock, len(OK)) == OK
    assert seen == [ASK.replace(b"localhost", b"localhost:%d" % up.port)] * 3


def test_a_large_body_both_ways(rig, upstream, certificate):
    body = bytes(range(256)) * 12_000

    def handler(sock):
        early = read_head(sock).partition(b"\r\n\r\n")[2]
        assert early + read_exactly(sock, len(body) - len(early)) == body
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        read_all(sock)

    r = rig(route(upstream(handler, tls_server(certificate)), certificate))
    with r.connect() as sock:
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
        sock.sendall(head)
        sock.sendall(body)
        reply = read_exactly(sock, len(body) + len(b"HTTP/1.1 200 OK\r\nContent-Length: 3072000\r\n\r\n"))
        assert reply.endswith(body)
    events = r.events(until=ended)
    assert sum(len(e.data) for e in events if isinstance(e, BodySeen)) == 2 * len(body)


CUTS = {
    "close_notify ends a body until close": (UNTIL, "notify", b"", Ending.COMPLETE),
    "bare FIN cuts a body until close": (UNTIL, "fin", b"<RST>", Ending.TRUNCATED),
    "RST cuts a body until close": (UNTIL, "rst", b"<RST>", Ending.TRUNCATED),
    "close_notify in a length body": (LENGTH, "notify", b"", Ending.TRUNCATED),
    "bare FIN in a length body": (LENGTH, "fin", b"", Ending.TRUNCATED),
}


@pytest.mark.parametrize("name", CUTS)
def test_only_a_true_end_is_passed_on_as_one(rig, upstream, certificate, name):
    reply, how, after, ending = CUTS[name]
    arrived = threading.Event()

    def handler(sock):
        read_head(sock)
        sock.sendall(reply)
        assert arrived.wait(WAIT_S)  # a reset discards what was not read yet
        cut(sock, how)

    r = rig(route(upstream(handler, tls_server(certificate)), certificate))
    with r.connect() as sock:
        sock.sendall(ASK)
        assert read_exactly(sock, len(reply)) == reply
        arrived.set()
        assert read_all(sock) == after
    assert [e.ending for e in ended(r.events(until=ended))] == [ending]


@pytest.mark.parametrize("how", ["unknown authority", "wrong name", "no TLS there", "closes at once"])
def test_what_cannot_be_verified_is_a_typed_502(rig, upstream, certificate, how):
    wrap = None if how in {"no TLS there", "closes at once"} else tls_server(certificate)

    def handler(sock):
        if how == "no TLS there":
            sock.recv(100)
            sock.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            read_all(sock)

    up = upstream(handler, wrap)
    routes = route(
        up, None if how == "unknown authority" else certificate, "127.0.0.1" if how == "wrong name" else "localhost"
    )
    r = rig(routes)
    got = r.talk(ASK)
    assert b"Onlooker-Refusal: upstream-tls\r\n" in got


def test_a_ca_file_that_is_not_there_is_a_typed_502(rig, upstream, certificate):
    up = upstream(lambda sock: None, None)
    r = rig(route(up, certificate + ".missing"))
    assert b"Onlooker-Refusal: upstream-tls\r\n" in r.talk(ASK)
