"""The walk over one tree: nodes in, IR out by the two tables it is given; positions, depth and the text beside.

A node's bytes are the text's code points (``legible.py``), so every position is one in the text that was given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tree_sitter
import tree_sitter_bash

from classifiers.shell import ir
from classifiers.shell.escapes import unquoted
from classifiers.shell.heredocs import Lifted, lift
from classifiers.shell.treesitter.legible import legible, without_extended_globs

Node = tree_sitter.Node
_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
_PARSER = tree_sitter.Parser(_LANGUAGE)
REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
MAX_DEPTH = 120
MAX_CODE = 32_000  # characters
QUICK = 1_000  # bytes any text of which is parsed well within the budget
_PIECE = 1 << 16
_STRIDE = 0.012  # seconds the grammar was seen to work before it asks again (20,000 bars)


class TooLongError(Exception):
    """More code than the budget reads (here-document bodies do not count)."""


class TooDeepError(Exception):
    """The tree nests deeper than we walk."""


@dataclass(frozen=True, slots=True)
class Tables:
    """By node type: how a statement is read, and how a part of a word is added to those before it."""

    statements: dict[str, Callable[[Reader, Any], ir.Stmt]]
    parts: dict[str, Callable[[Reader, Any, list[ir.Part], bool], None]]


def read(text: str, tables: Tables, tick: Callable[[float], None] | None = None) -> ir.Body:
    """Statements of a script. Raises TooDeepError, TooLongError and what ``tick`` (called per statement) raises."""
    skeleton, lifted = lift(text)
    if len(skeleton) - sum(len(here.body) for here in lifted.values()) > MAX_CODE:
        raise TooLongError
    return Reader(skeleton, lifted, tables, tick=tick).script()


class _Late:
    """What the grammar asks between steps: whether ``tick`` has raised; its exception is kept."""

    def __init__(self, tick: Callable[[float], None]) -> None:
        self.tick = tick
        self.error: Exception | None = None

    def __call__(self, *_progress: Any) -> bool:
        try:
            self.tick(_STRIDE)
        except Exception as error:  # raised again where the parser was called
            self.error = error
        return self.error is not None


class Reader:
    """``base`` is where the skeleton begins in the text whose positions are told."""

    def __init__(
        self,
        skeleton: str,
        lifted: dict[int, Lifted],
        tables: Tables,
        base: int = 0,
        tick: Callable[[float], None] | None = None,
    ) -> None:
        self.skeleton, self.lifted, self.tables, self.base, self.tick = skeleton, lifted, tables, base, tick
        self.statements, self.readers = tables.statements, tables.parts
        self.data, self.named = legible(skeleton)
        self.depth = 0

    def span(self, node: Node) -> tuple[int, int]:
        return node.start_byte + self.base, node.end_byte + self.base

    def raw(self, node: Node) -> str:
        return self.skeleton[node.start_byte : node.end_byte]

    def between(self, start: int, end: int) -> str:
        return self.skeleton[start:end]

    def root(self) -> Node:
        """The grammar takes seconds over some texts of a few kilobytes, so the clock is asked while it runs."""
        if self.tick is None or len(self.data) < QUICK:
            return _PARSER.parse(self.data).root_node
        data = self.data
        late = _Late(self.tick)
        try:
            return _PARSER.parse(
                lambda offset, _point: data[offset : offset + _PIECE], progress_callback=late
            ).root_node
        except ValueError:
            _PARSER.reset()
            raise late.error or TooLongError from None

    def script(self) -> ir.Body:
        root = self.root()
        if root.has_error and (plainer := without_extended_globs(self.data)) is not None:
            self.data = plainer
            root = self.root()
        return self.body(root.children) if root.type == "program" else [self.broken(root)]

    def another(self, text: str) -> ir.Body:
        """A script within this one that its tree does not hold; positions are those of ``text``."""
        return read(text, self.tables, self.tick)

    def broken(self, node: Node) -> ir.Broken:
        return ir.Broken(self.span(node), self.raw(node))

    def body(self, nodes: list[Node]) -> ir.Body:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError
        out: ir.Body = []
        for node in nodes:
            if self.tick is not None:
                self.tick(0.0)
            kind = node.type
            if kind == "&":
                if out:
                    out[-1] = ir.Background(out[-1])
            elif kind in self.statements:
                out.append(self.statements[kind](self, node))
            elif kind == "ERROR" or node.is_missing:
                out.append(self.broken(node))
                out += self.body([c for c in node.children if c.type in self.statements])
        self.depth -= 1
        return out

    def one(self, node: Node) -> ir.Stmt:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError
        handler = self.statements.get(node.type)
        out = handler(self, node) if handler else self.broken(node)
        self.depth -= 1
        return out

    def word(self, node: Node) -> ir.WordIR:
        raw = self.raw(node)
        if node.type in {"word", "number"} and "\\" not in raw:
            return ir.WordIR((ir.Lit(raw),), self.span(node), raw)
        parts: list[ir.Part] = []
        self.parts(node, parts, quoted=False)
        return ir.WordIR(tuple(parts), self.span(node), raw)

    def parts(self, node: Node, into: list[ir.Part], *, quoted: bool) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeepError
        handler = self.readers.get(node.type)
        if handler is not None:
            handler(self, node, into, quoted)
        else:
            into += unquoted(self.raw(node))
        self.depth -= 1
