"""Command knowledge as values: what one program's options and operands mean. Built from the compiled JSON form.

``docs/knowledge.md`` describes the language these come from. Everything is frozen and shared between calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from classifiers.effects import Domain, Verb

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Template:
    """One effect to be: ``target`` may hold ``{…}`` parts; ``fields`` are the effect's other fields, JSON values."""

    action: Verb
    domain: Domain
    target: str | None
    fields: Json
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Delegate:
    """Some words are themselves a command, a script or a payload for another surface.

    ``kind``: argv | shell | code | sql | http | script (a script file); ``language`` is what follows the kind
    in the file (``code python``, ``sql postgres``, ``script python``).
    """

    kind: str
    language: str = ""
    program: str = ""  # argv: words put in front, e.g. ``pip`` for ``python -m pip``
    append: str = ""  # ``stdin``: each input line becomes operands (xargs)
    replace: str = ""  # the option whose value is the token to replace (xargs -I)
    until: tuple[str, ...] = ()  # words that end the inner command
    where: str = ""
    via: str = ""
    condition: str = ""
    privilege: str = ""
    join: bool = False  # several operands are one string (ssh, eval)
    certainty: str = ""
    vars: str = ""  # NAME=value words the payload sees; ``*`` is any name
    part: str = ""  # a filter: only this part of the word is the payload
    cwd: str = ""  # the folder it starts in, a target template
    fed: bool = False  # the program writes to its standard input what the call does not hold (tar --to-command)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What an option or a slot does: effects it adds, fields it sets on the command's own effects."""

    effects: tuple[Template, ...] = ()
    sets: Json | None = None
    instead: tuple[Template, ...] | None = None
    delegate: Delegate | None = None
    by_value: tuple[tuple[str, Meaning], ...] = ()
    operands: tuple[Slot, ...] | None = None
    says: bool = False  # ``effects`` was given, if only as an empty list
    unread: str = ""  # what then happens is written somewhere the call does not show


NO_MEANING = Meaning()


@dataclass(frozen=True, slots=True)
class Option:
    spellings: tuple[str, ...]
    name: str
    values: int = 0  # words it takes; -1: only when attached (``--o=x``, ``-ox``); -2: so too, or a suffix apart
    fills: str = ""
    meaning: Meaning = Meaning()
    last: bool = False  # words after it are operands, dashes or not (``python -c``, ``java -jar``)


@dataclass(frozen=True, slots=True)
class Slot:
    role: str
    at: str = "rest"  # first | rest | last
    meaning: Meaning = Meaning()
    when: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()


@dataclass(frozen=True)
class Node:
    """A program or one of its subcommands."""

    name: str
    file: str
    line: int
    options: dict[str, Option]
    slots: tuple[Slot, ...] = ()
    effects: tuple[Template, ...] = ()
    no_operands: tuple[Template, ...] | None = None
    subcommands: Json | None = None  # word or glob → compiled node, or the word that has it
    style: str = "gnu"
    posix: bool | str = False  # options end at the first operand; "second": at the second
    strict: str = (
        ""  # options | words: what is not listed (an option; also a first word that could be an order) is unread
    )
    many: bool = False  # told of only in a row of many programs: what it is thought to do is told, never vouched for
    unknown_options: str = "flag"
    unknown_subcommand: str = "opaque"  # opaque | operand
    long_options: str = "shortened"  # whole: no shorter name stands for one
    late_help: str = "help"  # operand: behind an operand ``--help`` may be one more
    stdin: Delegate | None = None
    help: tuple[str, ...] = ("--help", "--version")
    sets: Json | None = None
    via: str = ""
    special: str = ""
    keyed: dict[str, Meaning] | None = None
    unread: str = ""  # as in Meaning
    session: tuple[str, ...] = ()  # given none of these, a person types what happens
    beside: frozenset[str] = frozenset()  # options whose own payload leaves standard input one too
    says: bool = False  # ``effects`` was given, if only as an empty list

    @cached_property
    def long_names(self) -> tuple[str, ...]:
        """Spellings an abbreviation (``--recurs``) may stand for."""
        return tuple(s for s in self.options if s.startswith("--"))
