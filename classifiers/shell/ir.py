"""The small form both parsers' readings come to: words with parts, simple commands, and where they stand.

Positions are code points of the parsed text. Nothing here is evaluated yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal


@dataclass(slots=True)
class Lit:
    text: str
    quoted: bool = False


@dataclass(slots=True)
class Var:
    """``$name`` or ``${name<op>arg}``. ``op`` is the operator as written (``:-``, ``##``, …; ``[]`` an index)."""

    name: str
    raw: str
    quoted: bool = False
    op: str = ""
    arg: WordIR | None = None
    bang: bool = False  # ${!name}
    index: WordIR | None = None


@dataclass(slots=True)
class Sub:
    """``$(…)`` or back-ticks."""

    body: Body
    raw: str
    quoted: bool = False
    span: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Proc:
    """``<(…)`` or ``>(…)``."""

    direction: str
    body: Body
    raw: str
    span: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Arith:
    raw: str
    subs: tuple[Sub, ...] = ()


Part = Lit | Var | Sub | Proc | Arith


@dataclass(slots=True)
class WordIR:
    parts: tuple[Part, ...]
    span: tuple[int, int]
    raw: str

    def plain(self) -> str | None:
        """The word's text when it holds nothing to expand."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Lit):
            return self.parts[0].text
        if all(isinstance(p, Lit) for p in self.parts):
            return "".join(p.text for p in self.parts if isinstance(p, Lit))
        return None


@dataclass(slots=True)
class Assign:
    name: str
    value: WordIR | None
    append: bool = False
    array: tuple[WordIR, ...] | None = None
    index: str | None = None
    span: tuple[int, int] = (0, 0)


@dataclass(slots=True)
class Redirect:
    """``op`` as written without its descriptor: < > >> >| &> &>> <& >& <> << <<<."""

    op: str
    fd: int | None
    target: WordIR | None
    span: tuple[int, int]
    here: HereDoc | None = None
    name: str = ""  # ``{name}<``: the shell picks a descriptor and puts its number into this variable


@dataclass(slots=True)
class HereDoc:
    """``parts`` is the body with its expansions when the delimiter is unquoted, else one literal."""

    body: str
    quoted: bool
    span: tuple[int, int]
    parts: tuple[Part, ...] = ()


@dataclass(slots=True)
class Simple:
    words: list[WordIR]
    assigns: list[Assign]
    redirects: list[Redirect]
    span: tuple[int, int]
    declare: str = ""  # export, declare, local, readonly, unset: words are names


@dataclass(slots=True)
class Pipeline:
    items: list[Stmt]
    negated: bool = False


@dataclass(slots=True)
class AndOr:
    left: Stmt
    op: Literal["&&", "||"]
    right: Stmt


@dataclass(slots=True)
class Background:
    body: Stmt


@dataclass(slots=True)
class Group:
    """``{ … }`` (or a redirected compound); ``subshell`` for ``( … )``."""

    body: Body
    subshell: bool = False
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class If:
    branches: list[tuple[Body, Body]]  # condition, body
    otherwise: Body | None


@dataclass(slots=True)
class Loop:
    """while/until: ``condition``; for: ``variable`` over ``words`` (None: the parameters); C-style: neither."""

    body: Body
    condition: Body | None = None
    variable: str | None = None
    words: list[WordIR] | None = None
    assigns: list[Assign] = field(default_factory=list)
    until: bool = False


@dataclass(slots=True)
class Case:
    word: WordIR
    arms: list[tuple[list[WordIR], Body]]
    ends: list[str] = field(default_factory=list)  # per arm: ;; ends it, ;& runs the next body, ;;& tests on


@dataclass(slots=True)
class Function:
    name: str
    body: Body
    span: tuple[int, int]


@dataclass(slots=True)
class Test:
    """``[[ … ]]`` and ``(( … ))``: no effects of their own, but substitutions inside run."""

    words: list[WordIR]
    span: tuple[int, int]
    raw: str = ""


@dataclass(slots=True)
class Broken:
    """What the parser could not make a command of."""

    span: tuple[int, int]
    raw: str


Stmt = Simple | Pipeline | AndOr | Background | Group | If | Loop | Case | Function | Test | Broken
Body = list[Stmt]
