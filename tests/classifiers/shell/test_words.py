"""Words are put together as bash puts them together, whatever the grammar cuts them into."""

import shutil
import subprocess

import pytest

from classifiers.context import Context
from classifiers.shell import classify_shell

BEFORE = "A=/srv; C=xy; N=; set -- pos; "
WORDS = {
    "$A-b$C/d": ["/srv-bxy/d"],
    "${A}-b$C/d": ["/srv-bxy/d"],
    "$A:b$C/d": ["/srv:bxy/d"],
    "$A=b$C/d=$C": ["/srv=bxy/d=xy"],
    "x$A-$C-$C": ["x/srv-xy-xy"],
    "$A-b$1": ["/srv-bpos"],
    "$A-b$12/x": ["/srv-bpos2/x"],
    "$A/$11": ["/srv/pos1"],
    "$A-b$C'q r'": ["/srv-bxyq r"],
    '$A-b$C"$C"/d': ["/srv-bxyxy/d"],
    "$A-b$C/{d,e}": ["/srv-bxy/d", "/srv-bxy/e"],
    r"$A-b\$C/d": ["/srv-b$C/d"],
    r"$A-b\\$C/d": [r"/srv-b\xy/d"],
    "$A-b$/d": ["/srv-b$/d"],
    "$A-b$": ["/srv-b$"],
    'a$"b"c': ["abc"],
    '$"a"b': ["ab"],
    '-b$"y"$C': ["-byxy"],
    '${C}-$"y"': ["xy-y"],
    r"\ x": [" x"],
    r"a\ b\ c": ["a b c"],
    r"$A\ x": ["/srv x"],
    r"$((1+2))\ x": ["3 x"],
    r"a\\\ b": [r"a\ b"],
    r"'a\ b'": [r"a\ b"],
    r'"a\ b"': [r"a\ b"],
    "$A$N/d": ["/srv/d"],
    "''$A''": ["/srv"],
}


@pytest.mark.parametrize(("word", "expected"), WORDS.items(), ids=WORDS)
def test_a_word_is_the_path_it_expands_to(word, expected):
    action = classify_shell(f"{BEFORE}cat -- {word}", Context(max_ms=5_000))
    assert [e.target for e in action.effects] == expected
    assert action.complete, action.opaque


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("for i in $A-b$C/d e; do rm $i; done", ["/srv-bxy/d", "e"]),
        ("X=($A-b$C/d e); rm ${X[0]}", ["/srv-bxy/d"]),
        ("X=$A-b$C/d; rm $X", ["/srv-bxy/d"]),
        ("rm < $A-b$C/d q", ["/srv-bxy/d", "q"]),
        ("rm q > $A-b$C/d", ["/srv-bxy/d", "q"]),
        ('r$"m" $A-b$C/d', ["/srv-bxy/d"]),
        ("rm$IFS-rf$IFS/srv/d", ["/srv/d"]),
    ],
)
def test_a_word_is_whole_wherever_it_stands(command, expected):
    action = classify_shell(BEFORE + command, Context(max_ms=5_000))
    assert sorted(e.target for e in action.effects) == sorted(expected)
    assert action.complete, action.opaque


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash itself")
def test_bash_expands_these_words_so():
    printed = "".join(f"printf '%s\\0' {word}; printf '\\0'; " for word in WORDS)
    said = subprocess.run(["bash", "--norc", "-c", BEFORE + printed], capture_output=True, check=True, text=True).stdout
    assert [group.split("\0") for group in said.removesuffix("\0\0").split("\0\0")] == list(WORDS.values())
