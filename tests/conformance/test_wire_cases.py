"""The shared recorded cases, scored per api; skipped with a message where they are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from classifiers.strict_yaml import load

from .score import cases_root, score

FLOOR_EACH, FLOOR_ALL = 0.92, 0.98
DISPUTES = Path(__file__).resolve().parents[1] / "golden" / "disputes.yaml"


@pytest.fixture(scope="module")
def disputed():
    return {entry["case"] for entry in load(DISPUTES.read_text("utf-8"), DISPUTES.name).value["disputes"]}


@pytest.fixture(scope="module")
def root():
    found = cases_root()
    if found is None:
        pytest.skip("no shared/wire-cases beside a parent folder: nothing recorded to measure with")
    return found


@pytest.mark.parametrize("detect", [False, True], ids=["declared", "detected"])
def test_recorded_cases_come_out_right(root, disputed, detect):
    right, total, low = 0, 0, {}
    for api, rows in score(root, [], detect=detect).items():
        kept = [(name, problems) for name, problems in rows if f"{api}/{name}" not in disputed]
        good = sum(not problems for _, problems in kept)
        right, total = right + good, total + len(kept)
        if good < FLOOR_EACH * len(kept):
            low[api] = [(name, problems) for name, problems in kept if problems]
    assert not low
    assert right >= FLOOR_ALL * total, f"{right} of {total}"


def test_every_dispute_names_a_case_and_a_reason(root, disputed):
    entries = load(DISPUTES.read_text("utf-8"), DISPUTES.name).value["disputes"]
    assert all(entry["reason"] for entry in entries)
    assert [e["case"] for e in entries if not (root / e["case"] / "meta.json").is_file()] == []
