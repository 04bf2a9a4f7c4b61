"""What a variable holds where it is used: what bash would delete is among what is told, or told to be unknown (None)."""

import pytest

from classifiers.context import Context
from classifiers.shell import classify_shell

SCRIPTS = {
    # functions that call themselves
    'del() { rm "$1"; shift; [ $# -gt 0 ] && del "$@"; }; del a b c': {"a", "b", "c"},
    "f() { [ $1 = 0 ] && return; rm x$1; f 0; }; f 1": {"x1", "x0"},
    'walk() { for d in "$1"/*; do if [ -d "$d" ]; then walk "$d"; else rm "$d"; fi; done; }; walk src': {
        "src/*", "src/*/*", "src/*/*/*", None,
    },
    "f() { f() { rm b; }; rm a; }; f; f": {"a", "b"},
    "g() { g() { rm b; }; g; rm a; }; g": {"a", "b"},
    # after a loop its variable is not what it was before
    "X=old; for X in a b; do :; done; rm $X": {None},
    "X=q; while read -r X; do :; done <<< q; rm $X": {None},
    "X=old; for i in a; do :; done; rm $X": {"old"},
    # a loop comes again with what its turns left
    "set -- a b c; while (($#)); do rm $1; shift; done": {"a", "b", "c"},
    'f() { while [ -n "$1" ]; do rm $1; shift; done; }; f a b': {"a", "b"},
    "i=0; while [ $i -lt 3 ]; do rm f$i; i=$((i+1)); done": {"f0", None},
    "x=a; while read -r l; do rm $x; x=$l; done < list": {"a", None},
    "x=a; for i in $(ls); do rm $x; x=b; done": {"a", None},
    "x=a; for i in 1 2; do rm $x; x=b$x; done": {"a", "ba"},
    "for f in *.log; do rm $f; done": {"*.log"},
    "i=1; ((i++)); rm f$i": {None},
    "i=1; let i=i+1; rm f$i": {None},
    "a=1; ((a==1)) && rm f$a": {"f1"},
    # the folder after a way that may not be taken
    "cd d && rm a; rm b": {"d/a", "d/b"},
    "cd /w; [ -d d ] && cd d; rm a": {"a"},
    "cd /w; if q; then cd d; fi; rm a": {"a"},
    "cd /w; (cd d; rm a); rm b": {"/w/d/a", "/w/b"},
    "cd /w; for d in */; do cd $d; rm a; cd ..; done; rm b": {"/w/*/a", "/w/b"},
    # arrays
    'declare -A s=([web]=2 [api]=4); for k in "${!s[@]}"; do rm $k; done': {"web", "api"},
    'a=(x y); for i in "${!a[@]}"; do rm f$i; done': {"f0", "f1"},
    'declare -A M=([k]=$(echo "x y") [j]=w); rm "${M[k]}"': {"x y"},
    'M=([1]=a b [5]="c d"); rm "${M[5]}"': {"c d"},
    # other names
    "declare -n ref=Y; ref=q; rm $Y": {"q"},
    "Y=a; declare -n ref=Y; ref=q; unset -n ref; ref=z; rm $Y $ref": {"q", "z"},
    "set_to() { local -n out=$1; out=b; }; X=a; set_to X; rm $X": {"b"},
    # operators on values of which a part is not known
    "Y=$U-b; rm ${#Y}": {None},
    "Y=$U-b; rm ${Y:1}": {None},
    "Y=$U/a; rm ${Y#*/}": {None},
    "Y=$U/a; rm ${Y##*/}": {"a"},
    "Y=a/$U; rm ${Y%/*}": {None},
    "Y=a/$U; rm ${Y%%/*}": {"a"},
    "Y=abca; rm ${Y/#a/x} ${Y/%a/y} ${Y/#b/x}": {"xbca", "abcy", "abca"},
    'rm ""': set(),
}  # fmt: skip


@pytest.mark.parametrize(("script", "expected"), SCRIPTS.items(), ids=[s[:60] for s in SCRIPTS])
def test_what_is_deleted_is_told(script, expected):
    action = classify_shell(script, Context(max_ms=5_000))
    assert {e.target for e in action.effects if e.action.value == "delete"} == expected
    assert action.complete, action.opaque


@pytest.mark.parametrize("script", [":(){ :|:& };:", "f() { f; }; f", "f() { f a & f a; }; f a"])
def test_a_call_that_comes_again_unchanged_has_no_end(script):
    effects = classify_shell(script).effects
    assert any("availability" in e.tags for e in effects)


def test_a_call_with_other_arguments_is_no_endless_one():
    effects = classify_shell('del() { rm "$1"; shift; [ $# -gt 0 ] && del "$@"; }; del a b').effects
    assert not any("availability" in e.tags for e in effects)
