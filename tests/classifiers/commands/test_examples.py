"""Every example beside a command's knowledge holds; every known miss still is one."""

import pytest

from classifiers.knowledge.examples import differences, examples_in
from classifiers.knowledge.index import sources

EXAMPLES = [e for name, text in sources().items() for e in examples_in(text, name)]


@pytest.mark.parametrize("file", sorted({e.file for e in EXAMPLES}))
def test_the_examples_of_a_command_file_hold(file):
    wrong = {f"{e.file}:{e.line} {e.command}": differences(e) for e in EXAMPLES if e.file == file and not e.todo}
    assert {k: v for k, v in wrong.items() if v} == {}


def test_known_misses_are_still_missed():
    fixed = [f"{e.file}:{e.line} {e.command}" for e in EXAMPLES if e.todo and not differences(e)]
    assert fixed == [], "these hold now: move them from todo to examples"
