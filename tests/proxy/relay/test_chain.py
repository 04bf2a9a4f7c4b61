"""Ways out of a company's network: a parent proxy, CAs of its own, certificates that say who we are. Both loops, real TLS."""

import socket
import threading

import pytest

from proxy.relay.chain import chain_of, from_environment
from proxy.relay.refusals import REFUSALS
from proxy.spool.events import HeadSeen, Refused
from tests.ports import free_port

from .company import API, Company
from .conftest import WAIT_S, read_all, read_exactly, read_head

ASK = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
OPEN = b"HTTP/1.1 200 OK\r\n\r\n"


@pytest.fixture(scope="module")
def company(tmp_path_factory):
    return Company(tmp_path_factory.mktemp("company"))


@pytest.fixture(autouse=True)
def no_proxies_of_this_machine(monkeypatch):
    for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


def answering(sock):
    while read_head(sock):
        sock.sendall(OK)


class Parent:
    """A small proxy: notes each CONNECT, answers ``reply``, then pipes to ``port`` whatever the name was."""

    def __init__(self, reply, port=None):
        self.reply, self.port, self.heads = reply, port, []

    def __call__(self, sock):
        self.heads.append(read_head(sock))
        if self.reply:
            sock.sendall(self.reply)
        if self.port is None:
            return
        with socket.create_connection(("127.0.0.1", self.port), WAIT_S) as up:
            up.settimeout(WAIT_S)
            back = threading.Thread(target=_pipe, args=(up, sock))
            back.start()
            _pipe(sock, up)
            back.join(WAIT_S)


def _pipe(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def refused(events):
    return [e.reason for e in events if isinstance(e, Refused)]


def through(rig, company, parent, **more):
    routes = {"/": {"url": f"https://{API}", "ca": company.ca}}
    return rig(routes, upstream_proxy=f"http://127.0.0.1:{parent.port}", **more)


def test_an_https_upstream_is_reached_through_the_parent_which_sees_no_more_than_its_name(rig, upstream, company):
    parent = Parent(OPEN, upstream(answering, company.tls()).port)
    r = through(rig, company, upstream(parent))
    with r.connect() as sock:
        for _ in range(2):
            sock.sendall(ASK)
            assert read_exactly(sock, len(OK)) == OK
    assert parent.heads == [f"CONNECT {API}:443 HTTP/1.1\r\nHost: {API}:443\r\n\r\n".encode()]
    heads = r.events(until=lambda e: sum(isinstance(x, HeadSeen) for x in e) >= 4)
    assert not any(b"CONNECT" in x.raw for x in heads if isinstance(x, HeadSeen))


def test_our_own_environment_names_the_parent_and_its_password_goes_nowhere_else(rig, upstream, company, monkeypatch):
    parent = Parent(OPEN, upstream(answering, company.tls()).port)
    monkeypatch.setenv("HTTPS_PROXY", f"http://de%40v:sesame@127.0.0.1:{upstream(parent).port}")
    r = rig({"/": {"url": f"https://{API}", "ca": company.ca}})
    with r.connect() as sock:
        sock.sendall(ASK)
        assert read_exactly(sock, len(OK)) == OK
    assert b"\r\nProxy-Authorization: Basic ZGVAdjpzZXNhbWU=\r\n" in parent.heads[0]
    written = b"".join(p.read_bytes() for p in r.root.rglob("*") if p.is_file())
    assert b"ZGVAdjpzZXNhbWU=" not in written


REPLIES = [
    (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "upstream-proxy-refused"),
    (b"HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\n\r\n", "upstream-proxy-refused"),
    (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "upstream-proxy-auth"),
    (b"SSH-2.0-x\r\n\r\n", "upstream-proxy-answer"),
    (b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 4000, "upstream-proxy-answer"),
    (b"", "upstream-proxy-answer"),
]


@pytest.mark.parametrize(("reply", "code"), REPLIES, ids=["403", "302", "407", "not http", "endless", "closed"])
def test_each_way_a_parent_can_say_no_is_one_sentence_and_a_record(rig, upstream, company, reply, code):
    r = through(rig, company, upstream(Parent(reply)))
    answer = r.talk(ASK)
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert REFUSALS[code][1].encode() in answer
    assert refused(r.events(until=refused)) == [code]


def test_a_parent_that_is_not_there_is_said(rig, company):
    gone = f"http://127.0.0.1:{free_port()}"
    r = rig({"/": {"url": f"https://{API}", "ca": company.ca}}, upstream_proxy=gone)
    assert b"upstream-proxy-connect" in r.talk(ASK)


def test_a_parent_that_is_this_proxy_itself_is_not_connected_to(rig, company, monkeypatch):
    """A shell that points HTTPS_PROXY at us may start us."""
    with socket.create_server(("127.0.0.1", 0)) as ours:
        address = f"127.0.0.1:{ours.getsockname()[1]}"
        monkeypatch.setenv("HTTPS_PROXY", f"http://{address}")
        r = rig({"/": {"url": f"https://{API}", "ca": company.ca}}, own=[address])
        assert b"forbidden-address" in r.talk(ASK)


def test_a_metadata_address_is_refused_behind_a_parent_too(rig, upstream):
    parent = Parent(OPEN)
    r = rig({"/": {"url": "https://169.254.169.254"}}, upstream_proxy=f"http://127.0.0.1:{upstream(parent).port}")
    assert b"forbidden-address" in r.talk(ASK)
    assert parent.heads == []


def test_a_blind_tunnel_takes_the_same_way_and_loses_no_byte_the_server_says_first(rig, upstream):
    parent = Parent(OPEN + b"220 hello\r\n", upstream(lambda sock: sock.sendall(b"bye")).port)
    r = rig({}, forwarding=True, upstream_proxy=f"http://127.0.0.1:{upstream(parent).port}")
    with r.connect() as sock:
        sock.sendall(b"CONNECT mail.corp.example:25 HTTP/1.1\r\nHost: x\r\n\r\n")
        established = b"HTTP/1.1 200 Connection established\r\n\r\n"
        assert read_exactly(sock, len(established)) == established
        assert read_exactly(sock, 14) == b"220 hello\r\nbye"
    assert parent.heads[0].startswith(b"CONNECT mail.corp.example:25 ")


@pytest.mark.parametrize("direct", [{"no_proxy": [".corp.example"]}, {"upstream_proxy": "direct"}])
def test_what_is_named_goes_without_the_parent(rig, upstream, company, monkeypatch, direct):
    parent = Parent(OPEN)
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{upstream(parent).port}")
    r = rig({"/": {"url": f"https://{API}", "ca": company.ca}}, **direct)
    assert b"upstream-name" in r.talk(ASK)
    assert parent.heads == []


def test_plain_http_and_loopback_never_take_the_parent(rig, upstream, company):
    parent, plain, secure = Parent(OPEN), upstream(answering), upstream(answering, company.tls())
    routes = {
        "p": {"url": f"http://127.0.0.1:{plain.port}"},
        "s": {"url": f"https://localhost:{secure.port}", "ca": company.ca},
    }
    r = rig(routes, upstream_proxy=f"http://127.0.0.1:{upstream(parent).port}")
    with r.connect() as sock:
        for name in (b"p", b"s"):
            sock.sendall(b"GET /%s/ HTTP/1.1\r\nHost: x\r\n\r\n" % name)
            assert read_exactly(sock, len(OK)) == OK
    assert parent.heads == []


TAKES = [
    ("", "api.example", True), ("", "localhost", False), ("", "127.0.0.9", False), ("", "::1", False),
    ("api.example", "api.example", False), ("example", "api.example", False), (".example", "api.example", False),
    ("*.example", "api.example", False), ("ample", "api.example", True), ("api.example:8443", "api.example", True),
    ("api.example:443", "api.example", False), ("*", "api.example", False), ("*", "10.0.0.1", False),
    ("10.0.0.0/8", "10.9.9.9", False), ("10.0.0.0/8", "11.9.9.9", True), ("10.9.9.9", "10.9.9.9", False),
    ("10.9.9.9:443", "10.9.9.9", False), ("10.9.9.9:80", "10.9.9.9", True), ("fd00::/8", "fd00::1", False),
    ("a.example, B.example", "b.example.", False),
]  # fmt: skip


@pytest.mark.parametrize(("without", "host", "takes"), TAKES)
def test_the_list_of_what_goes_without_is_read_as_clients_read_it(without, host, takes):
    assert chain_of("http://p.example", [without]).takes(host, 443) is takes


@pytest.mark.parametrize("url", ["https://p.example", "socks5://p.example", "http://p.example/path", "http://"])
def test_a_parent_of_another_kind_is_said_to_be_one(url):
    with pytest.raises(ValueError, match=r"http://\[user:password@\]host"):
        chain_of(url)


def test_the_lower_case_variables_win():
    assert from_environment({"HTTPS_PROXY": "a", "https_proxy": "b", "NO_PROXY": "c"}) == ("b", ("c",))
    assert from_environment({}) == (None, ())


# authorities and certificates of our own


def test_an_upstream_that_asks_who_we_are_is_shown_the_routes_certificate_and_no_other(rig, upstream, company):
    shown = []

    def handler(sock):
        shown.append(dict(x[0] for x in sock.getpeercert()["subject"])["commonName"])
        answering(sock)

    up = upstream(handler, company.tls(asks=True))
    spec = {"url": f"https://localhost:{up.port}", "ca": company.ca}
    known = {**spec, "cert": company.client, "key": company.key("client")}
    r = rig({"known": known, "unknown": spec})
    with r.connect() as sock:
        sock.sendall(b"GET /known/ HTTP/1.1\r\nHost: x\r\n\r\n")
        assert read_exactly(sock, len(OK)) == OK
    assert shown == ["client"]
    assert OK not in r.talk(b"GET /unknown/ HTTP/1.1\r\nHost: x\r\n\r\n")
    assert shown == ["client"]


@pytest.mark.parametrize("wrong", ["missing", "locked", "other"])
def test_a_certificate_that_cannot_be_used_is_a_refusal_and_never_a_question(rig, upstream, company, wrong):
    up = upstream(answering, company.tls(asks=True))
    key = {"missing": "/nowhere.key", "locked": company.key("client", "locked"), "other": company.key("server")}[wrong]
    r = rig({"/": {"url": f"https://localhost:{up.port}", "ca": company.ca, "cert": company.client, "key": key}})
    assert b"upstream-tls" in r.talk(ASK)


def test_the_machines_own_bundle_is_the_one_the_environment_names(rig, upstream, company, monkeypatch):
    up = upstream(answering, company.tls())
    routes = {"/": {"url": f"https://localhost:{up.port}"}}
    assert b"upstream-tls" in rig(routes).talk(ASK)
    monkeypatch.setenv("SSL_CERT_FILE", company.ca)
    with rig(routes).connect() as sock:
        sock.sendall(ASK)
        assert read_exactly(sock, len(OK)) == OK


def test_a_bundle_adds_to_what_the_machine_trusts(rig, upstream, company, certificate, monkeypatch):
    """The company's authority is in the machine's store, another one in the route's bundle: both are believed."""
    monkeypatch.setenv("SSL_CERT_FILE", company.ca)
    up = upstream(answering, company.tls())
    with rig({"/": {"url": f"https://localhost:{up.port}", "ca": certificate}}).connect() as sock:
        sock.sendall(ASK)
        assert read_exactly(sock, len(OK)) == OK
        sock.shutdown(socket.SHUT_WR)
        assert read_all(sock) == b""
