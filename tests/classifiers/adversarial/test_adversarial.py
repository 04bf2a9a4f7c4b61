"""Commands that hide danger, and commands that only look dangerous, say exactly these effects."""

from pathlib import Path

import pytest

from classifiers.context import Context
from classifiers.knowledge.examples import compare
from classifiers.shell import classify_shell
from classifiers.strict_yaml import load

PATIENT = Context(max_ms=5_000)  # what a command means, however busy the machine
TABLES = sorted(Path(__file__).parent.glob("*.yaml"))


def rows():
    for file in TABLES:
        for command, expected in load(file.read_text("utf-8"), file.name).value["commands"].items():
            yield pytest.param(command, tuple(expected), id=f"{file.stem}: {command[:50]}")


CASES = list(rows())


def test_the_tables_hold_at_least_two_hundred_and_fifty_commands():
    assert len(CASES) >= 250


@pytest.mark.parametrize(("command", "expected"), CASES)
def test_a_command_says_exactly_these_effects(command, expected):
    assert compare(classify_shell(command, PATIENT), expected) == []
