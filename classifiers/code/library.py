"""What a language's library does, by name: the tables ``code/tables/<language>.yaml`` in, one ``Known`` per call out.

A table has ``calls`` (name → effect lines, or a mapping with effects, returns, run, open, mark), ``pure`` (modules and
names without effects; ``x.*`` covers all below), ``methods`` (the same as calls, for a method of a value whose kind is
not known). Names are dotted as the language's front end spells them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from classifiers.clock import loading
from classifiers.datafile import tables
from classifiers.effects import OpaqueReason
from classifiers.templates import template


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    effects: tuple[str, ...] = ()
    returns: str = ""  # the kind of object given back, ``kind*`` a list of such; its methods are "<kind>.<method>"
    run: str = ""  # which reader takes the arguments: shell, argv, sql, code, http, file, verb
    roles: Mapping[str, Any] = field(default_factory=dict)  # the reader's roles: argument keys or constants
    open: OpaqueReason | None = None
    mark: str = ""  # socket | listen | stdio: together they make a reverse or bind shell
    when: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # argument present: these lines instead
    holds: str = "0"  # which argument the object given back keeps (a base address, a path), ``=x`` when it is not given
    opens: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # argument present: these too, and it is unread
    value: str = ""  # how a constant result comes from constant arguments: join, b64, hex, text, …
    order: Mapping[int, frozenset[str]] = field(default_factory=dict)  # the names that positional arguments have too
    names: frozenset[str] = frozenset()  # of all arguments that the entry asks for
    valued: frozenset[str] = frozenset()  # of those whose value it asks for

    @property
    def acts(self) -> bool:
        """A call of it does something."""
        return bool(self.effects) or self.run in _ACTING

    @property
    def loads(self) -> bool:
        """It gives, or runs, code by a name or a text."""
        return self.run in {"module", "code", "member"}


_FOLDERS = {"powershell": "powershell/tables"} | dict.fromkeys(("typescript", "mongosh"), "code/tables/javascript")
_ACTING = frozenset(
    {"shell", "words", "code", "sql", "http", "file", "connect", "verb", "written", "written_if", "save", "own_file"}
)
PURE = Known()


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    language: str
    calls: Mapping[str, Known]
    methods: Mapping[str, Known]
    pure: frozenset[str]
    wild: tuple[tuple[str, Known], ...] = ()  # names with ``*`` inside
    aliases: Mapping[str, str] = field(default_factory=dict)  # short command names
    constants: Mapping[str, str] = field(default_factory=dict)  # names that stand for one text
    members: Mapping[str, str] = field(default_factory=dict)  # parts of a text that is a path: how each is folded
    acting: frozenset[str] = frozenset()  # names that act or load code, and modules below which one does

    def call(self, name: str) -> Known | None:
        """The entry for a dotted name: itself, a pattern with ``*`` inside, or the longest covering ``x.*``."""
        if (known := self.calls.get(name)) is not None:
            return known
        if name in self.pure:
            return PURE
        if (known := next((k for pattern, k in self.wild if fnmatchcase(name, pattern)), None)) is not None:
            return known
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

    def knows_package(self, name: str) -> bool:
        """The module, or a package it is in."""
        head = name
        while head:
            if self.knows_module(head) or head in self.calls:
                return True
            head = head.rpartition(".")[0]
        return False


@cache
@loading()
def library(language: str) -> Library:
    """All tables of the language's folder as one."""
    calls: dict[str, Known] = {}
    methods: dict[str, Known] = {}
    pure: set[str] = set()
    aliases: dict[str, str] = {}
    constants: dict[str, str] = {}
    members: dict[str, str] = {}
    for _stem, values in tables(_FOLDERS.get(language, f"code/tables/{language}")):
        calls |= _entries(values.get("calls", {}))
        methods |= _entries(values.get("methods", {}))
        pure |= set(values.get("pure", ()))
        constants |= values.get("constants", {})
        members |= values.get("members", {})
        aliases |= {alias: name for names, name in values.get("aliases", {}).items() for alias in names.split("|")}
    patterns = {p: PURE for p in pure if "*" in p.removesuffix(".*")} | {
        n: k for n, k in calls.items() if "*" in n[:-2]
    }
    patterns |= {n: k for n, k in calls.items() if n.endswith("*") and not n.endswith(".*")}
    kinds = {known.returns.removesuffix("*") for known in (*calls.values(), *methods.values())}
    acting = {".".join(parts[:i]) for parts in _acting(calls) for i in range(1, len(parts) + 1)} - kinds
    return Library(
        language, calls, methods, frozenset(pure), tuple(patterns.items()), aliases, constants, members,
        frozenset(acting),
    )  # fmt: skip


def _acting(calls: Mapping[str, Known]) -> Iterator[list[str]]:
    yield from (name.split(".") for name, known in calls.items() if known.acts or known.loads)


def _entries(raw: Mapping[str, Any]) -> dict[str, Known]:
    return {name: _known(value) for names, value in raw.items() for name in names.split("|")}


def _known(raw: Any) -> Known:
    values: dict[str, Any] = {"effects": raw} if isinstance(raw, list) else {**raw}
    for line in values.get("effects", ()):
        template(line)
    reason = values.get("open")
    keys = list(_keys(values))
    order: dict[int, frozenset[str]] = {}
    for key in keys:
        words = key.split("|")
        for i, word in enumerate(words):
            if (place := word.removesuffix("..")).isdigit():
                order[int(place)] = order.get(int(place), frozenset()) | {w for w in words[:i] if _is_name(w)}
    return Known(
        tuple(values.get("effects", ())),
        values.get("returns", ""),
        values.get("run", ""),
        values.get("with", {}),
        OpaqueReason(reason) if reason else None,
        values.get("mark", ""),
        {key: tuple(lines) for key, lines in values.get("when", {}).items()},
        str(values.get("holds", "0")),
        {key: tuple(lines) for key, lines in values.get("opens", {}).items()},
        values.get("value", ""),
        order,
        frozenset(w for key in (*keys, *values.get("when", {})) for w in key.split("|") if _is_name(w)),
        frozenset(w for key in keys for w in key.split("|") if _is_name(w)),
    )


def _is_name(word: str) -> bool:
    return word.isidentifier() and word != "self"


def _keys(values: Mapping[str, Any]) -> Iterator[str]:
    """The keys of the arguments whose values an entry asks for."""
    lines = [*values.get("effects", ()), *(line for more in values.get("when", {}).values() for line in more)]
    lines += [line for more in values.get("opens", {}).values() for line in more]
    for line in lines:
        for hole in template(line).holes:
            yield from hole.key.split(">")
    yield from (str(role) for role in values.get("with", {}).values())
    yield from (*values.get("opens", {}), str(values.get("holds", "")).partition("=")[0])
