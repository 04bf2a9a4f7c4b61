"""The walk over a script's tree: a node in, the program node its type's reader makes out."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from classifiers.code import ir
from classifiers.code.treesitter import Source

_PASS_THROUGH = re.compile(
    r".*_expression$|^unary|^statement_list$|^program$|^script_block_body$|^pipeline_chain$|^(string|integer|real)_literal$"
)
MAX_STATEMENTS = 2_000


class Front:
    """``readers``: by node type; other types are read for their parts. ``broken``: spans that do not parse."""

    def __init__(self, source: Source, readers: Mapping[str, Callable[[Front, Any], ir.Node]]) -> None:
        self.source, self.readers = source, readers
        self.broken: list[ir.Span] = []
        found = descendants(source.root, "script_parameter") if source.root.child_count < MAX_STATEMENTS else []
        self.params = {  # of the script's own functions: no switches unless they say so
            source.text(v).lstrip("$").lower()
            for p in found
            if "[switch]" not in source.text(p).lower()
            for v in descendants(p, "variable")[:1]
        }

    def block(self, node: Any) -> list[ir.Node]:
        return [self.node(child) for child in node.named_children if child.type not in {"comment", "empty_statement"}]

    def node(self, node: Any) -> ir.Node:
        self.source.step()
        if node.type == "ERROR" or node.is_missing:
            self.broken.append(self.source.span(node))
            return ir.Other(self.source.span(node), tuple(self.block(node)))
        reader = self.readers.get(node.type)
        if reader is not None:
            return reader(self, node)
        named = [c for c in node.named_children if c.type != "comment"]
        if len(named) == 1 and _PASS_THROUGH.match(node.type):
            return self.node(named[0])
        return ir.Other(self.source.span(node), tuple(self.node(c) for c in named))


def descendants(node: Any, kind: str, *, deep: bool = True) -> list[Any]:
    """Descendants of a type, in order; a match is not searched inside when not ``deep``."""
    out: list[Any] = []
    stack = list(reversed(node.named_children)) if node is not None else []
    while stack:
        child = stack.pop()
        if child.type == kind:
            out.append(child)
            if not deep:
                continue
        stack += reversed(child.named_children)
    return out
