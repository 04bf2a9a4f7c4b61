"""Saves are seldom in quiet times and frequent when what was read keeps the relays from writing."""

import pytest

from proxy.analyzer.pace import Pace

MIB = 1 << 20


@pytest.mark.parametrize(
    ("took", "read_bytes", "since", "due"),
    [
        (0.001, 0, 0.9, False),
        (0.001, 0, 1.1, True),
        (0.100, 0, 4.0, False),  # a 50th of the time
        (0.100, 0, 5.1, True),
        (0.010, 33 * MIB, 0.07, False),  # pressed: an 8th of the time
        (0.010, 33 * MIB, 0.09, True),
        (0.010, 31 * MIB, 0.09, False),
    ],
)
def test_a_save_is_due(took, read_bytes, since, due):
    pace = Pace(256 * MIB)
    pace.saved(10.0, 10.0 + took)
    assert pace.due(10.0 + since, read_bytes) is due


def test_the_first_save_is_due_at_once():
    assert Pace(256 * MIB).due(10.0, 0)
