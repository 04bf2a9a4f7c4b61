"""The starter library: one rule a file, named by its id, tested three ways, tags of pinned tables, quiet lints."""

import pytest

from policies.inline import BASE, run
from policies.policy_set import load
from policies.source import RULES, STARTER, gather

COMPILED = load([STARTER], now=BASE).policies[0].compiled
# What is asked of these is always known, so nothing can be undetermined.
ALWAYS_KNOWN = {"exec.dynamic-code", "exec.unclassifiable"}


def test_the_library_loads_without_a_single_remark():
    assert [str(d) for d in gather(STARTER, BASE).found] == []


def test_every_file_holds_the_rule_it_is_named_for():
    assert COMPILED is not None
    assert sorted(COMPILED.by_id) == sorted(p.stem for p in RULES.glob("*.yaml"))
    assert len(COMPILED.by_id) >= 65


@pytest.mark.parametrize("name", sorted(p.stem for p in RULES.glob("*.yaml")))
def test_a_starter_rule_says_enough_and_its_tests_hold(name):
    rule = COMPILED.by_id[name].rule
    assert rule.description.endswith(".")
    assert rule.message
    assert rule.tags
    expected = {t.expect for t in rule.tests}
    assert expected >= {"match", "no_match"} | (set() if name in ALWAYS_KNOWN else {"undetermined"})
    assert [str(f) for t in rule.tests if (f := run(COMPILED, rule, t))] == []
