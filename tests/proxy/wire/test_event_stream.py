"""AWS event stream in any split; both checksums are looked at."""

from __future__ import annotations

import re
import struct
from binascii import crc32

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


def test_a_damaged_prelude_ends_the_reading_where_text_is_passed_over_too():
    """The message's own checksum may hold all the same: it covers the wrong one."""
    sound = stream(("contentBlockDelta", {"delta": {"text": "a"}}))
    wrong = sound[:8] + bytes([sound[8] ^ 1]) + sound[9:-4]
    wrong += struct.pack(">I", crc32(wrong))
    for at in range(len(sound), len(sound + wrong)):
        decoder = EventStreamDecoder(Side.RESPONSE)
        decoder.gate = (re.compile(b"toolUse"),)
        whole = sound + wrong + sound
        frames = [*decoder.feed(whole[:at]), *decoder.feed(whole[at:]), *decoder.close(clean=True)]
        assert [f.error for f in frames if f.error] == ["event stream prelude is damaged"]
