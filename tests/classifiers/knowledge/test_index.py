"""The shipped knowledge compiles whole, loads quickly from its cache and survives a broken one."""

from classifiers.knowledge import index
from classifiers.knowledge.index import compile_all, compile_good, sources

GOOD = 'family: f\nsource: s\ncommands:\n  "aa": {effects: []}\n'


def test_every_shipped_command_file_compiles_and_no_program_is_told_twice():
    assert "rm" in compile_all(sources())


def test_one_bad_file_costs_only_its_own_programs():
    programs, problems = compile_good(
        {"a.yaml": GOOD, "b.yaml": 'family: f\nsource: s\ncommands:\n  "bb": {efects: []}\n'}
    )
    assert set(programs) == {"aa"}
    assert any("did you mean 'effects'" in str(p) for p in problems)


def test_a_program_described_twice_is_named_with_both_places():
    _, problems = compile_good({"a.yaml": GOOD, "b.yaml": GOOD})
    assert str(problems[0]) == "b.yaml:4:1: 'aa' is already described in a.yaml"


def test_a_broken_or_foreign_cache_is_not_read(tmp_path):
    file = tmp_path / "commands-0.json"
    file.write_text("{", "utf-8")
    assert index._read(file) is None
    file.write_text('{"aa":["a.yaml","{}"]}', "utf-8")
    assert index._read(file) == {"aa": ("a.yaml", "{}")}
    tmp_path.chmod(0o777)
    assert index._read(file) is None


def _two(second: str) -> index.Knowledge:
    text = (
        "family: f\nsource: s\ncommands:\n"
        '  "aa": {takes_value: "-n", options: {"-o": {value: true, effects: ["modify filesystem:{}"]}}, operands: ["read filesystem:{}"]}\n'
        f'  "bb": {{same_as: aa, {second}}}\n'
        '  "cc": {same_as: bb, takes_value: "-z"}\n'
    )
    return index.Knowledge(compile_all({"a.yaml": text}))


def test_options_told_beside_same_as_join_those_of_the_other_program():
    taught = _two('takes_value: "-x", options: {"-n": {}}')
    node = taught.lookup("bb")
    assert node is not None
    assert {s: o.values for s, o in node.options.items()} == {"-n": 0, "-o": 1, "-x": 1}
    assert node.options["-o"].meaning.effects
    assert len(node.slots) == 1


def test_same_as_follows_a_program_that_is_itself_the_same_as_another():
    node = _two('takes_value: "-x"').lookup("cc")
    assert node is not None
    assert set(node.options) == {"-n", "-o", "-x", "-z"}
    assert len(node.slots) == 1


def test_a_row_of_its_own_is_vouched_for_though_it_starts_from_a_row_of_many():
    text = 'family: f\nsource: s\ncommands:\n  "a|b|c|d|e|f": {strict: options, effects: []}\n  "g": {same_as: a, takes_value: "-n"}\n'
    taught = index.Knowledge(compile_all({"a.yaml": text}))
    nodes = [taught.lookup(p) for p in ("a", "f", "g")]
    assert [n and n.many for n in nodes] == [True, True, False]
