"""AWS event stream in any split; both checksums are looked at."""

from __future__ import annotations

import pytest

from proxy.exchange import Side
from proxy.wire.event_stream import EventStreamDecoder
from tests.proxy.providers.streams import stream

from .cuts import cuts

BODY = stream(
    ("messageStart", {"role": "assistant"}), ("contentBlockDelta", {"t": "ü"}), ("!throttled", {"message": "no"})
)


def read(pieces):
    decoder = EventStreamDecoder(Side.RESPONSE)
    frames = [f for p in pieces for f in decoder.feed(p)] + decoder.close(clean=True)
    return [(f.event, f.data, f.error) for f in frames]


def test_messages_come_out_the_same_however_cut():
    expected = [
        ("messageStart", {"role": "assistant"}, None),
        ("contentBlockDelta", {"t": "ü"}, None),
        ("exception:throttled", {"message": "no"}, None),
    ]
    for pieces in cuts(BODY):
        assert read(pieces) == expected


def test_a_wrong_message_checksum_loses_that_message_only():
    first = len(stream(("messageStart", {"role": "assistant"})))
    bad = bytearray(BODY)
    bad[first - 6] ^= 1
    found = read([bytes(bad)])
    assert [e for _, _, e in found] == ["event stream message checksum is wrong", None, None]


@pytest.mark.parametrize("at", [0, 5, 9])
def test_a_damaged_prelude_ends_the_reading(at):
    bad = bytearray(BODY)
    bad[at] ^= 0x40
    assert [e for _, _, e in read([bytes(bad)])] == ["event stream prelude is damaged"]


def test_a_cut_message_is_said():
    assert read([BODY[:-3]])[-1][2] == "event stream message cut off"
