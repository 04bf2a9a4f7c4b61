"""Hostile and careless sessions: each is found by the rules it names."""

from pathlib import Path

import pytest

from classifiers.strict_yaml import load
from tests.sessions import play

FILES = sorted(Path(__file__).parent.glob("*.yaml"))


def test_there_are_enough_of_them():
    assert len(FILES) >= 20


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_a_hostile_session_is_found_by_the_named_rules(file):
    wanted = set(load(file.read_text("utf-8"), file.name).value["found_by"])
    steps = list(play(file))
    found = {rule for step in steps for rule in step.matched}
    assert wanted <= found, [
        (s.text, sorted(s.matched), [str(e) for e in s.judged.subject.action.effects]) for s in steps
    ]
