"""Random bytes under any label, in any cut: no exception, everything counted, and no cut that matters."""

from __future__ import annotations

import gzip
import json
import zlib
from itertools import pairwise
from pathlib import Path

import brotli
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.assembly import ExchangeAssembler
from proxy.events import Unread
from proxy.exchange import Ending, Exchange, Head

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
BODIES = [p.read_bytes() for p in sorted(GOLDEN.glob("*/*/response.body"))[::4]]
KINDS = [
    "text/event-stream",
    "application/json",
    "application/x-ndjson",
    "application/vnd.amazon.eventstream",
    "multipart/form-data; boundary=x",
    "text/plain; charset=utf-16",
    "",
]
CODINGS = ["", "gzip", "deflate", "br", "zstd", "gzip, zstd"]


@st.composite
def damaged(draw):
    """A recorded-like body with bytes swapped in."""
    body = bytearray(draw(st.sampled_from(BODIES))[:2000])
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, max(0, len(body) - 1)))
        body[at : at + draw(st.integers(0, 5))] = draw(st.binary(max_size=5))
    return bytes(body)


def read(kind, coding, body, marks, request=b""):
    assembler = ExchangeAssembler(Exchange("x", Head("POST", "/v1/messages")), {})
    events = assembler.request_body(request) + assembler.request_end()
    headers = (("content-type", kind), ("content-encoding", coding))
    events += assembler.response_head(Head(status=200, headers=headers))
    edges = [0, *sorted({m % (len(body) + 1) for m in marks}), len(body)]
    for start, stop in pairwise(edges):
        events += assembler.response_body(body[start:stop])
    return events + assembler.response_end(Ending.COMPLETE)


@settings(max_examples=150, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    coding=st.sampled_from(CODINGS),
    body=st.one_of(st.binary(max_size=300), damaged()),
    marks=st.lists(st.integers(0, 4000), max_size=5),
)
def test_any_bytes_under_any_label_are_read_or_counted(kind, coding, body, marks):
    events = read(kind, coding, body, marks)
    assert [e for e in events if isinstance(e, Unread) and "failed:" in e.reason] == []
    assert events or not body.strip()


@settings(max_examples=150, deadline=None)
@given(kind=st.sampled_from(KINDS), body=damaged(), marks=st.lists(st.integers(0, 4000), max_size=8))
def test_damage_reads_the_same_in_any_cut(kind, body, marks):
    assert read(kind, "", body, marks) == read(kind, "", body, [])


def coded(coding: str, body: bytes) -> bytes:
    for name in filter(None, coding.split(", ")):
        body = _ENCODERS[name](body)
    return body


_ENCODERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress,
}


@settings(max_examples=200, deadline=None)
@given(
    kind=st.sampled_from(KINDS),
    coding=st.sampled_from(CODINGS[1:]),
    body=damaged(),
    marks=st.lists(st.integers(0, 4000), max_size=8),
    hits=st.lists(st.integers(0, 4000), max_size=3),
)
def test_damage_below_the_coding_reads_the_same_in_any_cut(kind, coding, body, marks, hits):
    raw = bytearray(coded(coding, body))
    for hit in hits[:2]:
        raw[hit % len(raw)] ^= 0x41
    raw = raw[: max(1, hits[2] % len(raw))] if len(hits) == 3 else raw
    assert read(kind, coding, bytes(raw), marks) == read(kind, coding, bytes(raw), [])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=100, deadline=None)
@given(asked=json_values, told=json_values)
def test_any_json_on_both_sides_is_read_or_counted(asked, told):
    events = read("application/json", "", json.dumps(told).encode(), [], json.dumps(asked).encode())
    assert [e for e in events if isinstance(e, Unread) and "failed:" in e.reason] == []
