"""The head parser alone, and beside h11 and httptools: where two accept, they must read the same message."""

import h11
import httptools
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.relay.head import ORIGIN, UPGRADE, request, response
from proxy.relay.refusals import RefusedError


def ours(head):
    """(method, target, body length or -1 for chunked) or None when refused."""
    try:
        method, target, _, length, chunked, *_ = request(head)
    except RefusedError:
        return None
    return method, target, -1 if chunked else length


def by_h11(head):
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 21)
    try:
        connection.receive_data(head)
        event = connection.next_event()
    except h11.RemoteProtocolError:
        return None
    if not isinstance(event, h11.Request):
        return None
    fields = dict(event.headers)
    length = -1 if b"transfer-encoding" in fields else int(fields.get(b"content-length", 0))
    return event.method, event.target, length


class Seen:
    def __init__(self):
        self.url, self.fields, self.complete = b"", [], False

    def on_url(self, url):
        self.url += url

    def on_header(self, name, value):
        self.fields.append((name.lower(), value))

    def on_headers_complete(self):
        self.complete = True


def by_httptools(head):
    seen = Seen()
    parser = httptools.HttpRequestParser(seen)
    try:
        parser.feed_data(head)
    except httptools.HttpParserUpgrade:
        pass
    except httptools.HttpParserError:
        return None
    if not seen.complete:
        return None
    fields = dict(seen.fields)
    length = -1 if b"transfer-encoding" in fields else int(fields.get(b"content-length", b"0"))
    return parser.get_method(), seen.url, length


NAMES = st.sampled_from([
    b"Host", b"host", b"Content-Length", b"content-length", b"Transfer-Encoding", b"Connection", b"X-A", b"Cookie",
    b"Content_Length", b"Content-Length ", b" X", b"X\0", b"Upgrade", b"Authorization", b"Expect", b"", b"TE",
])  # fmt: skip
VALUES = st.one_of(
    st.sampled_from([
        b"a.example", b"5", b"0", b"+5", b"5, 5", b"chunked", b"Chunked", b"gzip, chunked", b"close", b"keep-alive", b"",
        b"x\0y", b"x\ry", b"x\ny", b"x\r\n y", b"\x0bchunked", b"chunked ", b"005", b"\xff", b"99999999999999999999", b"0x5",
    ]),
    st.binary(max_size=8),
)  # fmt: skip
LINES = st.sampled_from([
    b"GET / HTTP/1.1", b"POST /a?b HTTP/1.1", b"GET / HTTP/1.0", b"GET  / HTTP/1.1", b"get / HTTP/1.1", b"GET /\xff HTTP/1.1",
    b"GET / HTTP/1.2", b"GET /a b HTTP/1.1", b"OPTIONS * HTTP/1.1", b"GET http://x/ HTTP/1.1", b"G\0T / HTTP/1.1",
])  # fmt: skip
SEPARATORS = st.sampled_from([b": ", b":", b":\t ", b" : "])
ENDS = st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r"])


@st.composite
def heads(draw):
    out = draw(LINES) + b"\r\n"
    if draw(st.booleans()):
        out += b"Host: a.example\r\n"
    for _ in range(draw(st.integers(0, 4))):
        out += draw(NAMES) + draw(SEPARATORS) + draw(VALUES) + draw(ENDS)
    return out + b"\r\n"


@settings(max_examples=600, deadline=None)
@given(heads())
def test_what_we_accept_others_read_the_same_or_refuse(head):
    if head.find(b"\r\n\r\n") != len(head) - 4:
        head = head[: head.find(b"\r\n\r\n") + 4]
    mine = ours(head)
    if mine is None:
        return
    for other in (by_h11, by_httptools):
        theirs = other(head)
        assert theirs is None or theirs == mine, other.__name__


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_give_facts_or_a_refusal(raw):
    for parse in (request, response):
        try:
            parse(raw + b"\r\n\r\n")
        except RefusedError:
            pass


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        (b"", (True, 0)),
        (b"Connection: close\r\n", (False, 0)),
        (b"Connection: Keep-Alive, Close\r\n", (False, 0)),
        (b"Connection: Upgrade\r\n", (True, UPGRADE)),
        (b"Origin: null\r\n", (True, ORIGIN)),
        (b"Sec-Fetch-Site: none\r\nConnection: upgrade\r\n", (True, ORIGIN | UPGRADE)),
        (b"X-Origin: a\r\nX-Connection: close\r\n", (True, 0)),
    ],
)
def test_flags_of_a_request(fields, expected):
    facts = request(b"GET / HTTP/1.1\r\nHost: x\r\n" + fields + b"\r\n")
    assert (facts[2], facts[6]) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", (200, True, 5, False)),
        (b"HTTP/1.1 200 OK\r\n\r\n", (200, True, -1, False)),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", (200, False, 5, False)),
        (b"HTTP/1.1 503\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n", (503, False, -1, True)),
    ],
)
def test_facts_of_a_response(head, expected):
    assert response(head)[:4] == expected
