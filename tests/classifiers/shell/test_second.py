"""Two parsers read the same skeleton; real differences are reported, formatting never is."""

import pytest

from classifiers.shell import classify_shell
from classifiers.shell.bashlex_progress import progressing
from classifiers.shell.heredocs import lift
from classifiers.shell.second import second_reading
from classifiers.shell.treesitter import parse

AGREE = [
    "ls -la | grep x > out 2>&1 &",
    "a && b || c; (d; e) && { f; }",
    "for i in a b; do c \"$i\" 'd e'; done",
    "if [ -f x ]; then a; else b; fi",
    "f() { a b; }; f",
    "cat <<'E' | b\n$(rm x)\nE",
    'X=$(a b) c $(d "$(e)")',
    'while read -r l; do a "$l"; done < <(b)',
    "export A=b C='d e'",
    "declare -A m; m[a]=1; c d",
    'echo é "ü $(x)"',
]
NO_READING = [
    "",
    "# c",
    "[[ -f x ]]",
    "case a in b) c;; esac",
    "x=(1 2)",
    "echo $((1+2))",
    "a " * 400,
    """awk '{print "'$(hostname)'"}'""",
    "(" * 61 + ")" * 61,
]


@pytest.mark.parametrize("text", AGREE)
def test_both_parsers_read_the_same_commands(text):
    assert second_reading(text, parse(text)).agrees is True
    assert classify_shell(text).parsers == ("tree-sitter", "bashlex")


@pytest.mark.parametrize("text", NO_READING)
def test_what_bashlex_cannot_read_is_no_reading_and_no_difference(text):
    assert second_reading(text, parse(text)).agrees is None


ENDLESS = [
    "sed s'/${/x/' a.txt",
    "$'${a",
    "echo a':${@'>",
    "x=$'${'",
    '$"rm${"if',
    "'('!${1*$'b",
    "grep -c b'${'c *.sh",
]


@pytest.mark.parametrize("text", ENDLESS)
def test_an_unclosed_parameter_within_quotes_ends(text):
    assert classify_shell(text).effects is not None


def test_a_step_that_does_not_move_on_is_one_character_of_text():
    step = progressing(lambda _parser, text, at: ("node", len(text) if at else 0))
    assert step(None, "${a", 0) == (None, 1)
    assert step(None, "a${b}", 1) == ("node", 5)


def test_a_difference_makes_the_action_incomplete_with_both_readings():
    action = classify_shell("echo `rm -rf build` `ls`")
    assert [o.reason for o in action.opaque] == ["parsers_disagree"]
    assert "tree-sitter reads" in action.opaque[0].text
    assert action.destructive is True


BODIES = [
    ("cat <<E\na\nE\necho", ["a\n"]),
    ("cat <<-E\n\ta\n\tE\n", ["\ta\n"]),
    ("cat <<'E F'\na\nE F\n", ["a\n"]),
    ("cat <<A <<B\na\nA\nb\nB\n", ["a\n", "b\n"]),
    ('x "$(cat <<E\na\nE\n)"', ["a\n"]),
    ("cat <<E\nnever ends", ["never ends"]),
    ("echo $((1<<2)) '<<E' \"<<E\" # <<E\n", []),
    ("cat <<<word", []),
]


@pytest.mark.parametrize(("text", "bodies"), BODIES)
def test_here_documents_are_lifted_and_every_position_stays(text, bodies):
    skeleton, lifted = lift(text)
    assert [lifted[at].body for at in sorted(lifted)] == bodies
    assert len(skeleton) == len(text)
    assert all(text[slice(*here.span)] == here.body for here in lifted.values())
