"""Perl's lists, hashes and the loops over them: a tree's node in, the program node out."""

from __future__ import annotations

from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront

_SINGLE = ("literal", "number", "scalar", "subroutine_expression", "refgen_expression")  # they give one value


class Collections(GrammarFront):
    def worded(self, node: Any) -> ir.Node:
        """``qw(a b)``."""
        span = self.source.span(node)
        words = self.text(self.part(node, "content")).split()
        return ir.Sequence(span, tuple(ir.Const(span, w) for w in words))

    def target(self, node: Any) -> ir.Node:
        """``my ($a, $b) = …``; a list among them takes all that is left."""
        names = [c for c in node.named_children if c.type in {"scalar", "array", "hash"}]
        if node.type != "variable_declaration" or len(names) < 2:
            return super().target(node)
        span = self.source.span(node)
        return ir.Sequence(span, tuple(self.node(c) if c.type == "scalar" else ir.Other(span) for c in names))

    def hashed(self, node: Any) -> ir.Node:
        """``{name => value, …}`` (perlref(1))."""
        parts = [c for n in node.named_children for c in (n.named_children if n.type == "list_expression" else [n])]
        if len(parts) % 2:
            return ir.Other(self.source.span(node), tuple(self.block(node)))
        named = [(self.key(k), self.node(v)) for k, v in zip(parts[::2], parts[1::2], strict=False)]
        return ir.Table(self.source.span(node), tuple(named))

    def key(self, node: Any) -> str:
        """Empty where nobody knows it."""
        return "" if "$" in self.text(node) or "@" in self.text(node) else self.text(node).strip("\"'")

    def container(self, node: Any) -> ir.Node:
        """``$a[0]`` is of ``@a``, ``$h{x}`` of ``%h``, ``$$r[0]`` of what ``$r`` points to (perldata(1))."""
        word = self.text(node).lstrip("$@%{").rstrip("}")
        through = self.text(node).startswith(("$$", "@$", "${$"))
        of_hash = node.parent is not None and node.parent.type.startswith("hash")
        return ir.Name(self.source.span(node), f"${word}" if through else f"%{word}" if of_hash else word)

    def mapped(self, node: Any) -> ir.Node:
        """``map { … } list`` and ``grep``: ``$_`` is each member in its turn (perlfunc(1))."""
        span, taken, given = self.source.span(node), self.part(node, "callback"), self.part(node, "list")
        body = self.block(taken) if taken is not None and taken.type == "block" else [self.node(taken)]
        gives = "all" if self.text(node).startswith("map") else "some"
        return ir.Loop(span, ir.Name(span, "$_"), self.listed(given), tuple(body), gives)

    def listed(self, node: Any) -> ir.Node:
        """What a loop goes through: one list of all that stands there."""
        while node is not None and node.type == "parenthesized_expression" and node.named_child_count == 1:
            node = node.named_children[0]
        read = self.node(node)
        single = node is not None and node.type.endswith(_SINGLE)
        return ir.Sequence(read.span, (read,)) if single else read

    def loop(self, node: Any) -> ir.Node:
        """``for (list) { … }`` and ``… for list``: without a variable it is ``$_`` (perlsyn(1))."""
        span, variable = self.source.span(node), self.part(node, "variable")
        target = ir.Name(span, "$_") if variable is None else self.node(variable)
        given, block = self.part(node, "list"), self.part(node, "block")
        body = self.block(block) if block is not None else [self.node(node.named_children[0])]
        return ir.Loop(span, target, self.listed(given), tuple(body))

    def assign(self, node: Any) -> ir.Node:
        """``$a .= $b`` is an assignment of the grammar's too."""
        left, right = self.part(node, "left"), self.part(node, "right")
        if left is None or right is None or self.operator(left, right) != "=":
            return super().assign(node) if left is None or right is None else self.append(node)
        held = self.part(left, "variable") or left
        if held.type == "hash" and right.type == "parenthesized_expression":
            return ir.Assign(self.source.span(node), (self.node(held),), self.hashed(right))
        if held.type == "array" and right.type == "parenthesized_expression" and right.named_child_count == 1:
            return ir.Assign(self.source.span(node), (self.node(held),), self.listed(right))
        return super().assign(node)

    def variable(self, node: Any) -> ir.Node:
        """``@list``; ``@{[ … ]}`` runs what is inside."""
        blocks = [b for c in node.named_children for b in (c, *c.named_children) if b.type == "block"]
        inside = tuple(n for b in blocks for n in self.block(b))
        return ir.Other(self.source.span(node), inside, last=True) if inside else self.name(node)
