"""No text brings the interpreter down: the grammars are C code, so each is tried in a process of its own.

Of the grammars only bash's calls the table-bound ctype(3) functions (``nm -D``; the rest use iswspace(3) and its kin, which
take any code point); it is never given a character outside ASCII (``shell/treesitter``).
"""

import subprocess
import sys

import pytest

TRIAL = r"""
import random, sys
from classifiers.context import Context
from classifiers.surface import CallParts, surface_named

language = sys.argv[1]
surface = surface_named("powershell" if language == "powershell" else "shell" if language == "bash" else "code")
role = "code" if surface.name == "code" else "command"
odd = ["\U0010ffff", "\U0001f600", "\ud800", "\udfff", "\0", "\x80", "\u0660", "\u2028", "\ufeff", "\u0130", "\uff11"]
frames = [
    "{}", "a{}", "{}a", "${}", "@{}", "'{}'", '"{}"', "`{}`", "q{}x{}", "<<{}\nx\n{}\n", "%w{}a{}", "s{}a{}b{}", "<<'{}'\nx\n",
    "#{}", "/{}/", "{} = 1", "f({})", "x.{}", "{}::x", "<?php {} ?>", "=begin{}\n=end", "__{}__", "1{}2", "$(({}))", "${{{}}}",
    "<<~{}\n  x\n{}", "`${{{}}}`", "@'{}\nx\n'@", "[{}]::x", "-{} 1", "y{}", "tr{}a{}b{}", "m{}a{}", "=pod{}", "?{}", ":{}", "*{}",
]
deep = ["(" * 3000, "[" * 3000, "{" * 3000, "$(" * 1500, "((" * 1500, "a(" * 1500, "!" * 3000, "'" * 3001, "<<A\n" * 500,
        "if(1){" * 800, "x=>" * 1500, "-" * 5000, "`" * 3001, "a." * 3000, "\\" * 3001, "\0" * 3000]
random.seed(7)
texts = [f.replace("{}", c) for f in frames for c in odd] + deep
texts += ["".join(random.choice([*odd, *"(){}[]<>'\"`$@%&|;=.,/\\~^#!?*+-: \nab1"]) for _ in range(60)) for _ in range(150)]
for text in texts:
    values = {role: text} | ({"language": language} if role == "code" else {})
    surface.classify(CallParts(surface.name, values), Context(max_ms=40))
"""


@pytest.mark.parametrize(
    "language", ["bash", "powershell", "javascript", "typescript", "ruby", "perl", "php", "lua", "python"]
)
def test_hostile_text_never_ends_the_process(language):
    done = subprocess.run(
        [sys.executable, "-c", TRIAL, language], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
