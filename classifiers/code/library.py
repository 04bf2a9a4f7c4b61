"""What a language's library does, by name: the tables ``code/tables/<language>.yaml`` in, one ``Known`` per call out.

A table has ``calls`` (name → effect lines, or a mapping with effects, returns, run, open, mark), ``pure`` (modules and
names without effects; ``x.*`` covers all below), ``methods`` (the same as calls, for a method of a value whose kind is
not known). Names are dotted as the language's front end spells them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from classifiers.datafile import table
from classifiers.effects import OpaqueReason
from classifiers.templates import template


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    effects: tuple[str, ...] = ()
    returns: str = ""  # the kind of object given back; its methods are "<kind>.<method>"
    run: str = ""  # which reader takes the arguments: shell, argv, sql, code, http, file, verb
    roles: Mapping[str, Any] = field(default_factory=dict)  # the reader's roles: argument keys or constants
    open: OpaqueReason | None = None
    mark: str = ""  # socket | listen | stdio: together they make a reverse or bind shell
    value: str = ""  # how a constant result comes from constant arguments: join, b64, hex, text, …


PURE = Known()


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    calls: Mapping[str, Known]
    methods: Mapping[str, Known]
    pure: frozenset[str]

    def call(self, name: str) -> Known | None:
        """The entry for a dotted name, by the longest covering ``x.*`` if not by itself; None when nobody knows it."""
        if (known := self.calls.get(name)) is not None:
            return known
        if name in self.pure:
            return PURE
        head = name
        while "." in head:
            head = head.rpartition(".")[0]
            if f"{head}.*" in self.pure:
                return PURE
            if (known := self.calls.get(f"{head}.*")) is not None:
                return known
        return None

    def knows_module(self, name: str) -> bool:
        """Importing it is no effect of its own: something in the table is below it."""
        return name in self.pure or f"{name}.*" in self.pure or any(k.startswith(name + ".") for k in self.calls)


@cache
def library(language: str) -> Library:
    values = table(f"code/tables/{language}.yaml")
    return Library(_entries(values["calls"]), _entries(values.get("methods", {})), frozenset(values["pure"]))


def _entries(raw: Mapping[str, Any]) -> dict[str, Known]:
    return {name: _known(value) for names, value in raw.items() for name in names.split("|")}


def _known(raw: Any) -> Known:
    values: dict[str, Any] = {"effects": raw} if isinstance(raw, list) else {**raw}
    for line in values.get("effects", ()):
        template(line)
    reason = values.get("open")
    return Known(
        tuple(values.get("effects", ())),
        values.get("returns", ""),
        values.get("run", ""),
        values.get("with", {}),
        OpaqueReason(reason) if reason else None,
        values.get("mark", ""),
        values.get("value", ""),
    )
