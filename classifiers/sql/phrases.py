"""Read a statement by its opening words: the table ``phrases.yaml`` in, effects out.

For what the parser keeps as plain words (VACUUM, COPY … PROGRAM, GRANT …) this is the reading; for what it cannot
parse it is the reading of last resort.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from classifiers.datafile import alternatives, table
from classifiers.effects import Certainty, Condition, Domain, Effect, OpaqueReason, Verb
from classifiers.sql.place import Place, Site
from classifiers.sql.split import statements
from classifiers.surface import CallParts, surface_named
from classifiers.templates import Given, fill_all

MAX_PHRASE = 4000  # characters that a phrase is looked for in
MAX_DEPTH = 8  # statements inside statements
_QUOTES = "\"'`[]"
_COMMENT = re.compile(r"('(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`)|/\*.*?(?:\*/|\Z)|--[^\n]*", re.DOTALL)
_OWNER = re.compile(
    r"\A(?:(?:master|msdb)\.(?:dbo|sys)?\.|(?:dbo|sys|master|msdb)\.)"
)  # of SQL Server's own procedures
_FIELD = re.compile(r"\{(\w+)\}")
_ARGUMENT = re.compile(r"N?'((?:[^']|'')*)'|(\w+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Phrase:
    starts: re.Pattern[str]
    effects: tuple[str, ...]
    open: OpaqueReason | None
    command: bool
    procedure: bool
    early: bool  # tried before the parser: what the statement wraps is read instead of it
    variables: bool  # what is inside has variables of its own
    deferred: bool  # what is inside runs later
    parse: tuple[str, ...]  # texts that are statements again, groups of the pattern in braces


Again = Callable[[str, Site], None]  # reads a statement that stands inside another


def read_phrase(
    text: str, site: Site, again: Again, certainty: Certainty = Certainty.DEFINITE, *, early: bool = False
) -> bool:
    """Add what the first matching phrase says; False when no phrase matches. ``early``: only phrases that wrap."""
    plain = _plain(text)
    for phrase in _phrases():
        found = phrase.starts.match(plain) if phrase.early or not early else None
        if found is not None:
            _add(phrase, found, site, certainty)
            _read_inside(phrase, found, site, again)
            return True
    return False


def _read_inside(phrase: _Phrase, found: re.Match[str], site: Site, again: Again) -> None:
    """The statements inside one: a block's, an explained one, a literal that is executed."""
    if not phrase.parse:
        return
    if site.depth >= MAX_DEPTH:
        site.out.hide(OpaqueReason.DEPTH_CAP, site.span, found.string[:80])
        return
    groups = {key: value or "" for key, value in found.groupdict().items()}
    groups["string"] = groups.get("string", "").replace("''", "'")
    before = len(site.out.effects)
    inside = replace(site, depth=site.depth + 1, variables=site.variables or phrase.variables)
    for line in phrase.parse:
        inner = _FIELD.sub(lambda field: groups[field.group(1)], line)
        for start, end in statements(inner):
            again(inner[start:end], inside)
    _defer(phrase, site, before)


def _defer(phrase: _Phrase, site: Site, before: int) -> None:
    """What was added since ``before`` runs later, where the phrase says so."""
    for i in range(before, len(site.out.effects) if phrase.deferred else 0):
        site.out.effects[i] = replace(site.out.effects[i], condition=Condition.DEFERRED)


def run_procedure(name: str, arguments: list[str], site: Site) -> None:
    """EXEC or CALL of a stored procedure: a known one by the table, another is code we have not read."""
    known = _OWNER.sub("", re.sub(r"[\"`\[\]]", "", name.lower()))
    if table("sql/functions.yaml")["commands"].get(known):
        run_command(arguments[0] if arguments else "", "cmd", site, (known,))
        return
    lines = alternatives("sql/functions.yaml", "procedures").get(known)
    if lines is None:
        target = site.place.target(name.strip(_QUOTES))
        site.out.add(Domain.DATABASE, Verb.EXECUTE, target, span=site.span, where=site.place.where, destructive=None)
        site.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, f"procedure {name}")
        return
    for effect in fill_all(lines, lambda key: _nth(arguments, key), site.context):
        site.out.put(_placed(effect, site.place), site.span)


def run_command(command: str, shell: str, site: Site, via: tuple[str, ...]) -> None:
    """A command of the server's operating system, read by the shell it is for."""
    out, span, where = site.out, site.span, site.place.where
    out.put(Effect(Domain.CODE, Verb.EXECUTE, where=where), span)
    reader = surface_named(shell)
    inner = None if reader is None else reader.classify(CallParts(shell, {"command": command}), site.context)
    if inner is None:
        out.hide(OpaqueReason.PAYLOAD_UNREADABLE, span, command)
        return
    effects = tuple(replace(e, where=where) if where != "local" else e for e in inner.effects)
    out.absorb(replace(inner, effects=effects), via=via, span=span)


def _add(phrase: _Phrase, found: re.Match[str], site: Site, certainty: Certainty) -> None:
    groups = {key: value.strip(_QUOTES) for key, value in found.groupdict().items() if value}
    for effect in fill_all(phrase.effects, lambda key: _group(groups, key), site.context):
        effect = _named(effect, groups, site.place)  # noqa: PLW2901 - the same effect, its database object named
        site.out.put(replace(_placed(effect, site.place), certainty=certainty), site.span)
    if phrase.command:
        before = len(site.out.effects)
        run_command(groups.get("command", "").replace("''", "'"), "shell", site, ("copy program",))
        _defer(phrase, site, before)
    if phrase.procedure:
        tail = found.string[found.end() :]
        arguments = [(m.group(1) or m.group(2) or "").replace("''", "'") for m in _ARGUMENT.finditer(tail)]
        run_procedure(groups.get("procedure", ""), arguments, site)
    if phrase.open is not None:
        site.out.hide(phrase.open, site.span, found.string[:80])


def _named(effect: Effect, groups: dict[str, str], place: Place) -> Effect:
    """Put the object in: the hole ``{db}`` is a table, ``{database}`` a database, nothing the database itself."""
    if effect.domain is not Domain.DATABASE:
        return effect
    if effect.target == "{db}":
        name = re.sub(r"[\"`\[\]]", "", groups.get("db", ""))
        return replace(effect, target=place.table(*name.split(".")) if name and name[0] != "(" else place.target())
    if effect.target == "{database}":
        return replace(effect, target=place.target(database=re.sub(r"[\"`\[\]]", "", groups.get("database", "*"))))
    return effect if effect.target else replace(effect, target=place.target())


def _placed(effect: Effect, place: Place) -> Effect:
    """The effect on the machine the database runs on."""
    target = place.target() if effect.domain is Domain.DATABASE and effect.target is None else effect.target
    return replace(effect, where=place.where, target=target)


def _group(groups: dict[str, str], key: str) -> Given | None:
    return Given(groups[key], groups[key]) if key in groups else None


def _nth(arguments: list[str], key: str) -> Given | None:
    index = int(key)
    return Given(arguments[index], arguments[index]) if index < len(arguments) else None


def _plain(text: str) -> str:
    """The statement without comments. One space for many keeps the patterns linear."""
    bare = text[:MAX_PHRASE]
    if not bare.startswith("."):  # an order to the sqlite3 shell: its ``--csv`` is an option
        bare = _COMMENT.sub(lambda found: found.group(1) or " ", bare)
    return re.sub(r"\s+", " ", bare).strip()


@cache
def _phrases() -> tuple[_Phrase, ...]:
    return tuple(_phrase(raw) for raw in table("sql/phrases.yaml")["phrases"])


def _phrase(raw: dict[str, Any]) -> _Phrase:
    return _Phrase(
        re.compile(raw["starts"], re.IGNORECASE | re.DOTALL),
        tuple(raw.get("effects", ())),
        OpaqueReason(raw["open"]) if "open" in raw else None,
        "command" in raw,
        "procedure" in raw,
        bool(raw.get("early")),
        bool(raw.get("variables")),
        bool(raw.get("deferred")),
        tuple(raw.get("parse", ())),
    )
