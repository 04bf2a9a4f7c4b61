"""Text passed over in other framings than server-sent events: the events are those of parsing everything."""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from binascii import crc32
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.assembly import ExchangeAssembler
from proxy.assembly.case import dialogue
from proxy.assembly.folder import exchanges, raw_body
from proxy.events import Facts, Unread
from proxy.exchange import Side

from .wire.sockets import Deflater, frame

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
AWS = ("bedrock-converse", "bedrock-invoke-stream")
SOCKETS = ("openai-responses-ws", "openai-realtime-ws", "gemini-live-ws")


def aws(kind, payload, event="event"):
    heads = b""
    for name, value in ((":event-type", kind), (":message-type", event)):
        heads += bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
    start = struct.pack(">II", 16 + len(heads) + len(payload), len(heads))
    start += struct.pack(">I", crc32(start)) + heads + payload
    return start + struct.pack(">I", crc32(start))


def chunk(data):
    return aws("chunk", b'{"bytes":"%b","p":"abc"}' % b64encode(json.dumps(data).encode()))


ANTHROPIC_TEXT = {"type": "content_block_delta", "index": 9, "delta": {"type": "text_delta", "text": "a tool call"}}
QUIET = {
    "bedrock-converse": aws("contentBlockDelta", b'{"contentBlockIndex":9,"delta":{"text":"a tool call"},"p":"ab"}'),
    "bedrock-invoke-stream": chunk(ANTHROPIC_TEXT),
    "ollama": b'{"model":"m","message":{"role":"assistant","content":"call"},"done":false}\n',
    "gemini": b'{"candidates":[{"content":{"parts":[{"text":"call"}],"role":"model"},"index":0}]}',
    "openai-responses-ws": b'{"type":"response.output_text.delta","item_id":"msg_9","output_index":9,"delta":"call"}',
    "openai-realtime-ws": b'{"type":"response.output_audio.delta","item_id":"item_9","delta":"AAAA"}',
    "gemini-live-ws": b'{"serverContent":{"modelTurn":{"parts":[{"text":"call"}]}}}',
}


def messages_of(body):
    found, at = [], 0
    while at < len(body):
        size = struct.unpack_from(">I", body, at)[0]
        found.append(body[at : at + size])
        at += size
    return found


def units(case):
    """What the body of a case is cut into: (side, bytes) each; quiet units go between them."""
    body = (case / "response.body").read_bytes()
    api = case.parent.name
    if api in SOCKETS:
        return [(f.side, json.dumps(f.data, ensure_ascii=False).encode()) for f in dialogue(body)]
    if api in AWS:
        return [(Side.RESPONSE, m) for m in messages_of(body)]
    if api == "gemini":
        return [(Side.RESPONSE, json.dumps(e).encode()) for e in json.loads(body)]
    return [(Side.RESPONSE, line + b"\n") for line in body.split(b"\n") if line]


def _cases():
    for case in sorted(p.parent for p in GOLDEN.glob("*/*/response.body")):
        body = (case / "response.body").read_bytes()
        api = case.parent.name
        stream = (api in AWS and body[:1] == b"\0") or (api == "ollama" and body.count(b"\n") > 1)
        if stream or api in SOCKETS or (api == "gemini" and body.lstrip()[:1] == b"["):
            yield case


CASES = list(_cases())
IDS = [f"{c.parent.name}/{c.name}" for c in CASES]


def on_a_socket(parts, how):
    deflaters = {side: Deflater() for side in Side}
    for side, part in parts:
        masked = side is Side.REQUEST
        if how == "deflated":
            yield side, deflaters[side].message(part, masked=masked)
        elif how == "fragments":
            half = len(part) // 2
            first = frame(1, part[:half], masked=masked, final=False) + frame(9, b"", masked=masked)
            yield side, first + frame(0, part[half:], masked=masked)
        else:
            yield side, frame(1, part, masked=masked)


def pieces_of(api, parts, marks, how):
    """(side, bytes) as they are fed: parts in their framing, runs of one side together, cut at the marks."""
    runs = []
    for side, coded in on_a_socket(parts, how) if api in SOCKETS else parts:
        if runs and runs[-1][0] is side:
            runs[-1][1].append(coded)
        else:
            runs.append((side, [coded]))
    for side, held in runs:
        whole = b"[" + b",\r\n".join(held) + b"]" if api == "gemini" else b"".join(held)
        edges = [0, *sorted({m % (len(whole) + 1) for m in marks}), len(whole)]
        yield from ((side, whole[a:b]) for a, b in pairwise(edges))


def read(case, pieces, *, parse_all, how):
    meta = json.loads((case / "meta.json").read_text("utf-8"))
    exchange, _ = list(exchanges(case, meta, None))[-1]
    request, head = exchange.request_json, exchange.response
    exchange.request_json = exchange.response = None
    if how == "deflated":
        head = type(head)(status=101, headers=(*head.headers, ("sec-websocket-extensions", "permessage-deflate")))
    one = ExchangeAssembler(exchange, {}, parse_all=parse_all)
    sent = b"" if request is None or head.status == 101 else raw_body(request)
    events = one.request_body(sent) + one.request_end() if head.status != 101 else one.request_end()
    events += one.response_head(head)
    for side, piece in pieces:
        events += one.socket(side, piece) if head.status == 101 else one.response_body(piece)
    events += one.response_end()
    return [e for e in events if e != Facts({})], one.counted.skipped_bytes


def same(case, parts, marks, how="plain"):
    api = case.parent.name
    fed = list(pieces_of(api, parts, marks, how))
    said, skipped = read(case, fed, parse_all=False, how=how)
    assert said == read(case, fed, parse_all=True, how=how)[0]
    return said, skipped


@pytest.mark.parametrize("how", ["plain", "deflated", "fragments"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_golden_stream_with_much_text_between_says_the_same(case, how):
    api, parts = case.parent.name, units(case)
    if how != "plain" and api not in SOCKETS:
        pytest.skip("a way of sockets")
    quiet = [(Side.RESPONSE, QUIET[api])] * 30
    for told in (parts, [one for part in parts for one in (part, *quiet)]):
        for marks in ([], range(0, 90_000, 97), range(0, 90_000, 4_000)):
            same(case, told, marks, how)


@pytest.mark.parametrize("api", QUIET)
def test_text_is_passed_over(api):
    case = next(c for c in CASES if c.parent.name == api)
    parts = units(case)
    quiet = [(Side.RESPONSE, QUIET[api])] * 900
    _, skipped = same(case, [*parts[:-1], *quiet, parts[-1]], range(0, 200_000, 5_000))
    assert skipped > len(QUIET[api]) * 900 * 0.6


@pytest.mark.parametrize("api", AWS)
def test_a_wrong_checksum_in_the_middle_of_text_is_said(api):
    case = next(c for c in CASES if c.parent.name == api)
    parts = units(case)
    damaged = bytearray(QUIET[api])
    damaged[-9] ^= 1
    quiet = [(Side.RESPONSE, QUIET[api])] * 90
    said, skipped = same(
        case, [*parts[:-1], *quiet, (Side.RESPONSE, bytes(damaged)), *quiet, parts[-1]], [9_000, 12_000]
    )
    assert [e.reason for e in said if isinstance(e, Unread)] == ["event stream message checksum is wrong"]
    assert skipped > 0


@st.composite
def changed(draw):
    """A golden stream with units doubled, dropped, moved, made quiet or damaged."""
    case = draw(st.sampled_from(CASES))
    parts, api = units(case), case.parent.name
    for _ in range(draw(st.integers(0, 5))):
        at = draw(st.integers(1, len(parts))) if parts else 0
        kind = draw(st.sampled_from(["quiet", "again", "gone", "moved", "damaged"]))
        side, here = parts[at % len(parts)] if parts else (Side.RESPONSE, QUIET[api])
        if kind == "quiet":
            parts[at:at] = [(Side.RESPONSE, QUIET[api])] * draw(st.integers(1, 9))
        elif kind == "again":
            parts.insert(at, (side, here))
        elif len(parts) > 1:
            del parts[at % len(parts)]
        if kind == "moved":
            parts.insert(draw(st.integers(0, len(parts))), (side, here))
        if kind == "damaged" and api != "gemini":
            hit = draw(st.integers(0, len(here) - 1))
            parts.insert(at, (side, here[:hit] + draw(st.binary(max_size=3)).replace(b"\n", b"") + here[hit + 1 :]))
    return case, parts


@settings(max_examples=400, deadline=None)
@given(changed(), st.lists(st.integers(0, 9_000), max_size=12), st.sampled_from(["plain", "deflated", "fragments"]))
def test_a_changed_stream_says_the_same_when_nothing_is_passed_over(sample, marks, how):
    case, parts = sample
    same(case, parts, marks, how if case.parent.name in SOCKETS else "plain")
