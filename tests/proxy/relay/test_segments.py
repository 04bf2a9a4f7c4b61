"""Any segmentation of the same bytes gives the same bytes on the other side, and the same record."""

import contextlib

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.relay.chunks import Chunks

from .conftest import WAIT_S, read_exactly
from .stage import OK

REQUESTS = [
    b"GET / HTTP/1.1\r\nHost: @HOST@\r\nX: y\r\n\r\n",
    b"POST /api/a HTTP/1.1\r\nHost: @HOST@\r\nContent-Length: 11\r\n\r\nhello world",
    b"POST / HTTP/1.1\r\nHost: @HOST@\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nT: r\r\n\r\n",
]
RESPONSES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
    b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\nT: r\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
]
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def split(raw, cuts):
    points = sorted({c % (len(raw) + 1) for c in cuts})
    return [p for p in (raw[a:b] for a, b in zip([0, *points], [*points, len(raw)], strict=True)) if p]


CUTS = st.lists(st.integers(0, 10_000), max_size=12)


@QUICK
@given(which=st.sampled_from(range(len(REQUESTS))), cuts=CUTS)
def test_requests_in_any_pieces(stage, which, cuts):
    raw = REQUESTS[which]
    expected = stage.at_upstream(raw.replace(b"/api/a", b"/v9/a"))
    stage._clear()
    stage.scripts.put((len(expected), [OK], "stay"))
    with stage.rig.connect() as sock:
        for piece in split(stage.at_client(raw), cuts):
            sock.sendall(piece)
        answer = read_exactly(sock, len(OK))
    assert stage.seen.get(timeout=WAIT_S) == expected
    assert answer == OK


@QUICK
@given(which=st.sampled_from(range(len(RESPONSES))), cuts=CUTS)
def test_responses_in_any_pieces(stage, which, cuts):
    raw = RESPONSES[which]
    assert stage.play_response(raw, pieces=split(raw, cuts)) == raw


@st.composite
def bodies(draw):
    parts = draw(st.lists(st.binary(min_size=1, max_size=40), max_size=6))
    wire = b"".join(b"%x\r\n" % len(p) + p + b"\r\n" for p in parts) + b"0\r\n"
    wire += b"".join(b"T%d: v\r\n" % n for n in range(draw(st.integers(0, 2)))) + b"\r\n"
    return b"".join(parts), wire


@given(body=bodies(), cuts=CUTS, rest=st.binary(max_size=5))
def test_the_chunk_tracker_finds_the_same_end_and_data_at_any_cut(body, cuts, rest):
    data, wire = body
    tracker, out, at, ended = Chunks(), [], 0, -1
    for piece in split(wire + rest, cuts):
        ended = tracker.feed(piece, 0, out)
        if ended >= 0:
            break
        at += len(piece)
    assert at + ended == len(wire)
    assert b"".join(out) == data


@given(raw=st.binary(max_size=200), cuts=CUTS)
def test_the_chunk_tracker_never_fails_in_another_way_than_its_own(raw, cuts):
    tracker = Chunks()
    with contextlib.suppress(ValueError):
        for piece in split(raw, cuts):
            if tracker.feed(piece) >= 0:
                break
