"""CONNECT to a listed host: TLS ends here, bytes inside stay as they are; whatever stands in the way is a tunnel."""

import datetime as dt
import socket
import ssl
import threading
import time

import pytest

from proxy.ca import authority
from proxy.exchange import Ending, Side
from proxy.relay.hello import client_hello
from proxy.spool.events import BodySeen, Ended, HeadSeen, Opaque, Opened, Refused
from tests.ports import free_port

from .conftest import WAIT_S, read_all, read_exactly, read_head, reset
from .test_forward import ESTABLISHED, OK, answering, kind
from .test_tls import cut, tls_server

ASK = b"POST /v1/messages?x=1 HTTP/1.1\r\nhost:  LocalHost\r\nX-Odd: \xc3\xa9\r\nContent-Length: 2\r\n\r\nhi"


@pytest.fixture(scope="module")
def ca(tmp_path_factory):
    folder = tmp_path_factory.mktemp("state") / "ca"
    authority.create(folder, ["localhost", "127.0.0.1"])
    return folder


@pytest.fixture
def forward(rig, ca, certificate):
    def make(routes=None, **settings):
        of_relay = {name: settings.pop(name) for name in ("connect_s", "head_s") if name in settings}
        patient = {"hello_s": WAIT_S, "shake_anyway_s": WAIT_S}  # who is slow here is the machine, not the other side
        given = {"intercept": ["localhost"], "ca_dir": str(ca), "upstream_ca": certificate, **patient, **settings}
        return rig(routes or {}, forwarding=True, forward=given, **of_relay)

    return make


def connect(r, port, host="localhost"):
    sock = r.connect()
    sock.sendall(b"CONNECT %s:%d HTTP/1.1\r\nHost: x\r\n\r\n" % (host.encode(), port))
    assert read_exactly(sock, len(ESTABLISHED)) == ESTABLISHED
    return sock


def client_context(ca, alpn=("h2", "http/1.1"), trusted=True):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if trusted:
        context.load_verify_locations(ca / "ca.pem")
    if alpn:
        context.set_alpn_protocols(list(alpn))
    return context


def inside(r, port, ca, **more):
    name = more.pop("name", "localhost")
    made = client_context(ca, **more)
    return made.wrap_socket(connect(r, port), server_hostname=name, suppress_ragged_eofs=False)


def test_bytes_inside_stay_as_they_are_and_are_captured(forward, upstream, certificate, ca):
    seen = []
    up = upstream(answering(seen), tls_server(certificate))
    r = forward({"models": {"url": f"https://localhost:{up.port}"}})
    with inside(r, up.port, ca) as sock:
        assert sock.selected_alpn_protocol() == "http/1.1"
        for _ in range(3):
            sock.sendall(ASK)
            assert read_exactly(sock, len(OK)) == OK
    assert seen == [ASK] * 3
    assert up.accepted == 1
    events = r.events(until=lambda e: len(kind(e, Ended)) == 3)
    meta = kind(events, Opened)[0].meta
    assert (meta["mode"], meta["route"], meta["upstream"]) == ("forward", "models", f"localhost:{up.port}")
    assert [e.ending for e in kind(events, Ended)] == [Ending.COMPLETE] * 3
    assert [h.raw for h in kind(events, HeadSeen) if h.side is Side.REQUEST] == [ASK[:-2]] * 3
    assert kind(events, Opaque) == []


def test_a_large_body_both_ways_in_any_pieces(forward, upstream, certificate, ca):
    body = bytes(range(256)) * 12_000

    def handler(sock):
        early = read_head(sock).partition(b"\r\n\r\n")[2]
        assert early + read_exactly(sock, len(body) - len(early)) == body
        sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        read_all(sock)

    up = upstream(handler, tls_server(certificate))
    r = forward()
    with inside(r, up.port, ca) as sock:
        sock.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body))
        sock.sendall(body)
        want = b"HTTP/1.1 200 OK\r\nContent-Length: 3072000\r\n\r\n" + body
        assert read_exactly(sock, len(want)) == want
    events = r.events(until=lambda e: kind(e, Ended))
    assert sum(len(e.data) for e in kind(events, BodySeen)) == 2 * len(body)


def test_credentials_inside_never_reach_the_spool(forward, upstream, certificate, ca):
    up = upstream(answering([]), tls_server(certificate))
    r = forward()
    with inside(r, up.port, ca) as sock:
        sock.sendall(b"GET /?key=canary-1 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer canary-2\r\n\r\n")
        read_exactly(sock, len(OK))
    r.events(until=lambda e: kind(e, Ended))
    assert not any(b"canary" in p.read_bytes() for p in r.root.rglob("seg-*"))


def test_a_websocket_inside_is_captured_as_it_is(forward, upstream, certificate, ca):
    switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"

    def handler(sock):
        read_head(sock)
        sock.sendall(switch)
        frame = read_exactly(sock, 8)
        sock.sendall(b"\x81\x02" + frame[-2:])
        read_all(sock)

    up = upstream(handler, tls_server(certificate))
    r = forward()
    with inside(r, up.port, ca) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
        assert read_exactly(sock, len(switch)) == switch
        sock.sendall(b"\x81\x82\0\0\0\0hi")
        assert read_exactly(sock, 4) == b"\x81\x02hi"
    events = r.events(until=lambda e: kind(e, Ended))
    assert b"".join(e.data for e in kind(events, BodySeen)) == b"\x81\x82\0\0\0\0hi\x81\x02hi"
    assert kind(events, Opaque) == []


def test_plain_http_inside_a_connect_is_read_too(forward, upstream):
    seen = []
    up = upstream(answering(seen))
    r = forward()
    with connect(r, up.port) as sock:
        sock.sendall(ASK)
        assert read_exactly(sock, len(OK)) == OK
    assert seen == [ASK]
    assert kind(r.events(until=lambda e: kind(e, Ended)), Opaque) == []


# true endings, inside

CUTS = {
    "a bare FIN in a length body": (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart", "fin", Ending.TRUNCATED),
    "a bare FIN in a body until close": (b"HTTP/1.1 200 OK\r\n\r\npart", "fin", Ending.TRUNCATED),
    "RST in a chunked body": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n", "rst", Ending.TRUNCATED),
    "close_notify ends a body until close": (b"HTTP/1.1 200 OK\r\n\r\npart", "notify", Ending.COMPLETE),
}  # fmt: skip


@pytest.mark.parametrize("name", CUTS)
def test_a_break_inside_is_a_break_for_the_client(forward, upstream, certificate, ca, name):
    reply, how, ending = CUTS[name]
    arrived = threading.Event()

    def handler(sock):
        read_head(sock)
        sock.sendall(reply)
        assert arrived.wait(WAIT_S)  # a reset discards what was not read yet
        cut(sock, how)

    up = upstream(handler, tls_server(certificate))
    r = forward()
    sock = inside(r, up.port, ca)
    sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    got, clean = read_exactly(sock, len(reply)), True
    arrived.set()
    try:
        while data := sock.recv(65536):
            got += data
    except (ConnectionResetError, ssl.SSLError):
        clean = False
    sock.close()
    assert got == reply
    if b"Content" not in reply and b"chunked" not in reply:
        assert clean is (ending is Ending.COMPLETE)
    assert [e.ending for e in kind(r.events(until=lambda e: kind(e, Ended)), Ended)] == [ending]


@pytest.mark.parametrize("how", ["notify", "fin", "rst"])
def test_a_client_that_leaves_takes_its_upstream_along(forward, upstream, certificate, ca, how):
    asked, left = threading.Event(), threading.Event()

    def handler(sock):
        read_head(sock)
        asked.set()
        try:
            sock.recv(1)
        except OSError:
            pass
        left.set()

    up = upstream(handler, tls_server(certificate))
    r = forward()
    sock = inside(r, up.port, ca)
    sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert asked.wait(WAIT_S)
    if how == "notify":
        sock.setblocking(False)
    cut(sock, how)
    if how == "notify":
        sock.close()
    assert left.wait(WAIT_S)
    assert [e.ending for e in kind(r.events(until=lambda e: kind(e, Ended)), Ended)] == [Ending.CLIENT_GONE]


# what the upstream shows


@pytest.mark.parametrize(
    ("how", "code"),
    [("unknown authority", "upstream-tls"), ("no TLS there", "upstream-tls"), ("nobody there", "upstream-connect")],
)
def test_an_upstream_that_cannot_be_verified_is_a_typed_502_inside(forward, upstream, certificate, ca, how, code):  # noqa: PLR0917 - fixtures
    wrap = tls_server(certificate) if how == "unknown authority" else None
    up = upstream(lambda sock: (sock.recv(100), sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")), wrap)
    port = free_port() if how == "nobody there" else up.port
    r = forward(**({"upstream_ca": None} if how == "unknown authority" else {}))
    with inside(r, port, ca) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = read_all(sock)
    assert b"HTTP/1.1 502 " in got
    assert b"Onlooker-Refusal: " + code.encode() + b"\r\n" in got
    events = r.events(until=lambda e: kind(e, Ended))
    assert [e.reason for e in kind(events, Refused)] == [code]
    assert [e.ending for e in kind(events, Ended)] == [Ending.UPSTREAM_FAILED]


def test_a_request_that_is_refused_inside_gets_its_answer(forward, upstream, certificate, ca):
    up = upstream(read_all, tls_server(certificate))
    r = forward()
    with inside(r, up.port, ca) as sock:
        sock.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"x" * 200_000
        )
        assert b"Onlooker-Refusal: length-and-chunked\r\n" in read_all(sock)


# what makes it a tunnel


def through(sock, certificate, alpn=None, name="localhost"):
    """The client's TLS with the upstream itself."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(certificate)
    context.check_hostname = name == "localhost"
    if alpn:
        context.set_alpn_protocols(alpn)
    return context.wrap_socket(sock, server_hostname=name)


def tunnelled(r, sock, reason, port, host="localhost"):
    with sock:
        sock.sendall(b"ping")
        assert read_exactly(sock, 4) == b"pong"
    (flow,) = kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)
    assert (flow.host, flow.reason) == (f"{host}:{port}", reason)
    assert flow.bytes_in > 100
    assert flow.bytes_out > 100


def pong(sock):
    read_exactly(sock, 4)
    sock.sendall(b"pong")
    read_all(sock)


@pytest.mark.parametrize("why", ["not_listed", "no_ca", "ca_unusable", "not_in_ca"])
def test_without_an_authority_for_the_host_it_is_a_tunnel(forward, upstream, certificate, ca, tmp_path, why):  # noqa: PLR0917 - fixtures
    settings = {"no_ca": {"ca_dir": str(tmp_path / "none")}, "not_listed": {"intercept": ["other.example"]}}
    if why == "ca_unusable":
        authority.create(tmp_path / "open", ["localhost"])
        (tmp_path / "open" / "ca.key").chmod(0o644)
        settings[why] = {"ca_dir": str(tmp_path / "open")}
    if why == "not_in_ca":
        authority.create(tmp_path / "other", ["other.example"])
        settings[why] = {"ca_dir": str(tmp_path / "other")}
    up = upstream(pong, tls_server(certificate))
    r = forward(**settings[why])
    tunnelled(r, through(connect(r, up.port), certificate), why, up.port)


def test_a_client_of_http_2_only_is_tunnelled(forward, upstream, certificate):
    up = upstream(pong, tls_server(certificate))
    r = forward()
    tunnelled(r, through(connect(r, up.port), certificate, ["h2"]), "http2_only", up.port)


def test_another_name_than_connect_said_is_tunnelled(forward, upstream, certificate):
    up = upstream(pong, tls_server(certificate))
    r = forward()
    tunnelled(r, through(connect(r, up.port), certificate, name="front.example"), "sni_mismatch", up.port)


def http_2_only(certificate):
    """Refuses hellos without h2 as RFC 7301 3.2 says; Python's own server takes any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["h2"])

    def wrap(sock):
        while (hello := client_hello(sock.recv(65536, socket.MSG_PEEK))) is None:
            time.sleep(0.01)
        if b"h2" in hello.alpn:
            return context.wrap_socket(sock, server_side=True)
        sock.sendall(b"\x15\x03\x03\x00\x02\x02\x78")  # fatal, no_application_protocol
        read_all(sock)
        raise ConnectionResetError

    return wrap


def test_an_upstream_of_http_2_only_is_tunnelled_although_the_client_would_take_less(forward, upstream, certificate):
    up = upstream(pong, http_2_only(certificate))
    r = forward()
    sock = through(connect(r, up.port), certificate, ["h2", "http/1.1"])
    assert sock.selected_alpn_protocol() == "h2"
    tunnelled(r, sock, "upstream_http2_only", up.port)


def test_what_is_no_tls_and_no_http_is_tunnelled(forward, upstream):
    seen = []
    up = upstream(lambda sock: (seen.append(read_exactly(sock, 9)), sock.sendall(b"SSH-2.0-b\r\n"), read_all(sock)))
    r = forward()
    with connect(r, up.port) as sock:
        sock.sendall(b"SSH-2.0-a\r\n")
        assert read_exactly(sock, 11) == b"SSH-2.0-b\r\n"
    (flow,) = kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)
    assert (flow.reason, flow.bytes_in, flow.bytes_out) == ("not_tls", 11, 11)


def test_a_client_that_waits_for_the_server_is_tunnelled(forward, upstream):
    up = upstream(lambda sock: (sock.sendall(b"220 hi\r\n"), read_all(sock)))
    r = forward(hello_s=0.1)
    with connect(r, up.port) as sock:
        assert read_exactly(sock, 8) == b"220 hi\r\n"
    assert kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)[0].reason == "no_client_hello"


def test_a_client_that_rejects_the_certificate_is_let_through_from_then_on_and_others_are_not(
    forward, upstream, certificate, ca
):
    up = upstream(pong, tls_server(certificate))
    r = forward()
    with pytest.raises(ssl.SSLCertVerificationError):
        through(connect(r, up.port), certificate, ["http/1.1"])
    r.events(until=lambda e: [o.reason for o in kind(e, Opaque)] == ["client_rejected_ca"])
    with through(connect(r, up.port), certificate, ["http/1.1"]) as sock:
        sock.sendall(b"ping")
        assert read_exactly(sock, 4) == b"pong"
    other = client_context(ca)
    other.set_ciphers("ECDHE+AESGCM")  # another kind of client
    with other.wrap_socket(connect(r, up.port), server_hostname="localhost") as sock:
        assert sock.selected_alpn_protocol() == "http/1.1"
    flows = kind(r.events(until=lambda e: len(kind(e, Opaque)) == 2), Opaque)
    assert [f.reason for f in flows] == ["client_rejected_ca"] * 2
    assert [f.bytes_in > 0 for f in flows] == [False, True]


def test_a_client_that_leaves_in_the_handshake_is_said_and_leaves_nothing_behind(forward, upstream, certificate):
    from .test_hello import hello

    gone = threading.Event()

    def handler(sock):
        read_all(sock)
        gone.set()

    up = upstream(handler, tls_server(certificate))
    r = forward()
    sock = connect(r, up.port)
    sock.sendall(hello("localhost"))
    assert read_exactly(sock, 5)[:1] == b"\x16"
    reset(sock)
    assert gone.wait(WAIT_S)
    assert [o.reason for o in kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)] == ["handshake_cut"]
    deadline = time.monotonic() + WAIT_S
    while r.relay.clients:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert not r.relay.slot.connections_open


# what takes long, fails inside, or comes from elsewhere


def test_a_slow_upstream_is_waited_for_inside_tls_and_its_failure_is_the_answer(forward, ca):
    deaf = socket.create_server(("127.0.0.1", 0))  # accepts, and never shakes hands
    r = forward(connect_s=1.0, shake_anyway_s=0.1)
    with inside(r, deaf.getsockname()[1], ca) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"Onlooker-Refusal: upstream-timeout\r\n" in read_all(sock)
    assert r.relay.slot.upstream_connects == 1  # the one that was waited for before the handshake
    deaf.close()
    assert [e.reason for e in kind(r.events(until=lambda e: kind(e, Ended)), Ended)] == ["upstream-timeout"]


def test_a_mint_that_fails_makes_a_tunnel(forward, upstream, certificate):
    class Broken:
        listed = authority.Listed(["localhost"])

        def context(self, host):
            raise ValueError(host)

    up = upstream(pong, tls_server(certificate))
    r = forward()
    sock = connect(r, up.port)
    (client,) = r.relay.clients
    client.listener.mint = Broken()
    tunnelled(r, through(sock, certificate), "mint_failed", up.port)


def test_a_client_that_never_ends_its_handshake_is_let_go_and_said(forward, upstream, certificate):
    from .test_hello import hello

    up = upstream(read_all, tls_server(certificate))
    r = forward(head_s=0.3)
    with connect(r, up.port) as sock:
        sock.sendall(hello("localhost"))
        while sock.recv(65536):
            pass
    assert [o.reason for o in kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)] == ["handshake_slow"]


def bad_certificate(folder, *, host="localhost", days=1):
    """An https upstream's certificate and the authority that signed it, for ``host``, ended when ``days`` is negative."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "test")])
    end = dt.datetime.now(dt.UTC) + dt.timedelta(days=days)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    made = made.not_valid_before(end - dt.timedelta(days=9)).not_valid_after(end)
    made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    made = made.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True).sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "bad.pem").write_bytes(authority.pem(made) + private)
    return str(folder / "bad.pem")


@pytest.mark.parametrize("what", [{"days": -1}, {"host": "other.example"}])
def test_an_expired_or_foreign_upstream_certificate_is_a_typed_502(forward, upstream, ca, tmp_path, what):
    bad = bad_certificate(tmp_path, **what)
    seen = []
    up = upstream(answering(seen), tls_server(bad))
    r = forward(upstream_ca=bad)
    with inside(r, up.port, ca) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = read_all(sock)
    assert got.startswith(b"HTTP/1.1 502 ")
    assert b"Onlooker-Refusal: upstream-tls\r\n" in got
    assert seen == []


def test_https_in_absolute_form_is_verified_too(forward, upstream, certificate):
    seen = []
    up = upstream(answering(seen), tls_server(certificate))
    r = forward()
    with r.connect() as sock:
        sock.sendall(b"GET https://localhost:%d/x HTTP/1.1\r\nHost: localhost\r\n\r\n" % up.port)
        assert read_exactly(sock, len(OK)) == OK
    assert seen == [b"GET /x HTTP/1.1\r\nHost: localhost:%d\r\n\r\n" % up.port]
    untrusting = forward(upstream_ca=None)
    assert b"upstream-tls" in untrusting.talk(
        b"GET https://localhost:%d/x HTTP/1.1\r\nHost: localhost\r\n\r\n" % up.port
    )


def test_one_connection_asks_in_absolute_form_and_then_connects(forward, upstream, certificate, ca):
    seen = []
    plain, secure = upstream(answering(seen)), upstream(answering(seen), tls_server(certificate))
    r = forward()
    with r.connect() as sock:
        sock.sendall(b"GET http://127.0.0.1:%d/1 HTTP/1.1\r\nHost: x\r\n\r\n" % plain.port)
        assert read_exactly(sock, len(OK)) == OK
        sock.sendall(b"CONNECT localhost:%d HTTP/1.1\r\nHost: x\r\n\r\n" % secure.port)
        assert read_exactly(sock, len(ESTABLISHED)) == ESTABLISHED
        with client_context(ca).wrap_socket(sock, server_hostname="localhost") as inner:
            inner.sendall(b"GET /2 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert read_exactly(inner, len(OK)) == OK
    assert [s.split(b" ")[1] for s in seen] == [b"/1", b"/2"]


def test_a_hello_sent_together_with_connect_is_not_lost(forward, upstream, certificate, ca):
    up = upstream(answering([]), tls_server(certificate))
    r = forward()
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = client_context(ca).wrap_bio(to_client, to_server, server_hostname="localhost")
    with r.connect() as sock:
        with pytest.raises(ssl.SSLWantReadError):
            tls.do_handshake()
        sock.sendall(b"CONNECT localhost:%d HTTP/1.1\r\nHost: x\r\n\r\n" % up.port + to_server.read())
        assert read_exactly(sock, len(ESTABLISHED)) == ESTABLISHED
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                to_client.write(sock.recv(65536))
        assert tls.selected_alpn_protocol() == "http/1.1"


def test_connect_inside_a_connect_is_refused(forward, upstream, certificate, ca):
    up = upstream(answering([]), tls_server(certificate))
    r = forward()
    with inside(r, up.port, ca) as sock:
        sock.sendall(b"CONNECT localhost:443 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"Onlooker-Refusal: connect\r\n" in read_all(sock)


def test_pipelined_requests_inside_are_answered_in_order(forward, upstream, certificate, ca):
    seen = []

    def handler(sock):
        while head := read_head(sock):
            seen.append(head)
            path = head.split(b" ")[1]
            sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(path) + path)

    up = upstream(handler, tls_server(certificate))
    r = forward()
    want = b"".join(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n/%d" % n for n in range(5))
    with inside(r, up.port, ca) as sock:
        sock.sendall(b"".join(b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n" % n for n in range(5)))
        assert read_exactly(sock, len(want)) == want


def test_from_another_machine_only_listed_hosts_are_reachable(tmp_path, ca, certificate):
    from proxy.relay.forward import ForwardListener
    from proxy.relay.refusals import RefusedError

    with socket.create_server(("0.0.0.0", 0)) as wide:
        listener = ForwardListener(wide, {}, {"intercept": ["localhost"], "ca_dir": str(ca)})
        listener.routes.allow("localhost")
        for asked in (b"http://other.example/", b"http://127.0.0.1/"):
            with pytest.raises(RefusedError, match="not-listed"):
                listener.routes.find(asked)


def test_places_and_rejections_that_are_remembered_are_bounded(ca):
    from proxy.relay.forward import KEPT, ForwardListener
    from proxy.relay.hello import Hello

    with socket.create_server(("127.0.0.1", 0)) as sock:
        listener = ForwardListener(sock, {}, {"intercept": ["localhost"], "ca_dir": str(ca)})
        for n in range(2 * KEPT):
            listener.routes.find(b"http://h%d.example/" % n)
            listener.rejected("localhost", Hello("", (), b"%d" % n))
        assert len(listener.routes._kept) == KEPT
        assert len(listener._passes) <= KEPT


def test_http_2_without_tls_inside_a_connect_is_tunnelled(forward, upstream):
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    up = upstream(lambda sock: (read_exactly(sock, len(preface)), sock.sendall(b"\0\0\0\4\0\0\0\0\0"), read_all(sock)))
    r = forward()
    with connect(r, up.port) as sock:
        sock.sendall(preface)
        assert read_exactly(sock, 9) == b"\0\0\0\4\0\0\0\0\0"
    assert kind(r.events(until=lambda e: kind(e, Opaque)), Opaque)[0].reason == "not_tls"


def test_one_byte_at_a_time_changes_nothing(forward, upstream, certificate, ca):
    seen = []
    up = upstream(answering(seen), tls_server(certificate))
    r = forward()
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = client_context(ca).wrap_bio(to_client, to_server, server_hostname="localhost")

    def dribble(sock, data):
        for n in range(len(data)):
            sock.sendall(data[n : n + 1])

    def until(sock, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                dribble(sock, to_server.read())
                to_client.write(sock.recv(7))

    with r.connect() as sock:
        dribble(sock, b"CONNECT localhost:%d HTTP/1.1\r\nHost: x\r\nProxy-Connection: keep-alive\r\n\r\n" % up.port)
        assert read_exactly(sock, len(ESTABLISHED)) == ESTABLISHED
        until(sock, tls.do_handshake)
        tls.write(ASK)
        dribble(sock, to_server.read())
        got = b""
        while len(got) < len(OK):
            got += until(sock, lambda: tls.read(1000))
    assert (got, seen) == (OK, [ASK])
