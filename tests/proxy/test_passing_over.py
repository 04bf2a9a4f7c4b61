"""Passing over what has no mark changes nothing: every golden body, cut and damaged, against a parse of everything."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.assembly import ExchangeAssembler
from proxy.assembly.case import replay
from proxy.assembly.folder import exchanges
from proxy.events import Facts

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CASES = sorted(p.parent for p in GOLDEN.glob("*/*/response.body") if p.read_bytes()[:6] in (b"data: ", b"event:"))
IDS = [f"{c.parent.name}/{c.name}" for c in CASES]
SAYS_NOTHING = {
    "anthropic-messages": b'event: content_block_delta\ndata: {"type":"content_block_delta","index":9,"delta":'
    b'{"type":"text_delta","text":"a call of the tool"}}\n\n',
    "openai-chat": b'data: {"choices":[{"index":0,"delta":{"content":"call"},"finish_reason":null}]}\n\n',
    "openai-responses": b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta",'
    b'"item_id":"msg_9","output_index":9,"delta":"call"}\n\n',
    "gemini": b'data: {"candidates":[{"content":{"parts":[{"text":"call"}],"role":"model"},"index":0}]}\r\n\r\n',
}


def read(case, body, marks, *, parse_all):
    meta = json.loads((case / "meta.json").read_text("utf-8"))
    exchange, _ = list(exchanges(case, meta, None))[-1]
    assembler = ExchangeAssembler(exchange, {}, parse_all=parse_all)
    edges = [0, *sorted({m % (len(body) + 1) for m in marks}), len(body)]
    events = replay(
        assembler,
        body,
        exchange.request_json,
        lambda one, whole: [e for a, b in pairwise(edges) for e in one.response_body(whole[a:b])],
    )
    return [e for e in events if e != Facts({})], assembler.counted.skipped_bytes


def events_of(body):
    end = b"\r\n\r\n" if b"\r\n\r\n" in body else b"\n\n"
    return [part + end for part in body.split(end) if part]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_golden_body_says_the_same_when_nothing_is_passed_over(case):
    body = (case / "response.body").read_bytes()
    quiet = SAYS_NOTHING.get(case.parent.name, b": nothing\n\n") * 40
    for text in (body, quiet.join(events_of(body)) + quiet):
        marks = list(range(0, len(text), 97))
        assert read(case, text, marks, parse_all=False)[0] == read(case, text, marks, parse_all=True)[0]


@pytest.mark.parametrize("api", SAYS_NOTHING)
def test_text_is_passed_over(api):
    case = next(c for c in CASES if c.parent.name == api)
    first, *rest = events_of((case / "response.body").read_bytes())
    quiet = SAYS_NOTHING[api] * 400
    _, skipped = read(case, first + quiet + b"".join(rest), list(range(0, len(quiet), 1000)), parse_all=False)
    assert skipped > len(quiet) * 0.7


@st.composite
def changed(draw):
    """A golden stream with events doubled, dropped, moved, made quiet or damaged."""
    case = draw(st.sampled_from(CASES))
    events = events_of((case / "response.body").read_bytes())
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(0, len(events)))
        kind = draw(st.sampled_from(["quiet", "again", "gone", "moved", "damaged"]))
        here = events[at % len(events)] if events else b"data: {}\n\n"
        if kind == "quiet":
            events.insert(at, SAYS_NOTHING.get(case.parent.name, b"data: {}\n\n") * draw(st.integers(1, 9)))
        elif kind == "again":
            events.insert(at, here)
        elif events:
            del events[at % len(events)]
        if kind == "moved":
            events.insert(draw(st.integers(0, len(events))), here)
        if kind == "damaged":
            hit = draw(st.integers(0, len(here) - 1))
            events.insert(at, here[:hit] + draw(st.binary(max_size=3)) + here[hit + 1 :])
    return case, b"".join(events)


@settings(max_examples=400, deadline=None)
@given(changed(), st.lists(st.integers(0, 9000), max_size=12))
def test_a_changed_stream_says_the_same_when_nothing_is_passed_over(sample, marks):
    case, body = sample
    assert read(case, body, marks, parse_all=False)[0] == read(case, body, marks, parse_all=True)[0]
