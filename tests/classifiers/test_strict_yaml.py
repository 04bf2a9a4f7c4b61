"""The strict loader: what it reads, what it refuses, and where it says so."""

import pytest

from classifiers.strict_yaml import MAX_DEPTH, StrictYamlError, load


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on: yes", {"on": "yes"}),
        ("no: off", {"no": "off"}),
        ("-1: {-r: 1}", {"-1": {"-r": 1}}),
        ("1: one", {"1": "one"}),
        ("null: x", {"null": "x"}),
        ("a: 010", {"a": "010"}),
        ("a: 1_000", {"a": "1_000"}),
        ("a: 0x1F", {"a": "0x1F"}),
        ("a: 12:30", {"a": "12:30"}),
        ("a: 2026-11-30", {"a": "2026-11-30"}),
        ("a: 2026-11-30T00:00:00Z", {"a": "2026-11-30T00:00:00Z"}),
        ("a: .inf", {"a": ".inf"}),
        ("a: +1", {"a": "+1"}),
        ("a: -1", {"a": -1}),
        ("a: 1.5", {"a": 1.5}),
        ("a: 1e3", {"a": "1e3"}),
        ("a: 5.2", {"a": 5.2}),
        ('a: "5"', {"a": "5"}),
        ("a: '~'", {"a": "~"}),
        ("a: ~", {"a": None}),
        ("a: ~/.ssh", {"a": "~/.ssh"}),
        ("a:", {"a": None}),
        ("a: true", {"a": True}),
        ("a: TRUE", {"a": "TRUE"}),
        ("a: y", {"a": "y"}),
        ("a: =", {"a": "="}),
        ("a: !!str 5", {"a": "5"}),
        ("x: &v [1]\ny: *v", {"x": [1], "y": [1]}),
        ("", None),
        ("# only a comment", None),
    ],
)
def test_plain_scalars_mean_what_they_look_like(text, value):
    assert load(text, "f.yaml").value == value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1: duplicate key 'a'; the first is at 1:1"),
        ("x: &x {a: 1}\ny:\n  <<: *x", "f.yaml:3:3: merge keys (<<) are not read; write the keys out"),
        ("a: !!python/name:os.system x", "f.yaml:1:4: tag !!python/name:os.system is not read; write the plain value"),
        ("a: !mine x", "f.yaml:1:4: tag !mine is not read; write the plain value"),
        ("a: !!binary aGk=", "f.yaml:1:4: tag !!binary is not read; write the plain value"),
        ("[1]: x", "f.yaml:1:1: a key is a plain word, not a list or mapping"),
        ("a: &a [*a]", "f.yaml:1:4: an alias points into itself"),
        ("a: *nowhere", "f.yaml:1:4: not YAML: found undefined alias"),
        ("a: [1", "f.yaml:2:1: not YAML: while parsing a flow sequence did not find expected ',' or ']'"),
        (
            "a: 1\n---\nb: 2",
            "f.yaml:2:1: not YAML: expected a single document in the stream but found another document",
        ),
        ("a: '\x07'", "f.yaml:1:1: not YAML: "),
        ("\ta: 1", "f.yaml:1:1: not YAML: "),
    ],
)
def test_what_is_refused_is_refused_with_its_place(text, said):
    with pytest.raises(StrictYamlError) as caught:
        load(text, "f.yaml")
    assert str(caught.value).startswith(said)


def test_every_duplicate_of_a_file_is_told_in_one_run():
    with pytest.raises(StrictYamlError) as caught:
        load("a: 1\na: 2\nb: {c: 1, c: 2}\nb: 3", "f.yaml")
    assert [(p.line, p.col) for p in caught.value.problems] == [(2, 1), (3, 11), (4, 1)]


def test_an_alias_bomb_ends_at_the_node_cap():
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 8)}]" for i in range(1, 9)]
    with pytest.raises(StrictYamlError, match="too many nodes"):
        load("\n".join(lines), "bomb.yaml", max_nodes=10_000)


def test_depth_and_size_are_capped():
    with pytest.raises(StrictYamlError, match="nested deeper"):
        load("[" * (MAX_DEPTH + 2) + "]" * (MAX_DEPTH + 2), "deep.yaml")
    with pytest.raises(StrictYamlError, match="not YAML"):
        load("[" * 50_000, "deep.yaml")
    with pytest.raises(StrictYamlError, match="split it"):
        load("a: " + "x" * 100, "big.yaml", max_bytes=50)


def test_every_node_has_a_line_and_a_column():
    doc = load("rules:\n  - id: one\n    match: {tools: [a, b]}\n", "p.yaml")
    assert doc.at("rules", 0, "id") == "p.yaml:2:9"
    assert doc.at_key("rules", 0, "id") == "p.yaml:2:5"
    assert doc.at("rules", 0, "match", "tools", 1) == "p.yaml:3:24"
    assert doc.at("rules", 0, "absent", "deeper") == "p.yaml:2:5", "the nearest node that exists"
    assert str(doc.problem("bad", "rules", key=True)) == "p.yaml:1:1: bad"
