"""Segments come out in order, whatever order, overlap or doubling they were captured with."""

import random

import pytest

from proxy.scan.tcp import HELD_CAP_BYTES, Direction

TEXT = bytes(random.Random(5).randbytes(4000))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("start", [0, 1000, (1 << 32) - 1500])
def test_any_order_doubling_and_overlap_gives_the_bytes_once(seed, start):
    chance = random.Random(seed)
    pieces, at = [], 0
    while at < len(TEXT):
        size = chance.randint(1, 300)
        pieces.append((at, TEXT[at : at + size + chance.choice([0, 0, 40])]))
        at += size
    pieces += chance.sample(pieces, min(5, len(pieces)))
    chance.shuffle(pieces)
    side = Direction()
    side.syn((start - 1) % (1 << 32))
    side.fin((start + len(TEXT)) % (1 << 32), 0)
    out = b"".join(side.take((start + at) % (1 << 32), data) for at, data in pieces)
    assert (out, side.ended, side.waiting) == (TEXT, True, False)


def test_a_gap_that_nothing_fills_is_lost_within_bounds():
    side = Direction()
    side.syn(9)
    for n in range(HELD_CAP_BYTES // 1000 + 2):
        assert side.take(100 + n * 1000, bytes(1000)) == b""
    assert side.lost
    assert side.take(10, b"x") == b""


def test_a_capture_that_begins_in_the_middle_begins_with_what_it_has():
    side = Direction()
    assert side.take(777, b"ab") + side.take(779, b"cd") == b"abcd"
