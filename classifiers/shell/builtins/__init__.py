"""Builtins that change what the shell knows or run what they are given: a name in, what reads its words out.

Each takes the words and returns what it prints and whether it succeeds. Builtins that are programs too (echo, kill, …)
are described by knowledge instead. A file of this folder has a table ``BUILTINS``.
"""

from __future__ import annotations

from collections.abc import Callable

from classifiers.discover import discover
from classifiers.knowledge.words import Word
from classifiers.shell.evaluate import Evaluator, Result
from classifiers.shell.redirects import Plan
from classifiers.shell.state import Scope, State

Builtin = Callable[[Evaluator, list[Word], State, Scope, Plan], Result]
BUILTINS: dict[str, Builtin] = {
    name: read for table in discover("classifiers.shell.builtins", "BUILTINS") for name, read in table.items()
}
