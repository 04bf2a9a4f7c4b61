"""Every exchange of the golden tables is read right, whole and at every cut; the right answer was written first."""

from __future__ import annotations

import pytest

from .exchange_tables import answer_of, cases, right, seen, told
from .wire.cuts import points

CASES = list(cases())
IDS = [case.name for case in CASES]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_an_exchange_is_read_right(case):
    assert seen(case, *told(case)) == right(case)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_no_cut_changes_an_exchange(case):
    whole, body = told(case), answer_of(case)
    assert told(case, lambda b: [b[i : i + 1] for i in range(len(b))]) == whole
    for at in points(body):
        assert told(case, lambda b, at=at: [b[:at], b[at:]]) == whole


def test_no_two_exchanges_have_one_name():
    assert len(IDS) == len(set(IDS))
