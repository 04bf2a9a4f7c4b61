"""Programs by chance, read here and run by Python: what they would delete is among what was told.

Nothing is deleted: ``os.remove`` and ``Path.unlink`` write down what they are given, in a process of their own.
"""

import fnmatch
import json
import posixpath
import random
import subprocess
import sys

import pytest

from classifiers.code import classify_code
from classifiers.context import Context

VARIABLES = ["x", "y", "z"]
TEXTS = ["a", "b.txt", "/srv/q", "d/e", "c", "f.log"]
TESTS = ["True", "False", "x == 'a'", "len(y) > 2", "z.startswith('/')", "not z", "x in L"]
BEGIN = """import os, pathlib, functools
x, y, z = 'x1', 'y1', 'z1'
L = ['l1', 'l2']
D = {'k': 'k1', 'j': 'j1'}
def same(t): return t
"""
RUN = """import json, os, pathlib, signal, sys
gone = []
os.remove = lambda p: gone.append(str(p))
pathlib.Path.unlink = lambda self, missing_ok=False: gone.append(str(self))
def stop(*_): raise SystemExit
signal.signal(signal.SIGALRM, stop)
for text in json.load(sys.stdin):
    del gone[:]
    signal.setitimer(signal.ITIMER_REAL, 2)
    try: exec(text, {'__name__': '__main__'})
    except BaseException: pass
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps(gone[:200]))
"""


class Chance:
    """Writes a program; ``value`` and ``statement`` choose among what the language knows."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.count = 0

    def one(self, *choices):
        return self.random.choice(choices)

    def value(self, depth=0):
        v, w, text = self.one(*VARIABLES), self.one(*VARIABLES), repr(self.one(*TEXTS))
        plain = [
            text, text, v, v, f"{v} + {text}", f"f'{{{v}}}/{{{w}}}'", f"'%s-%s' % ({v}, {w})", f"{v}.replace('a', 'm')",
            f"{v}.strip('/')", f"{v}.upper()", f"{v}[1:]", "L[0]", "L[-1]", "D['k']", f"D.get('none', {text})",
            f"{v}.split('/')[-1]", f"{text} or {v}", f"os.path.basename({v})",
        ]  # fmt: skip
        if depth > 1:
            return self.one(*plain)
        inner, other = self.value(depth + 1), self.value(depth + 1)
        return self.one(
            *plain, f"os.path.join({inner}, {text})", f"'/'.join([{inner}, {text}])", f"({inner} if {self.one(*TESTS)} else {other})",
            f"(lambda q: q + '/l')({inner})", f"str(pathlib.Path({inner}) / 'p')", f"same({inner})", f"'{{}}/{{}}'.format({v}, {inner})",
        )  # fmt: skip

    def block(self, depth):
        lines = [line for _ in range(self.random.randint(1, 2)) for line in self.statement(depth + 1)]
        return ["    " + line for line in lines]

    def statement(self, depth=0):
        self.count += 1
        v, name, value, other = self.one(*VARIABLES), f"f{self.count}", self.value(), self.value()
        plain = [
            [f"os.remove({value})"], [f"os.remove({value})"], [f"pathlib.Path({value}).unlink(missing_ok=True)"],
            [f"{v} = {value}"], [f"{v} += 's'"], [f"x, y = {value}, {other}"], [f"L = [{value}, {other}]"],
            [f"L.append({value})"], [f"D['k'] = {value}"], [f"D = {{'k': {value}, 'j': {other}}}"],
            [f"[os.remove(e) for e in [{value}, {other}]]"], ["for e in (t + '.o' for t in L): os.remove(e)"],
            [f"list(map(os.remove, [{value}, {other}]))"], ["for e in D.values(): os.remove(e)"],
            [f"functools.partial(os.remove, {value})()"], [f"a, *rest = [{value}, {other}, 'r']", "for e in rest: os.remove(e)"],
        ]  # fmt: skip
        if depth > 2:
            return self.one(*plain)
        body, rest, test = self.block(depth), self.block(depth), self.one(*TESTS)
        method = [
            f"class C{name}:",
            "    def __init__(self, p): self.p = p",
            "    def go(self, t='w'): os.remove(self.p + t)",
        ]
        return self.one(
            *plain, [f"for {v} in [{value}, {other}]:", *body], [f"if {test}:", *body, "else:", *rest],
            ["try:", *body, "except Exception:", *rest], ["while True:", *body, "    break"],
            [f"def {name}({v}, q={value}):", *body, "    os.remove(q)", f"    return {v}", f"x = {name}({other})"],
            [*method, f"C{name}({value}).go()"], [f"def {name}(*a):", "    for e in a: os.remove(e)", f"{name}({value}, {other})"],
            [f"def {name}(n, q):", "    os.remove(q)", f"    if n: {name}(n - 1, q + 'r')", f"{name}(2, {value})"],
        )  # fmt: skip

    def program(self):
        return BEGIN + "\n".join(line for _ in range(self.random.randint(2, 5)) for line in self.statement()) + "\n"


def untold(text, gone):
    action = classify_code(text, "python", Context(max_ms=5_000))
    targets = [e.target for e in action.effects if e.action.value == "delete"]
    if not action.complete or None in targets:
        return []
    told = [posixpath.normpath(t) for t in targets]
    paths = [posixpath.normpath(p) for p in gone if p]
    return [p for p in paths if p != "." and not any(p == t or fnmatch.fnmatch(p, t) for t in told)]


@pytest.mark.parametrize("seed", range(6))
def test_what_python_deletes_is_told(seed):
    chance = Chance(seed)
    programs = [chance.program() for _ in range(25)]
    ran = subprocess.run(
        [sys.executable, "-I", "-c", RUN],
        input=json.dumps(programs),
        capture_output=True,
        check=True,
        text=True,
        timeout=200,
    )
    logs = map(json.loads, ran.stdout.splitlines())
    assert {text: missing for text, gone in zip(programs, logs, strict=True) if (missing := untold(text, gone))} == {}
