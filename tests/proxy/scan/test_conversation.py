"""One recorded connection gives the same events at every cut; what cannot be followed is one opaque flow."""

import itertools

import pytest

from proxy.exchange import Ending, Side
from proxy.scan.conversation import HEAD_CAP_BYTES, Conversation
from proxy.scan.recording import Heads
from proxy.spool.events import BodySeen, Ended, HeadSeen, Opaque, Opened

ASKED = (
    b"POST /a?key=sesame HTTP/1.1\r\nHost: x.example\r\nAuthorization: Bearer sesame\r\nContent-Length: 4\r\n\r\nping"
    b"HEAD /b HTTP/1.1\r\nHost: x.example\r\n\r\n"
    b"POST /c HTTP/1.1\r\nHost: x.example\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
)
ANSWERED = (
    b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\nSet-Cookie: sesame\r\n\r\npong"
    b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"
)


def talk():
    return Conversation("w", itertools.count(), {"upstream": "10.0.0.1:80"}, Heads())


def bodies(events):
    out = {}
    for e in events:
        if isinstance(e, BodySeen):
            key = e.exchange, e.side
            out[key] = out.get(key, b"") + e.data
    return out


WANTED = {
    (0, Side.REQUEST): b"ping",
    (2, Side.REQUEST): b"hi",
    (0, Side.RESPONSE): b"pong",
    (2, Side.RESPONSE): b"onetwo",
}


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1000])
@pytest.mark.parametrize("first", [Side.REQUEST, Side.RESPONSE])
def test_every_cut_and_either_side_first_gives_the_same_exchanges(size, first):
    c, events = talk(), []
    order = [(first, {Side.REQUEST: ASKED, Side.RESPONSE: ANSWERED}[first])]
    order += [(s, d) for s, d in ((Side.REQUEST, ASKED), (Side.RESPONSE, ANSWERED)) if s is not first]
    for side, data in order:
        for at in range(0, len(data), size):
            events += c.feed(side, data[at : at + size], 1)
    events += c.close(2, "capture_ended")
    assert {k: v for k, v in bodies(events).items() if v} == WANTED
    assert [e.exchange for e in events if isinstance(e, Opened)] == [0, 1, 2]
    assert [(e.exchange, e.ending) for e in events if isinstance(e, Ended)] == [(n, Ending.COMPLETE) for n in range(3)]
    heads = b"".join(e.raw for e in events if isinstance(e, HeadSeen))
    assert b"sesame" not in heads
    prints = next(e.fingerprints for e in events if isinstance(e, HeadSeen) and e.fingerprints)
    assert prints["authorization"] == prints["?key"]


def test_an_answer_until_the_close_is_complete_with_its_fin_and_cut_off_without():
    for fin, ending in ((True, Ending.COMPLETE), (False, Ending.TRUNCATED)):
        c = talk()
        events = [*c.feed(Side.REQUEST, b"GET / HTTP/1.0\r\n\r\n", 1)]
        events += c.feed(Side.RESPONSE, b"HTTP/1.0 200 OK\r\n\r\nrest", 2)
        events += c.end_side(Side.RESPONSE, 3) if fin else []
        events += c.close(4, "connection_reset")
        assert [e.ending for e in events if isinstance(e, Ended)] == [ending]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00", "tls"),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "http2"),
        (b"GET / HTTP/1.1\r\n\r\n", "not_http1: host"),
        (b"x" * (HEAD_CAP_BYTES + 1), "head_too_large"),
        (b"never a whole head", "capture_ended"),
        (b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", "connect_tunnel"),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nhi", "not_http1: chunk-size"),
    ],
)
def test_what_cannot_be_followed_is_one_opaque_flow_with_its_bytes(data, reason):
    c = talk()
    events = [*c.feed(Side.REQUEST, data, 1_000_000)]
    if reason == "connect_tunnel":
        events += c.feed(Side.RESPONSE, b"HTTP/1.1 200 OK\r\n\r\n", 1_000_000)
    events += c.feed(Side.REQUEST, b"more", 3_000_000)
    events += c.close(3_000_000, "capture_ended")
    (opaque,) = [e for e in events if isinstance(e, Opaque)]
    assert (opaque.reason, opaque.bytes_in, opaque.duration_ms) == (reason, len(data) + 4, 2.0)
    assert sum(isinstance(e, Opened) for e in events) == sum(isinstance(e, Ended) for e in events)


def test_a_socket_is_bytes_of_both_sides_until_both_fins():
    c = talk()
    head = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    events = [*c.feed(Side.REQUEST, head, 1)]
    events += c.feed(Side.RESPONSE, b"HTTP/1.1 101 x\r\nUpgrade: websocket\r\n\r\n\x81\x02{}", 2)
    events += c.feed(Side.REQUEST, b"\x81\x02[]", 3)
    events += [*c.end_side(Side.REQUEST, 4), *c.end_side(Side.RESPONSE, 4), *c.close(4, "connection_closed")]
    assert bodies(events) == {(0, Side.RESPONSE): b"\x81\x02{}", (0, Side.REQUEST): b"\x81\x02[]"}
    assert [e.ending for e in events if isinstance(e, Ended)] == [Ending.COMPLETE]
