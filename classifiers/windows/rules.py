"""The tables ``windows/programs/*.yaml``: what each program of Windows does, rule by rule.

In: nothing but the files. Out: per program its rules, the rules that add to the one that answers (``beside``), its
switches whose value is the next word (``values``) and a pattern whose groups every rule has (``finds``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from classifiers.datafile import tables
from classifiers.effects import Condition, OpaqueReason
from classifiers.templates import template


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    match: re.Pattern[str]
    effects: tuple[str, ...]
    run: str  # switch, index or "rest": where the inner command is
    shell: str  # which surface reads it
    open: OpaqueReason | None
    condition: Condition | None
    via: str
    one: bool  # the inner command is one word; it stands in quotes
    plain: int | None = None  # only with so many words that are no switches
    later: Mapping[str, str] = field(default_factory=dict)  # the words that are a setting: key, name, value


@cache
def programs() -> dict[str, tuple[Rule, ...]]:
    return {name: tuple(map(_rule, rules)) for name, rules in _of_each("programs")}


@cache
def beside() -> dict[str, tuple[Rule, ...]]:
    """Rules that add to the one that answers: the other machine a switch names, a log."""
    return {name: tuple(map(_rule, rules)) for name, rules in _of_each("beside")}


@cache
def valued() -> dict[str, frozenset[str]]:
    """Each program's switches whose value is the next word."""
    return {name: frozenset(switches.split()) for name, switches in _of_each("values")}


@cache
def finds() -> dict[str, re.Pattern[str]]:
    """What a program's words name wherever they stand, for every rule of it: ``where name='x'``."""
    return {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _of_each("finds")}


def _of_each(part: str) -> Iterator[tuple[str, Any]]:
    """What this part of the tables says, under each of the names it says it of."""
    for _stem, values in tables("windows/programs"):
        for names, said in values.get(part, {}).items():
            yield from ((name, said) for name in names.split("|"))


def _rule(raw: dict[str, Any]) -> Rule:
    for line in raw.get("effects", ()):
        template(line)
    return Rule(
        re.compile(raw.get("match", ""), re.IGNORECASE),
        tuple(raw.get("effects", ())),
        str(raw.get("run", "")),
        raw.get("shell", "cmd"),
        OpaqueReason(raw["open"]) if "open" in raw else None,
        Condition(raw["condition"]) if "condition" in raw else None,
        raw.get("via", ""),
        bool(raw.get("one")),
        raw.get("plain"),
        raw.get("later", {}),
    )
