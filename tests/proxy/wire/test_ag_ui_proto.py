"""AG-UI's binary frames: the official encoder's bytes, hostile ones, any cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.ag_ui_proto import MAX_FRAME_BYTES, AgUiProtoDecoder

# Encoded by @ag-ui/encoder 1.0.0 from the events beside them (own content).
ENCODED = {
    "0000001b22190a0208031206" + b"call_1".hex() + "1a0b" + b"list_folder".hex(): {
        "type": "TOOL_CALL_START",
        "toolCallId": "call_1",
        "toolCallName": "list_folder",
    },
    "0000000e2a0c0a0208041206" + b"call_1".hex(): {
        "type": "TOOL_CALL_ARGS",
        "toolCallId": "call_1",
        "delta": "",
    },
}


def read(pieces, *, clean=True):
    decoder = AgUiProtoDecoder()
    return [f for piece in pieces for f in decoder.feed(piece)] + decoder.close(clean=clean)


def frame(message: bytes) -> bytes:
    return len(message).to_bytes(4, "big") + message


@pytest.mark.parametrize(("text", "event"), ENCODED.items())
def test_an_event_reads_as_its_json_form(text, event):
    (found,) = read([bytes.fromhex(text)])
    assert (found.data, found.error, found.event) == (event, None, event["type"])


def test_an_arm_of_a_later_protocol_is_an_unknown_event_and_not_an_error():
    (found,) = read([frame(b"\xea\x02\x00")])
    assert (found.data, found.error) == ({"type": "UNKNOWN", "arm": 45}, None)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (b"", "no event"),
        (b"\x22", "unfinished varint"),
        (b"\x22\x05ab", "runs past"),
        (b"\x22\x02\x12\x05", "runs past"),
        (b"\x22\x03\x12\x01\xff", "not UTF-8"),
        (b"\x23\x01", "wire type 3"),
        (b"\x02\x00", "field number 0"),
        (b"\x22\x02\x10\x01", "where str was expected"),
    ],
)
def test_what_is_not_an_event_is_said_and_the_next_frame_is_read(message, why):
    good = bytes.fromhex(next(iter(ENCODED)))
    bad, found = read([frame(message) + good])
    assert why in bad.error
    assert found.data["type"] == "TOOL_CALL_START"


def test_a_rest_is_an_error_frame():
    (found,) = read([b"\x00\x00\x00\x09\x22"])
    assert (found.error, found.size_bytes) == ("the body ended inside a frame", 5)


def test_an_over_long_frame_is_skipped_without_being_held():
    decoder = AgUiProtoDecoder()
    assert decoder.feed((MAX_FRAME_BYTES + 1).to_bytes(4, "big")) == []
    for _ in range(16):
        assert decoder.feed(bytes(MAX_FRAME_BYTES // 16)) == []
    assert len(decoder._held) == 0
    good = bytes.fromhex(next(iter(ENCODED)))
    said, found = decoder.feed(b"\x00" + good)
    assert (said.error, said.size_bytes) == (
        f"frame of {MAX_FRAME_BYTES + 1} bytes is over {MAX_FRAME_BYTES}",
        MAX_FRAME_BYTES + 5,
    )
    assert found.error is None


def test_an_over_long_frame_that_stops_early_counts_what_came():
    (said,) = read([b"\x7f\xff\xff\xff", b"12345"])
    assert said.size_bytes == 9


def test_a_deeply_nested_value_is_an_error_and_not_a_crash():
    value = b"\x08\x00"
    for _ in range(400):
        value = b"\x0a" + varint(len(value)) + value  # ListValue.values
        value = b"\x32" + varint(len(value)) + value  # Value.list_value
    custom = b"\x1a" + varint(len(value)) + value
    (found,) = read([frame(b"\x5a" + varint(len(custom)) + custom)])
    assert "nested deeper" in found.error


def test_bytes_where_a_number_was_expected_are_an_error_and_not_a_crash():
    """A base event whose timestamp comes as text (found by fuzzing)."""
    base = b"\x12\x01x"  # BaseEvent.timestamp, wire type 2
    start = b"\x0a" + varint(len(base)) + base
    (found,) = read([frame(b"\x0a" + varint(len(start)) + start)])
    assert "wire type 2 where int was expected" in found.error


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


@given(st.binary(max_size=400), st.lists(st.integers(0, 400), max_size=8))
def test_random_bytes_in_any_cut_give_the_same_frames_and_no_exception(data, marks):
    edges = [0, *sorted(min(m, len(data)) for m in marks), len(data)]
    pieces = [data[a:b] for a, b in itertools.pairwise(edges)]
    assert read(pieces) == read([data])


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_random_messages_never_raise(messages):
    found = read([b"".join(map(frame, messages))])
    assert len(found) == len(messages)
