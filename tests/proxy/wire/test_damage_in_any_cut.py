"""Damaged bytes under every framing there is: what comes out does not depend on where the bytes were cut."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.assembly.body import framings
from proxy.exchange import Exchange, Head, Side
from proxy.wire.ndjson import LineDecoder
from proxy.wire.sse import SseDecoder
from tests.proxy.providers.streams import stream

from .cuts import cuts
from .sockets import Deflater, frame, message

_PARTS = b'--cut\r\nContent-Type: application/json\r\n\r\n{"a": 1}\r\n--cut\r\n\r\nplain\r\n--cut--\r\n'
_SOCKET = (
    Deflater().message(b'{"type": "a"}', masked=False)
    + frame(1, b'{"b"', masked=True, final=False)
    + frame(9, b"ping", masked=False)
    + frame(0, b": 2}", masked=False)
    + message(b"\x00\x01", masked=False, opcode=2)
    + frame(8, b"\x03\xe8", masked=False)
)

# framing -> (how a body of it is labelled, a body of it); a new framing without an entry fails here
SAMPLES: dict[str, tuple[str, bytes]] = {
    "json": ("application/json", '[{"a": [1, "é"]}, {"b": "\\"]"}, 3]'.encode()),
    "sse": ("text/event-stream", '\ufeffevent: a\r\ndata: {"x": 1}\r\n\r\n: c\ndata: ü\n\ndata: [DONE]\r\r'.encode()),
    "json-lines": ("application/x-ndjson", b'{"a": 1}\n\r\n[2]\nnot json\n{"c"'),
    "websocket": ("", _SOCKET),
    "aws-event-stream": (
        "application/vnd.amazon.eventstream",
        stream(("messageStart", {"role": "assistant"}), ("!throttled", {"message": "no"})),
    ),
    "multipart": ("multipart/form-data; boundary=cut", _PARTS),
    "ag-ui-proto": (
        "application/vnd.ag-ui.event+proto",
        bytes.fromhex("0000001b22190a0208031206" + b"call_1".hex() + "1a0b" + b"list_folder".hex())
        + bytes.fromhex("0000000e2a0c0a0208041206" + b"call_1".hex()),
    ),
}
FRAMINGS = {f.name: f for f in framings()}
FOUND_BY_FUZZING = ["LCwsLCwsLCUKLCwsLCwlACwAAAAALCws", "lAAAAA==", "BAAAAA=="]


def read(name: str, pieces: list[bytes], *, clean: bool = True) -> list[object]:
    extensions = (("sec-websocket-extensions", "permessage-deflate"),)
    head = Head(status=101 if name == "websocket" else 200, headers=(("content-type", SAMPLES[name][0]), *extensions))
    exchange = Exchange("x", Head("POST", "/"), head, websocket=name == "websocket")
    decoder = FRAMINGS[name].open(exchange, Side.RESPONSE)
    return [f for piece in pieces for f in decoder.feed(piece)] + decoder.close(clean=clean)


def sliced(body: bytes, marks: list[int]) -> list[bytes]:
    edges = [0, *sorted({m % (len(body) + 1) for m in marks}), len(body)]
    return [body[a:b] for a, b in pairwise(edges)]


def test_every_framing_has_a_sample_here_that_it_reads():
    assert set(SAMPLES) == set(FRAMINGS)
    for name, (label, body) in SAMPLES.items():
        exchange = Exchange("x", Head("POST", "/"), Head(status=101), websocket=True)
        ranked = FRAMINGS[name].matches(exchange, Side.RESPONSE, label.partition(";")[0])
        assert ranked
        assert len(read(name, [body])) > 1


@pytest.mark.parametrize("name", SAMPLES)
def test_a_body_cut_short_anywhere_gives_the_same_in_any_split(name):
    body = SAMPLES[name][1]
    for end in range(0, len(body), 7):
        whole = read(name, [body[:end]])
        assert all(read(name, pieces) == whole for pieces in cuts(body[:end]))


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("text", FOUND_BY_FUZZING)
def test_what_fuzzing_found_is_counted_alike_in_any_split(name, text):
    body = base64.b64decode(text)
    whole = read(name, [body])
    assert all(read(name, pieces) == whole for pieces in cuts(body))


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, bytes]:
    """A framing's body (or any bytes) with pieces replaced, doubled or taken out."""
    name = draw(st.sampled_from(sorted(SAMPLES)))
    body = bytearray(draw(st.one_of(st.just(SAMPLES[name][1] * 2), st.binary(max_size=60))))
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(body)))
        body[at : at + draw(st.integers(0, 3))] = draw(st.binary(max_size=4))
    return name, bytes(body)


@settings(max_examples=400, deadline=None)
@given(damaged(), st.lists(st.integers(0, 400), max_size=6), st.booleans())
def test_damage_gives_the_same_frames_in_any_split(sample, marks, clean):
    name, body = sample
    whole = read(name, [body], clean=clean)
    assert read(name, sliced(body, marks), clean=clean) == whole
    assert read(name, [body[i : i + 1] for i in range(len(body))], clean=clean) == whole


@settings(max_examples=200, deadline=None)
@given(damaged())
def test_no_byte_of_a_damaged_body_is_counted_twice(sample):
    name, body = sample
    assert sum(f.size_bytes for f in read(name, [body])) <= len(body) + 1


def _long(kind: str) -> Iterator[bytes]:
    short, long = b'{"a": 1}', b'{"b": "' + b"x" * 90 + b'"}'
    end = b"\n\n" if kind == "sse" else b"\n"
    for item in (short, long, short, long):
        yield (b"data: " if kind == "sse" else b"") + item + end


@pytest.mark.parametrize("kind", ["sse", "json-lines"])
def test_what_is_over_the_cap_is_counted_whole_and_the_rest_is_read(kind):
    body = b"".join(_long(kind))
    for pieces in [*cuts(body), *cuts(body[:-2])]:
        decoder = SseDecoder(cap=60) if kind == "sse" else LineDecoder(Side.RESPONSE, cap=60)
        frames = [f for p in pieces for f in decoder.feed(p)] + decoder.close(clean=True)
        assert [f.error and f.error.partition(" over")[2] for f in frames] == [None, " the cap", None, " the cap"]
        if pieces and sum(map(len, pieces)) == len(body):
            assert sum(f.size_bytes for f in frames if f.error) == sum(len(p) for p in list(_long(kind))[1::2])
