"""The small program form every language is brought to before it is read: expressions and statements with spans.

In: a front end's syntax tree. Out: these nodes. Spans are code points of the program's text. What a front end has no
node for is ``Other``: its parts are read, its value is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Const:
    span: Span
    value: Any  # str, bytes, int, float, bool or None


@dataclass(frozen=True, slots=True)
class Name:
    span: Span
    id: str


@dataclass(frozen=True, slots=True)
class Attr:
    span: Span
    obj: Node
    name: str


@dataclass(frozen=True, slots=True)
class Call:
    """``named``: keyword arguments, or the keys of an options object given last."""

    span: Span
    func: Node
    args: tuple[Node, ...] = ()
    named: tuple[tuple[str, Node], ...] = ()
    words: tuple[Node, ...] = ()  # a shell-like command's words in order, its name first


@dataclass(frozen=True, slots=True)
class Index:
    span: Span
    obj: Node
    key: Node


@dataclass(frozen=True, slots=True)
class Join:
    """Text put together: concatenation, interpolation."""

    span: Span
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Binary:
    span: Span
    op: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Sequence:
    span: Span
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Table:
    span: Span
    items: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A definition or a closure. ``name`` is empty for a closure."""

    span: Span
    name: str
    params: tuple[str, ...]
    body: tuple[Node, ...]
    defaults: tuple[tuple[str, Node | None], ...] = ()  # for each parameter, what it is when not given
    rest: tuple[int, str] | None = None  # the parameter that takes all arguments from this place on, as a list
    keywords: str = ""  # the parameter that takes the named arguments no other takes


@dataclass(frozen=True, slots=True)
class Class:
    span: Span
    name: str
    methods: tuple[Function, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    span: Span
    targets: tuple[Node, ...]
    value: Node
    outer: bool = False  # sets a name of an enclosing function, where one has it


@dataclass(frozen=True, slots=True)
class Import:
    """``alias`` is bound to the module or member ``name`` (dotted)."""

    span: Span
    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class If:
    span: Span
    test: Node
    body: tuple[Node, ...]
    orelse: tuple[Node, ...] = ()
    again: bool = False  # the body may run more than once


@dataclass(frozen=True, slots=True)
class Loop:
    span: Span
    target: Node | None
    items: Node | None
    body: tuple[Node, ...]
    gives: str = ""  # a comprehension is the list of what the body is: "all" turn by turn, "some" of it


@dataclass(frozen=True, slots=True)
class Return:
    span: Span
    value: Node | None


@dataclass(frozen=True, slots=True)
class Command:
    """Text handed to the system's shell: back-ticks, ``!`` lines of notebooks."""

    span: Span
    text: Node


@dataclass(frozen=True, slots=True)
class Spread:
    """A list whose members are arguments, or members of another list, of their own: ``*list``, ``...list``."""

    span: Span
    value: Node


@dataclass(frozen=True, slots=True)
class Other:
    """``last``: the value is that of the last part, as in JavaScript's ``(a, b)``."""

    span: Span
    parts: tuple[Node, ...] = ()
    last: bool = False


@dataclass(frozen=True, slots=True)
class Yield:
    """A generator gives this as its next member; ``whole``: each member of it (``yield from``, ``yield*``)."""

    span: Span
    value: Node | None
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several values: ``a if test else b``; without a test the first that is true: ``a or b``."""

    span: Span
    test: Node | None
    options: tuple[Node, ...]


def perhaps(span: Span, body: Iterable[Node]) -> If:
    """Statements that may be left out, or be left before their end: nobody knows the test."""
    return If(span, Other(span), tuple(body))


Node = (
    Const | Name | Attr | Call | Index | Join | Binary | Sequence | Table | Function | Class | Assign | Import | If
    | Loop | Return | Command | Spread | Other | Choice | Yield
)  # fmt: skip
