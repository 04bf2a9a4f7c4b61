"""Server-sent events in any split."""

from __future__ import annotations

import json
import re

import pytest

from proxy.wire.sse import SseDecoder

from .cuts import cuts


def read(pieces, clean=True, gate=None):
    decoder = SseDecoder()
    decoder.gate = gate or ()
    frames = [f for piece in pieces for f in decoder.feed(piece)]
    return [(f.event, f.data, f.error) for f in frames + decoder.close(clean=clean)], decoder


CASES = {
    "LF": (b'event: a\ndata: {"x":1}\n\ndata: two\n\n', [("a", {"x": 1}, None), ("", "two", None)]),
    "CRLF": (
        b'data: {"x":"\xe5\x8c\x97"}\r\n\r\nevent: b\r\ndata: q\r\n\r\n',
        [("", {"x": "北"}, None), ("b", "q", None)],
    ),
    "CR": (b"data: 1\r\rdata: 2\r\r", [("", "1", None), ("", "2", None)]),
    "mixed ends": (b"data: 1\n\r\ndata: 2\r\n\ndata: 3\r\r\n", [("", "1", None), ("", "2", None), ("", "3", None)]),
    "no space": (b'data:{"x":1}\n\ndata:  two\n\n', [("", {"x": 1}, None), ("", " two", None)]),
    "comments": (b": PROCESSING\n\ndata: 1\n\n:\n\n", [("", "1", None)]),
    "U+2028 is text": (b'data: {"x":"a\xe2\x80\xa8b\xc2\x85c"}\n\n', [("", {"x": "a\u2028b\u0085c"}, None)]),
    "BOM": (b"\xef\xbb\xbfdata: 1\n\n", [("", "1", None)]),
    "several data lines": (b'data: {"x":\ndata: 1}\n\n', [("", {"x": 1}, None)]),
    "priming event": (b"id: 1\nretry: 5\ndata:\n\ndata: 1\n\n", [("", "", None), ("", "1", None)]),
    "done": (b"data: [DONE]\n\n", [("", "[DONE]", None)]),
    "no last blank line": (b'data: {"x":1}', [("", {"x": 1}, None)]),
    "id without data": (b"id: 4\n\ndata: 1\n\n", [("", "1", None)]),
}


@pytest.mark.parametrize("name", CASES)
def test_events_come_out_the_same_however_the_body_is_cut(name):
    body, expected = CASES[name]
    for pieces in cuts(body):
        assert read(pieces)[0] == expected


def test_json_that_stops_in_the_middle_is_an_error_with_its_text():
    (event,), _ = read([b'data: {"x":'], clean=False)
    assert event[1] == '{"x":'
    assert event[2]


def test_big_integers_survive():
    (event,), _ = read([b'data: {"id": 123456789012345678901234567890}\n\n'])
    assert event[1] == {"id": 123456789012345678901234567890}


def test_invalid_utf_8_becomes_replacement_characters_as_in_clients():
    (event,), _ = read([b'data: {"x":"a\xffb"}\n\n'])
    assert event == ("", {"x": "a\ufffdb"}, None)


def test_a_gate_lets_events_without_markers_pass_uncut_and_counts_them():
    quiet = b"".join(b'data: {"text":"%d"}\n\n' % i for i in range(50))
    loud = b'data: {"tool":1}\n\n'
    events, decoder = read([quiet, quiet[:10], quiet[10:], loud], gate=(re.compile(rb"tool"),))
    assert [e[1] for e in events] == [{"tool": 1}]
    assert decoder.skipped_bytes == 2 * len(quiet)


def test_a_marker_cut_in_two_is_still_seen():
    body = b'data: {"text":1}\n\ndata: {"tool":1}\n\ndata: {"text":1}\n\n'
    for pieces in cuts(body):
        events, _ = read(pieces, gate=(re.compile(rb"tool"),))
        assert {"tool": 1} in [e[1] for e in events], json.dumps([p.decode() for p in pieces])
