"""What a simple command comes to, as values: effects told, words handed on, parts that stay hidden, in order."""

from __future__ import annotations

from dataclasses import dataclass, field

from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.knowledge.arguments import Parsed
from classifiers.knowledge.model import Delegate, Json, Node
from classifiers.knowledge.words import Word


@dataclass(slots=True)
class Told:
    """One effect the knowledge tells of. ``fields`` are Effect fields still as words."""

    action: Verb
    domain: Domain
    target: str | None
    fields: Json
    span: tuple[int, int]
    word: Word | None = None
    raw: str | None = None  # the text that stands for a target nobody can know

    def tag(self, *tags: str) -> None:
        """Add risk tags. The fields may be a table's own, so they are not changed in place."""
        self.fields = {**self.fields, "tags": [*self.fields.get("tags", ()), *tags]}


@dataclass(slots=True)
class Handed:
    """Words handed on: to another command (argv), or a payload to a parser. ``fields``: where, privilege, condition."""

    to: Delegate
    words: tuple[Word, ...]
    fields: Json
    span: tuple[int, int]
    via: str = ""
    arguments: tuple[Word, ...] = ()  # what a script or program text is given (the operand role of this name)


@dataclass(slots=True)
class Hidden:
    reason: OpaqueReason
    span: tuple[int, int]
    text: str


Item = Told | Handed | Hidden


@dataclass(slots=True)
class Reading:
    parsed: Parsed
    items: list[Item] = field(default_factory=list)
    answered: bool = False  # an option says in so many words what happens instead
    reads_stdin: Delegate | None = None  # nothing named a payload, so standard input is it
    session: bool = False  # a person types what happens
    server: Json = field(default_factory=dict)  # which host and database SQL on standard input goes to

    @property
    def node(self) -> Node:
        return self.parsed.node
