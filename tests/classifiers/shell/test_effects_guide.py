"""The annotation guide's worked examples are what the classifier says."""

import re
from pathlib import Path

import pytest

from classifiers.knowledge.examples import compare
from classifiers.shell import classify_shell

GUIDE = Path(__file__).parents[3] / "docs" / "effects.md"


def worked_examples():
    for block in re.findall(r"```effects\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL):
        for example in block.strip().split("\n\n"):
            lines = example.split("\n")
            more = [line[2:] for line in lines if line.startswith("> ")]
            command = "\n".join([lines[0].removeprefix("$ "), *more])
            yield command, tuple(line for line in lines[1:] if not line.startswith("> ") and line != "nothing")


EXAMPLES = list(worked_examples())


def test_the_guide_has_at_least_sixty_examples():
    assert len(EXAMPLES) >= 60


@pytest.mark.parametrize(("command", "expected"), EXAMPLES, ids=[c[:50] for c, _ in EXAMPLES])
def test_a_worked_example_holds(command, expected):
    assert compare(classify_shell(command), expected) == []
