"""Substitutions that only set up the shell (``eval "$(ssh-agent -s)"``): a word as written in, whether it is one out.

The table is ``setups.yaml``. Anything else between the brackets (pipes, lists, more substitutions) is no set-up.
"""

from __future__ import annotations

import re
from functools import cache

from classifiers.datafile import table

_ALONE = re.compile(r"(?:\$\(|`)([\w ./@:~=+-]+?)(?:\s+2>\s*/dev/null)?\s*(?:\)|`)")


@cache
def _table() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split()) for line in table("shell/setups.yaml")["setups"])


def is_setup(raw: str) -> bool:
    match = _ALONE.fullmatch(raw.strip())
    if match is None:
        return False
    words = match[1].split()
    words[0] = words[0].rpartition("/")[2]
    return any(len(words) >= len(row) and all(map(_fits, words, row)) for row in _table())


def _fits(word: str, wanted: str) -> bool:
    return word.startswith(wanted.rstrip("*")) if wanted.endswith("*") else word == wanted
