"""A deletion that is called, or whose path is made, in one of a language's many ways is told, or said to be unread."""

from pathlib import Path

import pytest

from classifiers.code import classify_code
from classifiers.context import Context
from classifiers.effects import Verb
from classifiers.strict_yaml import load

FILE = Path(__file__).with_name("called_many_ways.yaml")
TABLE = load(FILE.read_text(encoding="utf-8"), FILE.name).value
CASES = [(language, text, told) for language, programs in TABLE.items() for text, told in programs.items()]


@pytest.mark.parametrize(("language", "text", "told"), CASES)
def test_a_deletion_is_told_however_it_is_called(language, text, told):
    action = classify_code(text, language, Context(max_ms=5000))
    deleted = sorted({e.target or "?" for e in action.effects if e.action is Verb.DELETE})
    assert " ".join(deleted) == ("" if told == "unread" else told)
    assert deleted or not action.complete
