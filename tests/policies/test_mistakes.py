"""What the checker says of each mistake, word for word (``mistakes.txt``), with its line and column."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from policies.source import check_text

NOW = datetime(2026, 11, 30, tzinfo=UTC)
TABLE = (Path(__file__).parent / "mistakes.txt").read_text("utf-8")
CASES = {
    name: tuple(rest.split("--- says\n")) for name, rest in (block.split("\n", 1) for block in TABLE.split("=== ")[1:])
}


def test_there_are_many_mistakes():
    assert len(CASES) >= 60


@pytest.mark.parametrize("name", CASES)
def test_a_mistake_is_told_with_its_place_and_what_was_meant(name):
    text, expected = CASES[name]
    said = check_text(text, "f.yaml", NOW).found
    assert "".join(f"{d}\n" for d in said) == expected
    assert said, "every case is a mistake"


@pytest.mark.parametrize("name", CASES)
def test_a_file_with_an_error_is_never_used_and_one_with_warnings_is(name):
    text, expected = CASES[name]
    only_warnings = all(": warning: " in line for line in expected.splitlines())
    assert (check_text(text, "f.yaml", NOW).policy is not None) == only_warnings
