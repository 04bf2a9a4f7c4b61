"""The tree of a rule agrees with the evaluator, says where each leaf is, and what would change the answer."""

import random

from policies.evaluate import Compiled
from policies.explain import advice, explain, lines, turns
from policies.inline import BASE, subject_of
from policies.policy_set import load
from policies.source import STARTER, check_text
from policies.state import SessionState
from policies.verdict import Result
from tests.policies.test_oracles import compiled_rules, random_action

TEXT = """policy: 1
id: acme.x
rules:
  - id: acme.r
    match:
      effects: [{domain: filesystem, action: delete, target: /srv/**}]
      where: {agent.team: {not: dba}}
    exceptions:
      - {id: drill, reason: x, until: "2030-01-01T00:00:00Z", match: {agents: [ops-*]}}
"""


def tree_of(step):
    compiled = Compiled(check_text(TEXT, "p.yaml", BASE).policy)
    view = compiled.view(subject_of(step))
    outcome = compiled.outcomes(view, SessionState()).get("acme.r")
    compiled.rules[0].prepare()
    return explain(compiled.rules[0], view, outcome)


def test_each_leaf_is_true_false_or_unknown_with_its_place():
    step = {"tool": "bash", "agent": {"id": "coder"}, "effects": ["delete filesystem:/srv/a"]}
    assert list(lines(tree_of(step))) == [
        "? acme.r: undetermined: unknown  (p.yaml:4:9)",
        "  + one effect matches: true  (p.yaml:6:7)",
        "    + effect 0: delete filesystem:/srv/a: true  (p.yaml:6:17)",
        "      + domain is filesystem: true  [filesystem]  (p.yaml:6:18)",
        "      + action is delete: true  [delete]  (p.yaml:6:38)",
        "      + target is /srv/**: true  [/srv/a]  (p.yaml:6:54)",
        "  ? agent.team is not dba: unknown  [not known]  (p.yaml:7:15)",
        "  + exception drill until 2030-01-01: true  (p.yaml:9:9)",
        "    - agent.id is ops-*: false  [coder]  (p.yaml:9:71)",
    ]


def test_what_would_change_the_answer_is_said():
    step = {"tool": "bash", "agent": {"id": "coder"}, "effects": ["delete filesystem:/srv/a"]}
    assert advice(tree_of(step)) == ["it would change if 'agent.team is not dba' were known (p.yaml:7:15)"]
    step["agent"]["team"] = "dev"
    assert "it would change if 'target is /srv/**' were not so (p.yaml:6:54)" in advice(tree_of(step))
    step["effects"] = ["delete filesystem:/tmp/a"]
    assert advice(tree_of(step)) == ["it would change if 'target is /srv/**' were so (p.yaml:6:54)"]


def test_the_tree_agrees_with_the_evaluator_on_random_rules():
    r = random.Random(5)
    for _ in range(10):
        _, compiled = compiled_rules(r, 20)
        for _ in range(10):
            view = compiled.view(subject_of({**random_action(r), "complete": True}))
            outcomes = compiled.outcomes(view, SessionState())
            for item in compiled.rules:
                item.ready or item.prepare()
                outcome = outcomes.get(item.rule.id)
                node = explain(item, view, outcome)
                values = [c.value for c in node.children]
                both = False if False in values else None if None in values else True
                assert both is node.value, "\n".join(lines(node))


def test_every_rule_of_the_library_can_be_explained():
    compiled = load([STARTER], now=BASE).policies[0].compiled
    assert compiled is not None
    for item in compiled.rules:
        for test in item.rule.tests:
            view = compiled.view(subject_of(test.steps[-1]))
            outcome = compiled.outcomes(view, SessionState(), {item.rule.id}).get(item.rule.id)
            if item.rule.match is not None and not item.ready:
                item.prepare()
            node = explain(item, view, outcome)
            assert node.value is {Result.MATCH: True, Result.UNDETERMINED: None}.get(
                outcome.result if outcome else None, False
            )
            assert turns(node) is not None
            assert all("(" in line for line in lines(node))
