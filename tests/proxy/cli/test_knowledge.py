"""``onlooker knowledge`` shows what is known of a program, and what a corpus still lacks."""

import json

from click.testing import CliRunner

from proxy.cli.knowledge import COMMAND


def run(*arguments):
    return CliRunner().invoke(COMMAND, list(arguments))


def test_an_effect_with_tags_is_shown_with_them():
    said = run("show", "ttyd")
    assert "public_exposure" in said.output


def test_a_subcommand_is_shown_with_its_file_and_what_its_options_change():
    said = run("show", "git", "push")
    assert said.exit_code == 0
    assert said.output.splitlines()[0].startswith("push  classifiers/commands/vcs/git.yaml:")
    assert "-f|--force: sets destructive=True" in said.output


def test_a_program_nobody_described_is_said_and_exits_1():
    said = run("show", "no-such-program")
    assert (said.exit_code, said.output) == (1, "no-such-program: not known\n")


def test_coverage_counts_and_names_what_is_missing(tmp_path):
    lines = [{"command": "ls"}, {"command": "frobnicate --all"}, {"command": "dir", "shell": "cmd"}]
    (tmp_path / "some.jsonl").write_text("\n".join(map(json.dumps, lines)))
    said = run("coverage", str(tmp_path))
    assert said.output.splitlines()[0] == "1 of 2 commands complete (50.0 %)"
    assert "frobnicate" in said.output
