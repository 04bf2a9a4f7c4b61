"""What an agent declares of itself: bounded, held against what is in force, refused where it widens."""

from __future__ import annotations

import pytest

from policies.declaration import MAX_BYTES, Why, compare, is_declaration, read, weigh
from policies.objectives import read_text

OPERATOR = """objective: 1
id: op
scope:
  tools: [Bash, Edit, "mcp__github__*"]
  effects:
    - {domain: filesystem, action: read}
    - {domain: filesystem, action: [create, modify, delete], target: ["/home/dev/shop/**"], not_target: ["/home/dev/shop/deploy/**"]}
    - {domain: packages, action: [read, create], target: ["pypi:*"]}
  hosts: ["*.acme.example"]
forbidden: [{id: no-deploy, because: said so, effects: [{domain: filesystem, action: modify, target: /home/dev/shop/deploy/**}]}]
budget: {deletes: 5}
"""


def operator(more=""):
    made, found = read_text(OPERATOR + more, "op.yaml")
    assert not found
    return made


def said(*effects, **more):
    return {"statement": "what I do", "scope": {"effects": list(effects)}, **more}


def modify(target, action="modify"):
    return {"domain": "filesystem", "action": action, "target": target}


@pytest.mark.parametrize(
    ("declares", "wide", "unclear"),
    [
        (said(modify("/home/dev/shop/src/**")), 0, 0),
        (said(modify("/home/dev/shop/**")), 0, 0),
        (said(modify("/home/dev/shop/README.md")), 0, 0),
        (said(modify({"under": "/home/dev/shop/src"})), 0, 0),
        (said({"domain": "filesystem", "action": "read"}), 0, 0),
        (said({"domain": "packages", "action": "read", "target": "pypi:django"}), 0, 0),
        ({"statement": "x", "scope": {"hosts": ["api.acme.example"]}}, 0, 0),
        (said(modify("/home/dev/**")), 1, 0),
        (said(modify("/**")), 1, 0),
        (said(modify("/etc/passwd")), 1, 0),
        (said(modify("~/.ssh/**")), 0, 1),
        (said({"domain": "filesystem", "action": "modify"}), 1, 0),
        (said({"domain": "filesystem"}), 1, 0),
        (said({"action": "modify"}), 1, 0),
        (said({"domain": "secrets", "action": "read"}), 1, 0),
        (said({"domain": "cloud", "action": "delete", "target": "aws:*:*:s3:prod/*"}), 1, 0),
        (said({"domain": "packages", "action": "create", "target": "npm:left-pad"}), 1, 0),
        (said({"domain": "packages", "action": "create"}), 1, 0),
        ({"statement": "x", "scope": {"hosts": ["evil.example"]}}, 1, 0),
        ({"statement": "x", "scope": {"run": ["tests"], "tools": ["*"]}}, 2, 0),
        ({"statement": "x", "scope": {"effects": [modify("/home/dev/shop/a")], "tools": ["mcp__github__list"]}}, 0, 0),
        ({"statement": "x", "scope": {"effects": [modify("/home/dev/shop/a")]}, "budget": {"deletes": 6}}, 1, 0),
        ({"statement": "x", "scope": {"effects": [modify("/home/dev/shop/a")]}, "budget": {"deletes": 5}}, 0, 0),
        (said(modify({"suffix": ".py"})), 0, 1),
        (said(modify("**/a.py")), 0, 1),
        (said(modify("/home/dev/shop/a"), modify("/srv/x"), modify("/srv/y")), 2, 0),
    ],
)
def test_a_scope_is_held_against_the_one_in_force(declares, wide, unclear):
    offer = read(declares)
    assert offer.problem == ""
    assert compare(offer.objective, operator()) == (wide, unclear)


def test_where_home_is_known_a_path_below_it_is_told():
    assert compare(read(said(modify("~/.ssh/**"))).objective, operator(), "/home/dev") == (1, 0)
    assert compare(read(said(modify("~/shop/src/**"))).objective, operator(), "/home/dev") == (0, 0)


def test_what_widens_is_refused_and_what_narrows_is_taken_up():
    narrow, wide = said(modify("/home/dev/shop/src/**")), said(modify("/home/dev/**"))
    assert weigh(narrow, operator(), None).taken is not None
    refused = weigh(wide, operator(), None)
    assert (refused.refused, refused.taken, refused.wider, refused.beside) == (Why.WIDER, None, 1, "op")


def test_a_later_declaration_may_not_take_back_an_earlier_one():
    first = weigh(said(modify("/home/dev/shop/src/**")), operator(), None).taken
    assert weigh(said(modify("/home/dev/shop/src/a/**")), operator(), first).taken is not None
    assert weigh(said(modify("/home/dev/shop/**")), operator(), first).refused is Why.WIDER_THAN_DECLARED
    assert weigh(said(modify({"suffix": ".py"})), None, first).refused is Why.WIDER_THAN_DECLARED
    again = weigh(said(modify("/home/dev/shop/src/**")), operator(), first)
    assert again.taken.hash == first.hash


def test_where_work_may_not_be_delegated_nothing_is_taken_up():
    offer = weigh(said(modify("/home/dev/shop/a")), operator("delegation: none\n"), None)
    assert (offer.refused, offer.wider) == (Why.DELEGATION, 0)


DEEP = {}
for _ in range(3000):
    DEEP = {"any": [DEEP]}

MALFORMED = {
    "no object": (["x"], "expected an object"),
    "nothing": (None, "expected an object"),
    "no statement": ({"scope": {"run": ["tests"]}}, "statement"),
    "a statement that is none": ({"statement": 7, "scope": {"run": ["tests"]}}, "statement"),
    "a long statement": ({"statement": "x" * 2001, "scope": {"run": ["tests"]}}, "statement"),
    "no scope": ({"statement": "x"}, "scope"),
    "a scope that allows anything": ({"statement": "x", "scope": {"tools": ["*"]}}, "scope"),
    "a scope as text": ({"statement": "x", "scope": '{"run": ["tests"]}'}, "scope"),
    "a binding": ({"statement": "x", "scope": {"run": ["tests"]}, "bind": [{"agent": "*"}]}, "unknown key"),
    "who declared it": (
        {"statement": "x", "scope": {"run": ["tests"]}, "declared_by": {"kind": "human"}},
        "unknown key",
    ),
    "delegation": ({"statement": "x", "scope": {"run": ["tests"]}, "delegation": "narrow"}, "unknown key"),
    "an id": ({"statement": "x", "scope": {"run": ["tests"]}, "id": "op"}, "unknown key"),
    "no such domain": (said({"domain": "files"}), "did you mean"),
    "a list there is none": (said(modify("$prod")), "declared:"),
    "too large": (said(modify("/" + "a" * MAX_BYTES)), "over 32768 bytes"),
    "too many": ({"statement": "x", "scope": {"effects": [{"domain": "filesystem"}] * 101}}, "over 100 entries"),
    "too many patterns": (said(modify(["/a"] * 401)), "400 patterns"),
    "half a character": (said(modify("/\ud800")), "JSON"),
    "a control character": (said(modify("/a\x9b")), "declared:"),
    "too deep": ({"statement": "x", "scope": DEEP}, ""),
    "not JSON": ({"statement": "x", "scope": {"run": {"tests"}}}, "JSON"),
    "no number": ({"statement": "x", "scope": {"run": ["tests"]}, "budget": {"deletes": float("nan")}}, "deletes"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_cannot_be_read_is_refused_in_one_bounded_sentence(name):
    value, problem = MALFORMED[name]
    offer = weigh(value, operator(), None)
    assert (offer.refused, offer.taken) == (Why.MALFORMED, None)
    assert problem in offer.problem
    assert 0 < len(offer.problem) <= 300


def test_comparing_stops_at_a_limit_and_says_that_the_rest_is_unclear():
    many = [modify([f"/home/dev/shop/{i}/{j}" for j in range(40)], ["create", "modify", "delete"]) for i in range(10)]
    wide = [{"action": ["create", "modify", "delete"]}] * 60
    assert compare(read(said(*many)).objective, operator()) == (0, 0)
    made = read(said(*many, *many[:0], *wide)).objective
    wider, unclear = compare(made, operator())
    assert (wider + unclear, wider > 0) == (60, True)


@pytest.mark.parametrize(
    ("name", "server", "ours"),
    [
        ("mcp__onlooker__declare_objective", None, True),
        ("onlooker_declare_objective", None, True),
        ("mcp_onlooker_declare_objective", None, True),
        ("onlooker__declare_objective", None, True),
        ("declare_objective", "onlooker", True),
        ("declare_objective", None, True),
        ("declare_objective", "other", False),
        ("mcp__other__declare_objective", None, False),
        ("mcp__onlooker__declare_objectives", None, False),
        ("undeclare_objective", None, False),
        ("mcp__onlooker__objective_status", None, False),
    ],
)
def test_our_tool_is_known_by_the_names_agents_give_it(name, server, ours):
    assert is_declaration(name, server) is ours
