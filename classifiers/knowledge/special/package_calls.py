"""R's and Julia's package orders (``R -e 'install.packages("x")'``). A parsed command in, packages out; else untouched.

Source: R 4.4 manual of utils, ``install.packages``; Julia 1.10 manual, Pkg API reference. Only text that is nothing but
such calls is read: any other stays the unread program it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain

from classifiers.effects import Domain, Verb
from classifiers.knowledge.model import Json
from classifiers.knowledge.reading import Handed, Reading, Told
from classifiers.knowledge.words import Word

_QUOTED = r"""(?:"[\w./@-]+"|'[\w./@-]+')"""
_TEXT = r"""(?:"[^"\\]*"|'[^'\\]*')"""
_NAMES = re.compile(r"""["']([\w./@-]+)["']""")
_INSTALL = re.compile(
    rf"(?:utils::)?install\.packages\(\s*(?P<names>{_QUOTED}|c\(\s*{_QUOTED}(?:\s*,\s*{_QUOTED})*\s*\))"
    rf"(?:\s*,\s*\w+\s*=\s*(?:{_TEXT}|\w+))*\s*\)"
)
_ADD = re.compile(r"""Pkg\.add\(\s*(?P<names>"[\w.]+"|\[\s*"[\w.]+"(?:\s*,\s*"[\w.]+")*\s*\])\s*\)""")
_WHOLE = re.compile(r"Pkg\.(?:instantiate|resolve|update|precompile)\(\)")
_RUNS = re.compile(r"Pkg\.(?:test|build)\(\)")
_SILENT = re.compile(r"""(?:using|import) Pkg|Pkg\.(?:status\(\)|activate\("[\w./]+"\))|""")
_KNOWN: Json = {"destructive": False, "reversibility": "reversible"}
_OPEN: Json = {"destructive": None, "reversibility": "unknown"}


def read(reading: Reading, name: Word, words: Sequence[Word]) -> None:  # noqa: ARG001 - one shape
    """Each program text that is only package orders gives way to what they do."""
    orders = _julia if name.text.rpartition("/")[2] == "julia" else _r
    for place, item in enumerate(reading.items):
        if isinstance(item, Handed) and item.to.kind == "code":
            lines = [orders(line.strip()) for line in re.split(r"[;\n]", item.words[0].text)]
            if all(lines):
                reading.items[place : place + 1] = [
                    Told(verb, domain, target, _OPEN if verb is Verb.EXECUTE else _KNOWN, item.span, None)
                    for verb, domain, target in chain.from_iterable(lines)
                    if target
                ]
                return


_Order = tuple[Verb, Domain, str]
_NOTHING: list[_Order] = [(Verb.READ, Domain.PACKAGES, "")]  # an order that does nothing of its own


def _named(found: re.Match[str], kind: str) -> list[_Order]:
    return [(Verb.CREATE, Domain.PACKAGES, f"{kind}:{package}") for package in _NAMES.findall(found["names"])]


def _r(line: str) -> list[_Order]:
    found = _INSTALL.fullmatch(line)
    return _named(found, "cran") if found else [] if line else _NOTHING


def _julia(line: str) -> list[_Order]:
    if (found := _ADD.fullmatch(line)) is not None:
        return _named(found, "julia")
    return next((orders for pattern, orders in _JULIA if pattern.fullmatch(line)), [])


_JULIA: tuple[tuple[re.Pattern[str], list[_Order]], ...] = (
    (_WHOLE, [(Verb.MODIFY, Domain.PACKAGES, "julia:*")]),
    (_RUNS, [(Verb.EXECUTE, Domain.CODE, "project")]),
    (_SILENT, _NOTHING),
)
SPECIAL: tuple[str, Callable[[Reading, Word, Sequence[Word]], None]] = ("package_calls", read)
