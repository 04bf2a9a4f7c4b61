"""Multipart bodies in any split."""

from __future__ import annotations

from proxy.exchange import Side
from proxy.wire.multipart import PART_CAP, MultipartDecoder, boundary_of

from .cuts import cuts

BODY = (
    b'--xx\r\nContent-Disposition: form-data; name="meta"\r\nContent-Type: application/json\r\n\r\n{"a":1}\r\n'
    b'--xx\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nline\r\n--x\r\n--xx--\r\n'
)


def read(pieces):
    decoder = MultipartDecoder(Side.REQUEST, "xx")
    frames = [f for p in pieces for f in decoder.feed(p)] + decoder.close(clean=True)
    return [(f.event, f.data, f.error) for f in frames]


def test_parts_come_out_the_same_however_cut():
    for pieces in cuts(BODY):
        assert read(pieces) == [("meta", {"a": 1}, None), ("file", b"line\r\n--x", None)]


def test_a_body_without_its_end_is_said():
    assert read([BODY[:-8]])[-1][2] == "multipart body cut off"


def test_a_part_over_the_cap_is_counted_not_kept():
    big = b"--xx\r\n\r\n" + b"a" * (PART_CAP + 100_000) + b"\r\n--xx--"
    decoder = MultipartDecoder(Side.REQUEST, "xx")
    frames = [f for i in range(0, len(big), 65536) for f in decoder.feed(big[i : i + 65536])]
    assert [f.error for f in frames] == ["part over the cap"]
    assert frames[0].size_bytes >= PART_CAP


def test_the_boundary_is_read_from_the_label():
    assert boundary_of('multipart/form-data; boundary="a b"') == "a b"
