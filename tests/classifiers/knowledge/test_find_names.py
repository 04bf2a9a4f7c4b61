"""A find expression's names: an action works on what the tests before it, in its own alternative, let through."""

import pytest

from classifiers.shell import classify_shell

CASES = {
    r"find d \( -name a -o -iname b \) -delete": ["d/**/a", "d/**/b"],
    "find d -name a -o -name b -delete": ["d/**/b"],
    "find d -name a -delete -o -name b -print": ["d/**/a"],
    "find d -name a -prune -o -type f -delete": ["d"],
    r"find d ! \( -name a -o -name b \) -delete": ["d"],
    "find d -not -name a -delete": ["d"],
    r"find d \( -name a -o -type l \) -delete": ["d/**/a", "d"],
    r"find d \( -name a -o -name b -delete \)": ["d/**/b"],
    r"find d \( -type f -name a \) -delete": ["d/**/a"],
    "find d -path 'd/x/*' -delete": ["d/x/*"],
    "find d -path '*/x/*' -delete": ["d/**/x/*"],
    "find d -path 'nowhere/*' -delete": ["d"],
    "find d -name a ) -delete": ["d/**/a"],
    "find d e -name a -delete": ["d/**/a", "e/**/a"],
}


@pytest.mark.parametrize("command", CASES)
def test_a_deletion_has_the_members_its_tests_leave(command):
    effects = classify_shell(command.replace("a ) -", r"a \) -")).effects
    assert [e.target for e in effects if e.action == "delete"] == CASES[command]
