"""A forward proxy: absolute forms, blind tunnels counted to the byte, and what it refuses. Both loops."""

import base64
import hashlib
import select
import socket
import threading
import time

import pytest

from proxy.exchange import Ending
from proxy.spool.events import BodySeen, Ended, HeadSeen, Opaque, Opened, Refused
from tests.ports import free_port

from .conftest import WAIT_S, read_all, read_exactly, read_head, reset

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def kind(events, wanted):
    return [e for e in events if isinstance(e, wanted)]


def answering(seen, reply=OK):
    def handler(sock):
        while head := read_head(sock):
            seen.append(head)
            sock.sendall(reply)

    return handler


def opened_tunnel(sock, port, host=b"127.0.0.1"):
    sock.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n" % (host, port))
    assert read_exactly(sock, len(ESTABLISHED)) == ESTABLISHED
    return sock


# absolute form


def test_an_absolute_form_reaches_its_origin_in_origin_form(rig, upstream):
    seen = []
    up = upstream(answering(seen))
    r = rig({}, forwarding=True)
    host = b"127.0.0.1:%d" % up.port
    with r.connect() as sock:
        sock.sendall(b"GET http://%s/a/b?c=d HTTP/1.1\r\nhOst: %s\r\nX: \xff\r\n\r\n" % (host, host))
        assert read_exactly(sock, len(OK)) == OK
        sock.sendall(b"GET http://%s HTTP/1.1\r\nHost: other.example\r\n\r\n" % host)
        assert read_exactly(sock, len(OK)) == OK
    assert seen == [
        b"GET /a/b?c=d HTTP/1.1\r\nhOst: %s\r\nX: \xff\r\n\r\n" % host,
        b"GET / HTTP/1.1\r\nHost: %s\r\n\r\n" % host,
    ]
    assert up.accepted == 1
    events = r.events(until=lambda e: len(kind(e, Ended)) == 2)
    assert [e.meta["mode"] for e in kind(events, Opened)] == ["forward"] * 2
    assert [e.meta["upstream"] for e in kind(events, Opened)] == [host.decode()] * 2


def test_what_is_meant_for_the_proxy_goes_no_further_and_into_no_file(rig, upstream):
    seen = []
    up = upstream(answering(seen))
    r = rig({}, forwarding=True)
    host = b"127.0.0.1:%d" % up.port
    secret = base64.b64encode(b"review.0123456789abcdef:pw-canary")
    with r.connect() as sock:
        sock.sendall(
            b"GET http://%s/ HTTP/1.1\r\nProxy-Connection: keep-alive\r\nHost: %s\r\nproxy-authorization: Basic %s\r\nA: b\r\n\r\n"
            % (host, host, secret)
        )
        assert read_exactly(sock, len(OK)) == OK
    assert seen == [b"GET / HTTP/1.1\r\nHost: %s\r\nA: b\r\n\r\n" % host]
    events = r.events(until=lambda e: kind(e, Ended))
    assert kind(events, Opened)[0].meta["objective"] == "review.0123456789abcdef"
    assert not any(secret in p.read_bytes() for p in r.root.rglob("seg-*"))


def test_two_origins_over_one_connection_get_one_upstream_each(rig, upstream):
    first, second = [], []
    ups = upstream(answering(first)), upstream(answering(second))
    r = rig({}, forwarding=True)
    with r.connect() as sock:
        for up in (*ups, ups[0]):
            sock.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % up.port)
            assert read_exactly(sock, len(OK)) == OK
    assert (len(first), len(second), ups[0].accepted, ups[1].accepted) == (2, 1, 2, 1)


def test_a_configured_route_lends_its_name(rig, upstream):
    up = upstream(answering([]))
    r = rig({"models": {"url": f"http://127.0.0.1:{up.port}"}}, forwarding=True)
    with r.connect() as sock:
        sock.sendall(b"GET http://127.0.0.1:%d/ HTTP/1.1\r\nHost: x\r\n\r\n" % up.port)
        read_exactly(sock, len(OK))
    assert kind(r.events(until=lambda e: kind(e, Ended)), Opened)[0].meta["route"] == "models"


# blind tunnels


def test_a_tunnel_passes_bytes_both_ways_and_says_how_many(rig, upstream):
    up_bytes, down_bytes = b"\x00\xffnot http" * 1000, bytes(range(256)) * 500

    def handler(sock):
        assert read_exactly(sock, len(up_bytes)) == up_bytes
        sock.sendall(down_bytes)

    up = upstream(handler)
    r = rig({}, forwarding=True)
    with opened_tunnel(r.connect(), up.port) as sock:
        sock.sendall(up_bytes)
        assert read_all(sock) == down_bytes
    events = r.events(until=lambda e: kind(e, Ended))
    (flow,), (ended,) = kind(events, Opaque), kind(events, Ended)
    assert (flow.host, flow.reason) == (f"127.0.0.1:{up.port}", "not_listed")
    assert (flow.bytes_in, flow.bytes_out) == (len(up_bytes), len(down_bytes))
    assert flow.duration_ms > 0
    assert kind(events, BodySeen) == []
    assert [h.raw.split(b"\r\n")[0] for h in kind(events, HeadSeen)] == [b"CONNECT 127.0.0.1:%d HTTP/1.1" % up.port]
    assert ended.bytes_out == len(down_bytes)


def test_a_server_that_speaks_first_is_heard(rig, upstream):
    up = upstream(lambda sock: (sock.sendall(b"220 hello\r\n"), read_all(sock)))
    r = rig({}, forwarding=True)
    with opened_tunnel(r.connect(), up.port) as sock:
        assert read_exactly(sock, 11) == b"220 hello\r\n"


def test_bytes_sent_ahead_of_the_answer_are_not_lost(rig, upstream):
    seen = []
    up = upstream(lambda sock: seen.append(read_all(sock)))
    r = rig({}, forwarding=True)
    with r.connect() as sock:
        sock.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.0\r\n\r\nearly" % up.port)
        assert read_exactly(sock, len(ESTABLISHED)) == ESTABLISHED
        sock.sendall(b" and late")
        sock.shutdown(socket.SHUT_WR)
        assert read_all(sock) == b""
    flow = kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)[0]
    assert (seen, flow.bytes_in, flow.bytes_out) == ([b"early and late"], 14, 0)


def test_each_half_of_a_tunnel_ends_by_itself(rig, upstream):
    def handler(sock):
        asked = read_all(sock)
        sock.sendall(b"answer to " + asked)

    up = upstream(handler)
    r = rig({}, forwarding=True)
    with opened_tunnel(r.connect(), up.port) as sock:
        sock.sendall(b"question")
        sock.shutdown(socket.SHUT_WR)
        assert read_all(sock) == b"answer to question"
    (ended,) = kind(r.events(until=lambda e: kind(e, Ended)), Ended)
    assert ended.reason == "not_listed"  # whole for both sides; what was captured of it is not


@pytest.mark.parametrize("who", ["client", "upstream"])
def test_a_tunnel_that_is_reset_is_cut_for_the_other_side_and_counted(rig, upstream, who):
    seen, gone, arrived = [], threading.Event(), threading.Event()

    def handler(sock):
        seen.append(read_exactly(sock, 5))
        if who == "upstream":
            sock.sendall(b"part")
            assert arrived.wait(WAIT_S)  # a reset discards what was not read yet
            reset(sock)
        else:
            sock.sendall(b"part")
            try:
                seen.append(sock.recv(10))
            except ConnectionResetError:
                seen.append(b"")
            gone.set()

    up = upstream(handler)
    r = rig({}, forwarding=True)
    sock = opened_tunnel(r.connect(), up.port)
    sock.sendall(b"hello")
    assert read_exactly(sock, 4) == b"part"
    arrived.set()
    if who == "client":
        reset(sock)
        assert gone.wait(WAIT_S)
    else:
        assert read_all(sock) in {b"", b"<RST>"}
        sock.close()
    events = r.events(until=lambda e: kind(e, Ended))
    (flow,), (ended,) = kind(events, Opaque), kind(events, Ended)
    assert (flow.bytes_in, flow.bytes_out) == (5, 4)
    assert ended.ending is (Ending.CLIENT_GONE if who == "client" else Ending.TRUNCATED)


def test_a_reader_that_stalls_stalls_its_own_upstream_and_memory_stays_small(rig, upstream):
    size = 160 << 20
    piece = bytes(range(256)) * 256
    sent = [0]
    full = threading.Event()

    def handler(sock):
        sock.setblocking(False)
        while sent[0] < size:
            if not select.select((), (sock,), (), 0.3)[1]:
                full.set()
                select.select((), (sock,), (), WAIT_S)
            sent[0] += sock.send(piece[: size - sent[0]])

    up = upstream(handler)
    r = rig({}, forwarding=True)
    with opened_tunnel(r.connect(), up.port) as sock:
        assert full.wait(WAIT_S)
        assert sent[0] < size // 2  # the kernel holds tens of MB of it: two hops, two buffers each, which it lets grow
        digest, got = hashlib.sha256(), 0
        while data := sock.recv(1 << 18):
            digest.update(data)
            got += len(data)
    assert got == size
    assert digest.digest() == hashlib.sha256(piece * (size // len(piece))).digest()
    assert kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)[0].bytes_out == size


def test_a_client_that_leaves_while_connecting_is_forgotten(rig, upstream):
    up = socket.create_server(("127.0.0.1", 0), backlog=0)
    fillers = [socket.socket() for _ in range(4)]
    for one in fillers:
        one.setblocking(False)
        one.connect_ex(up.getsockname())
    r = rig({}, forwarding=True)
    with r.connect() as sock:
        sock.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\r\nHost: x\r\n\r\n" % up.getsockname()[1])
        deadline = time.monotonic() + WAIT_S
        while not r.relay._dials:
            assert time.monotonic() < deadline
            time.sleep(0.005)
    (ended,) = kind(r.events(until=lambda e: kind(e, Ended)), Ended)
    assert ended.ending is Ending.CLIENT_GONE
    for one in (*fillers, up):
        one.close()


# refusals

REFUSED = {
    "origin form": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "no port": (b"CONNECT api.example HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "port 0": (b"CONNECT api.example:0 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "port too large": (b"CONNECT api.example:65536 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "user name": (b"CONNECT a:b@api.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "an address as one number": (b"CONNECT 2130706433:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "a short address": (b"CONNECT 127.1:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "IPv6 without brackets": (b"CONNECT ::1:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "a zone": (b"CONNECT [fe80::1%25lo]:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "a URL": (b"CONNECT http://api.example:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "another scheme": (b"GET ftp://api.example/ HTTP/1.1\r\nHost: x\r\n\r\n", b"proxy-target"),
    "a line break in the target": (b"CONNECT api.example\r\n:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"request-line"),
    "a bare LF": (b"CONNECT api.example:443 HTTP/1.1\nHost: x\r\n\r\n", b"bare-cr-lf-nul"),
    "NUL": (b"CONNECT api\0.example:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"bare-cr-lf-nul"),
    "no Host": (b"CONNECT api.example:443 HTTP/1.1\r\n\r\n", b"host"),
    "a folded line behind a removed one": (b"GET http://a.example/ HTTP/1.1\r\nHost: x\r\nProxy-Connection: a\r\n b: c\r\n\r\n", b"header-line"),
    "a body": (b"CONNECT api.example:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", b"connect-body"),
    "a chunked body": (b"CONNECT api.example:443 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", b"connect-body"),
    "two lengths": (b"CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n", b"content-length"),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"http2-preface"),
    "too large": (b"CONNECT api.example:443 HTTP/1.1\r\nHost: x\r\nA: " + b"a" * (1 << 20) + b"\r\n\r\n", b"head-too-large"),
    "metadata address": (b"CONNECT 169.254.169.254:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"forbidden-address"),
    "metadata address, mapped": (b"CONNECT [::ffff:169.254.169.254]:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"forbidden-address"),
    "metadata address, absolute": (b"GET http://169.254.169.254/latest/ HTTP/1.1\r\nHost: x\r\n\r\n", b"forbidden-address"),
    "unspecified address": (b"CONNECT 0.0.0.0:80 HTTP/1.1\r\nHost: x\r\n\r\n", b"forbidden-address"),
    "itself": (b"CONNECT 127.0.0.1:@FORWARD@ HTTP/1.1\r\nHost: x\r\n\r\n", b"forbidden-address"),
    "itself by name": (b"CONNECT localhost:@FORWARD@ HTTP/1.1\r\nHost: x\r\n\r\n", b"forbidden-address"),
    "the other listener": (b"GET http://127.0.0.1:@LISTEN@/ HTTP/1.1\r\nHost: x\r\n\r\n", b"forbidden-address"),
    "no such name": (b"CONNECT no.such.invalid:443 HTTP/1.1\r\nHost: x\r\n\r\n", b"upstream-name"),
    "nobody there": (b"CONNECT 127.0.0.1:@CLOSED@ HTTP/1.1\r\nHost: x\r\n\r\n", b"upstream-connect"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_must_not_be_connected_is_refused_by_type(rig, name):
    asked, code = REFUSED[name]
    r = rig({}, forwarding=True)
    for mark, value in ((b"@FORWARD@", r.forward_port), (b"@LISTEN@", r.port), (b"@CLOSED@", free_port())):
        asked = asked.replace(mark, b"%d" % value)
    with r.connect() as sock:
        try:
            sock.sendall(asked)
        except OSError:
            pass  # refused before all was sent
        got = read_all(sock)
    assert b"\r\nOnlooker-Refusal: " + code + b"\r\n" in got
    assert got.count(b"\r\n\r\n") == 1
    (refused,) = kind(r.events(until=lambda e: kind(e, Refused)), Refused)
    assert refused.reason == code.decode()


def test_the_reverse_listener_still_offers_no_connect(rig):
    r = rig({}, forwarding=True)
    r.forward_port = 0  # ask the other one
    assert b"Onlooker-Refusal: connect\r\n" in r.talk(b"CONNECT api.example:443 HTTP/1.1\r\nHost: x\r\n\r\n")
