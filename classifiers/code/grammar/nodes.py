"""The walk over a tree-sitter tree: a node in, the program node its type's reader makes out. What the readers share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from classifiers.code import ir
from classifiers.code.treesitter import Source

MAX_NESTING = 400
SKIP = frozenset({"comment", "php_tag", "type_annotation", "hash_bang_line", "empty_statement", "text_interpolation"})


class Nodes:
    """``table``: node type → name of the method that reads it; types in no table are read for their parts."""

    def __init__(self, source: Source, table: Mapping[str, str]) -> None:
        self.source, self.table = source, table
        self.nesting = 0
        self.broken = False

    def program(self) -> list[ir.Node]:
        """Raises SyntaxError when nothing of the text could be read."""
        nodes = self.block(self.source.root)
        if self.broken or self.source.root.has_error:  # the root itself may be what the grammar gave up on
            raise SyntaxError("the grammar does not read this text")
        return nodes

    def operator(self, left: Any, right: Any) -> str:
        """What stands between two operands."""
        return self.source.data[left.end_byte : right.start_byte].decode("utf-8", "replace").strip()

    def declared(self, pattern: re.Pattern[str]) -> dict[str, str]:
        """Names the text declares (``pattern``'s group), each by its last part: ``A::go`` and ``A.go`` are go."""
        found = pattern.findall(self.source.data.decode("utf-8", "replace"))
        return {re.split(r"[.:]+", name)[-1]: name for name in found}

    def block(self, node: Any) -> list[ir.Node]:
        return [self.node(child) for child in node.named_children if child.type not in SKIP] if node is not None else []

    def node(self, node: Any) -> ir.Node:
        if node is None:
            return ir.Other((0, 0))
        self.source.step()
        self.broken = self.broken or node.type == "ERROR" or node.is_missing
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise RecursionError
        try:
            name = self.table.get(node.type)
            if name is not None:
                read: ir.Node = getattr(self, name)(node)
                return read
            parts = self.block(node)
            return parts[0] if len(parts) == 1 else ir.Other(self.source.span(node), tuple(parts))
        finally:
            self.nesting -= 1

    def part(self, node: Any, *names: str) -> Any:
        """The first of these fields the node has."""
        return next((found for name in names if (found := node.child_by_field_name(name)) is not None), None)

    def text(self, node: Any) -> str:
        return self.source.text(node)
