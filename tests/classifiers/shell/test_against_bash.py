"""Scripts by chance, read here and run by bash: what bash would delete is among what was told.

Nothing is deleted: ``rm`` is a function that writes its arguments to a pipe, and PATH holds no program. A script is told
in full when its answer is complete; a target nobody knows stands for any path.
"""

import fnmatch
import os
import posixpath
import random
import shutil
import subprocess

import pytest

from classifiers.context import Context
from classifiers.shell import classify_shell

VARIABLES = ["X", "Y", "Z"]
TEXTS = ["a", "b", "c.txt", "d1", "/srv/q", "p/q", "x y", "n1"]
LOGS = 'rm() { local a; for a in "$@"; do printf "%s\\0%s\\0" "$PWD" "$a" >&9; done; }; '
TESTS = ["true", "false", '[ -n "$X" ]', "[[ $Y == a* ]]", '[ "$X" = a ]', "((1<2))", "! true", "(( ${#A[@]} > 1 ))"]


class Chance:
    """Writes a script; ``value`` and ``statement`` choose among what the shell knows."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, *choices):
        return self.random.choice(choices)

    def text(self):
        text = self.one(*TEXTS)
        return self.one(f'"{text}"', f"'{text}'", text.replace(" ", "\\ "))

    def value(self):
        v, w = self.one(*VARIABLES), self.one(*VARIABLES)
        return self.one(
            self.text(), self.text(), f'"${v}"', f"${v}/e", f"${{{v}:-u}}", f"${{{v}%/*}}", f"${{{v}##*/}}",
            f"${{{v}/a/m}}", f"${{{v}^^}}", f"${{{v}:1}}", f"${{#{v}}}", f"$(echo {self.text()})", "$((1+2))",
            "x{1,2}", "$'a\\x62'", '"${A[0]}"', '"${A[@]}"', '"$1"', '"$@"', f"${v}-${w}/t", 'a$"b"', "\\ q",
        )  # fmt: skip

    def block(self, depth):
        return "; ".join(self.statement(depth + 1) for _ in range(self.random.randint(1, 2)))

    def statement(self, depth=0):
        v, test = self.one(*VARIABLES), self.one(*TESTS)
        plain = [
            f"rm {self.value()}", f"rm {self.value()} {self.value()}", f"{v}={self.value()}", f"{v}+=s",
            f"A=({self.value()} {self.text()})", f"A+=({self.value()})", f"export {v}={self.text()}", f"unset {v}",
            f"set -- {self.value()} {self.value()}", "shift", f"read -r {v} <<< {self.value()}", 'eval "rm $X"',
            f"printf -v {v} '%s-k' {self.text()}", f"cd d1 && rm {self.value()}", f"(cd d1; rm {self.value()})",
            f'declare -A M=([k]={self.text()} [j]=w); rm "${{M[k]}}"', f'declare -n r={v}; r=q; rm "${v}"; unset -n r',
            "i=0; while [ $i -lt 2 ]; do rm w$i; i=$((i+1)); done", 'for k in "${!A[@]}"; do rm k$k; done',
            'while (($#)); do rm "$1"; shift; done', f'x=$(rm {self.value()}; echo o); rm "$x"',
        ]  # fmt: skip
        if depth > 2:
            return self.one(*plain)
        inner, other = self.block(depth), self.block(depth)
        return self.one(
            *plain, f"for {v} in {self.value()} {self.value()}; do {inner}; done", f"{test} && {{ {inner}; }}",
            f"if {test}; then {inner}; else {other}; fi", f"case {self.value()} in a*) {inner};; *) {other};; esac",
            f"f{depth}() {{ local {v}={self.text()}; {inner}; }}; f{depth} {self.value()}", f"( {inner} )",
            f'g{depth}() {{ {inner}; rm "$1"; }}; g{depth} {self.value()}', f"while :; do {inner}; break; done",
            f'echo {self.value()} | while read -r {v}; do rm "${v}"; done', f"trap 'rm t1' EXIT; {inner}",
        )  # fmt: skip

    def script(self):
        return "; ".join(self.statement() for _ in range(self.random.randint(2, 5)))


def deleted_by_bash(script, folder):
    """The paths bash's ``rm`` was given, from the folder the script began in."""
    reading, writing = os.pipe()
    try:
        subprocess.run(
            ["/bin/bash", "--norc", "-c", f"exec 9>&{writing}; PATH=/nowhere; {LOGS}{script}"],
            cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(writing,), timeout=20, env={"HOME": "/home/u"}, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        parts = pipe.read(60_000).decode("utf-8", "replace").split("\0")
    return [posixpath.normpath(posixpath.join(*pair)) for pair in zip(parts[::2], parts[1::2], strict=False) if pair[1]]


def untold(script, folder):
    action = classify_shell(script, Context(cwd=str(folder), max_ms=5_000))
    targets = [e.target for e in action.effects if e.action.value == "delete"]
    if not action.complete or None in targets:
        return []
    told = [posixpath.normpath(t) if t.startswith("/") else f"{folder}*/{posixpath.normpath(t)}" for t in targets]
    gone = deleted_by_bash(script, folder)
    return [path for path in gone if not any(path == t or fnmatch.fnmatch(path, t) for t in (*told, *targets))]


@pytest.mark.skipif(shutil.which("bash") is None, reason="asks bash itself")
@pytest.mark.parametrize("seed", range(8))
def test_what_bash_deletes_is_told(seed, tmp_path):
    (tmp_path / "d1").mkdir()
    chance = Chance(seed)
    scripts = [chance.script() for _ in range(25)]
    assert {s: missing for s in scripts if (missing := untold(s, str(tmp_path)))} == {}
