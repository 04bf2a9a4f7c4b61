"""A row of several options is one option to conditions and templates: naming a part is a mistake the check tells of."""

import pytest

from classifiers.knowledge.apart import told_apart
from classifiers.knowledge.compile import compile_file
from classifiers.knowledge.index import sources

TOOL = 'family: f\nsource: s\ncommands:\n  "tool":\n    options: {{{options}}}\n    effects: ["read filesystem:a {condition}"]\n'


@pytest.mark.parametrize(
    ("options", "condition", "wrong"),
    [
        ('"-r|-c": {}', "when=-r", ["tool: a condition on -r holds for -c too: one row holds them"]),
        ('"--all|--json": {}', "unless=--all", ["tool: a condition on --all holds for --json too: one row holds them"]),
        ('"-r": {}, "-c": {}', "when=-r", []),
        ('"-o|--output": {value: true}', "unless=-o", []),
        ('"--in|--input|-i": {value: true}', "when=-i|--in|--input", []),
        ('"--in|--input": {value: true, name: in}', "when=--in", []),
    ],
)
def test_a_condition_names_a_row_of_options_whole_or_not_at_all(options, condition, wrong):
    programs = compile_file(TOOL.format(options=options, condition=condition), "a.yaml")
    assert [sentence for _, sentence in told_apart(programs)] == wrong


@pytest.mark.parametrize(
    ("options", "target", "wrong"),
    [
        ('"--topic|--server": {value: true}', "{topic}", ["tool: {topic} holds for --server too: one row holds them"]),
        ('"--topic|--server": {value: true}', "{topic,server:-*}", []),
        ('"--topic": {value: true}, "--server": {value: true}', "{topic}", []),
        ('"-t|--topic": {value: true}', "{topic!lower}", []),
        ('"--topic|--server": {value: true, name: topic}', "{topic}", []),
        ('"--all|--raw": {}', "{raw}", []),
    ],
)
def test_a_value_is_taken_from_a_row_of_options_whole_or_not_at_all(options, target, wrong):
    text = TOOL.format(options=options, condition="").replace("filesystem:a ", f"filesystem:{target}")
    assert [sentence for _, sentence in told_apart(compile_file(text, "a.yaml"))] == wrong


def test_a_row_of_the_program_binds_its_subcommands_too():
    text = TOOL.format(options='"-r|-c": {}', condition="unless=-x")
    text += '    subcommands: {"go": {operands: [{role: x, when: "-c"}]}}\n'
    assert [(line, s.split(":")[0]) for line, s in told_apart(compile_file(text, "a.yaml"))] == [(7, "tool go")]


def test_no_shipped_description_tells_options_of_one_row_apart():
    found = [(name, *mistake) for name, text in sources().items() for mistake in told_apart(compile_file(text, name))]
    assert found == []


def test_a_session_names_a_row_of_options_whole_or_not_at_all():
    text = 'family: f\nsource: s\ncommands:\n  "tool": {options: {"-d|-A": {}}, effects: [], session: "-d|piped"}\n'
    sentences = [sentence for _, sentence in told_apart(compile_file(text, "a.yaml"))]
    assert sentences == ["tool: a condition on -d holds for -A too: one row holds them"]
