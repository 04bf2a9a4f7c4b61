"""Which language a program is in, and its front end."""

from __future__ import annotations

import ast
import importlib
import re
import warnings
from collections.abc import Callable
from functools import cache

from classifiers.clock import loading
from classifiers.code import ir

_ALIASES = {
    name: language
    for language, names in {
        "python": "python python3 python2 py ipython ipython3 jupyter pypy",
        "javascript": "javascript js node nodejs jsx mjs cjs ecmascript bun",
        "typescript": "typescript ts tsx deno ts-node",
        "mongosh": "mongosh mongodb",
        "ruby": "ruby rb irb",
        "php": "php",
        "perl": "perl pl perl5",
        "lua": "lua luajit texlua",
        "bash": "bash sh shell zsh dash ksh shellscript shell-script",
        "powershell": "powershell pwsh ps1 posh",
        "powershell-encoded": "powershell-encoded",
        "cmd": "cmd bat batch",
        "sql": "sql psql mysql sqlite tsql",
    }.items()
    for name in names.split()
}
_FRONT_ENDS = {
    "python": "classifiers.code.python",
    "javascript": "classifiers.code.javascript",
    "typescript": "classifiers.code.javascript",
    "mongosh": "classifiers.code.mongosh",
    "ruby": "classifiers.code.ruby",
    "php": "classifiers.code.php",
    "perl": "classifiers.code.perl",
    "lua": "classifiers.code.lua",
}
_PYTHONIC = re.compile(
    r"^\s*(import \w|from [\w.]+ import |def \w+\(.*\):|class \w+.*:|print\(|with open|for \w+ in |@\w)", re.MULTILINE
)
_SCRIPTY = re.compile(
    r"^\s*(const |let |var |function |import .* from ['\"]|require\(|export |console\.|async )|=>|;\s*$", re.MULTILINE
)


def language_named(name: str | None) -> str | None:
    """Our name for a language; ``python3.11`` and ``text/javascript`` count."""
    word = (name or "").strip().lower().rpartition("/")[2]
    return _ALIASES.get(word) or _ALIASES.get(re.sub(r"[\d.]+$", "", word))


def guess_language(text: str) -> str | None:
    """Python if it parses as such or looks it, else JavaScript if it looks it; None when neither."""
    if _PYTHONIC.search(text) and not re.search(r"^\s*(const|let|var) ", text, re.MULTILINE):
        return "python"
    if _SCRIPTY.search(text):
        return "javascript"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text[:20_000])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return "python"


@cache
@loading()
def front_end(language: str | None) -> Callable[[str, float | None], list[ir.Node]] | None:
    """The parser of a language: text in, program form out; None when there is none."""
    module = _FRONT_ENDS.get(language or "")
    if module is None:
        return None
    try:
        parse: Callable[[str, float | None], list[ir.Node]] = importlib.import_module(module).parse
        parse("", None)  # loads the grammar before any call's clock starts
    except ImportError:
        return None
    return parse
