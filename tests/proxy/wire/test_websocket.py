"""WebSocket bytes of one side, in any split: masks, fragments, control frames, compression."""

from __future__ import annotations

import json

import pytest

from proxy.exchange import Exchange, Head, Side
from proxy.wire.websocket import FRAMING, WebSocketDecoder

from .cuts import cuts
from .sockets import Deflater, frame, message

TEXT = '{"t":"größe 北"}'.encode()
VALUE = {"t": "größe 北"}


def read(pieces, **how):
    decoder = WebSocketDecoder(Side.RESPONSE, **how)
    frames = [f for p in pieces for f in decoder.feed(p)] + decoder.close(clean=True)
    return [(f.event, f.data, f.error) for f in frames]


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("size", [0, 125, 126, 65535, 65536])
def test_lengths_of_every_width_with_and_without_a_mask(size, masked):
    payload = json.dumps({"x": "a" * size}).encode()
    assert read([message(payload, masked=masked)]) == [("", {"x": "a" * size}, None)]


def test_fragments_with_control_frames_between_are_one_message_however_cut():
    body = b"".join(
        [
            frame(1, TEXT[:9], masked=True, final=False),
            frame(9, b"ping", masked=True),
            frame(0, TEXT[9:12], masked=True, final=False),
            frame(10, b"", masked=True),
            frame(0, TEXT[12:], masked=True),
            message(b"plain", masked=True),
            frame(2, b"\x00\x01", masked=True),
            frame(8, b"\x03\xe8bye", masked=True),
        ]
    )
    expected = [("", VALUE, None), ("", "plain", None), ("", b"\x00\x01", None), ("close", 1000, None)]
    for pieces in cuts(body):
        assert read(pieces) == expected


@pytest.mark.parametrize("takeover", [True, False])
def test_compressed_messages_share_a_window_or_do_not(takeover):
    one = Deflater()
    body = b"".join((one if takeover else Deflater()).message(TEXT * n, masked=False) for n in (1, 1))
    for pieces in cuts(body):
        assert read(pieces, deflate=True, takeover=takeover) == [("", VALUE, None)] * 2


@pytest.mark.parametrize(
    ("body", "how", "reason"),
    [
        (frame(1, b"x", masked=False, squeezed=True), {}, "none was agreed"),
        (frame(1, b"\xff\xff\xff", masked=False, squeezed=True), {"deflate": True}, "damaged"),
        (frame(3, b"x", masked=False), {}, "damaged"),
        (b"\x81\x7f" + b"\xff" * 8, {}, "over the cap"),
        (message(TEXT, masked=False)[:-2], {}, "cut off"),
        (message(b'{"a":', masked=False), {}, "JSON"),
    ],
)
def test_what_cannot_be_read_is_said_once(body, how, reason):
    found = read([body, message(TEXT, masked=False)] if "agreed" in reason else [body], **how)
    errors = [e for _, _, e in found if e]
    assert len(errors) == 1
    assert reason in errors[0]


@pytest.mark.parametrize(
    ("agreed", "side", "deflate", "takeover"),
    [
        ("", Side.REQUEST, False, True),
        ("permessage-deflate", Side.REQUEST, True, True),
        ("permessage-deflate; client_no_context_takeover", Side.REQUEST, True, False),
        ("permessage-deflate; client_no_context_takeover", Side.RESPONSE, True, True),
        ("permessage-deflate; server_no_context_takeover", Side.RESPONSE, True, False),
    ],
)
def test_what_was_agreed_decides_how_a_side_is_read(agreed, side, deflate, takeover):
    head = Head(status=101, headers=(("sec-websocket-extensions", agreed),))
    decoder = FRAMING.open(Exchange("x", response=head, websocket=True), side)
    assert (decoder._deflate, decoder._takeover) == (deflate, takeover)
