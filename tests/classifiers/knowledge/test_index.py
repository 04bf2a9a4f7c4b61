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
