"""Assignments, functions, classes, branches and loops of a tree: a node in, the program node out."""

from __future__ import annotations

from typing import Any

from classifiers.code import ir
from classifiers.code.grammar.expressions import EITHER, LISTS
from classifiers.code.grammar.nodes import SKIP
from classifiers.code.grammar.parameters import Takers

_AT_LEAST_ONCE = frozenset({"do_statement", "repeat_statement"})
_OPPOSITE = ("unless", "until", "repeat")
_HANDLERS = frozenset({"catch_clause", "rescue"})
_ENDS = frozenset({"finally_clause", "ensure", "else"})
_DECLARES = frozenset({"variable_declarator", "variable_declaration"})  # a name of the scope it stands in
_CAUGHT = frozenset({"exceptions", "type_list"})  # which errors are caught
_BASES = frozenset({"class_heritage", "superclass", "base_clause"})


class Statements(Takers):
    def assign(self, node: Any) -> ir.Node:
        left, right = self.part(node, "left", "name"), self.part(node, "right", "value")
        if left is None or right is None:
            return ir.Other(self.source.span(node), tuple(self.block(node)))
        outer = node.type not in _DECLARES and left.type not in _DECLARES
        made = ir.Assign(self.source.span(node), (self.target(left),), self.node(right), outer)
        given = self.presets(left)
        return ir.Other(made.span, (*given, made)) if given else made

    def append(self, node: Any) -> ir.Node:
        """``a += b``, ``a ||= b``."""
        left, right, span = self.part(node, "left"), self.part(node, "right"), self.source.span(node)
        operator = self.operator(left, right)[:-1]
        target, value = self.target(left), self.node(right)
        if operator in EITHER:
            return ir.Assign(span, (target,), ir.Choice(span, None, (target, value)), outer=True)
        op = "+" if operator in {"+", ".", "<<"} else "?"
        return ir.Assign(span, (target,), ir.Binary(span, op, target, value), outer=True)

    def function(self, node: Any) -> ir.Node:
        name, body = self.part(node, "name"), self.part(node, "body")
        given = self.parameters(self.part(node, "parameters", "parameter"))
        block = self.block(body) if body is not None and self.table.get(body.type) is None else [self.node(body)]
        word = self.text(name) if name else ""
        if node.type == "method_definition" and self.text(node).startswith(("get ", "set ")):
            word = f"__get_{word}"  # called by looking at it
        span, names, taken = self.source.span(node), tuple(given.names), tuple(given.defaults)
        return ir.Function(span, word, names, (*given.first, *block), taken, given.rest, given.keywords)

    def klass(self, node: Any) -> ir.Node:
        body = self.part(node, "body")
        made = self.block(body) if body is not None else []
        methods = tuple(n for n in made if isinstance(n, ir.Function))
        bases = [n for c in node.named_children if c.type in _BASES for n in self.block(c)]
        rest = (*bases, *(n for n in made if not isinstance(n, ir.Function)))
        name = self.part(node, "name")
        return ir.Class(self.source.span(node), self.text(name) if name else "", methods, rest)

    def caught(self, node: Any) -> ir.Node:
        """``catch (e) { … }``, ``rescue => e``: the name holds an object that nobody knows."""
        held = self.part(node, "parameter", "name", "variable")
        while held is not None and held.named_child_count == 1 and held.type == "exception_variable":
            held = held.named_children[0]
        rest = [c for c in node.named_children if c.type not in SKIP and c.type not in _CAUGHT]
        rest = [
            c for c in rest if held is None or not (c.start_byte <= held.start_byte and held.end_byte <= c.end_byte)
        ]
        span = self.source.span(node)
        bound = [] if held is None else [ir.Assign(span, (self.target(held),), ir.Other(span))]
        return ir.Other(span, (*bound, *(n for c in rest for n in self.as_block(c))))

    def branch(self, node: Any) -> ir.Node:
        test = self.part(node, "condition")
        others = [c for c in node.named_children if test is None or c.id != test.id]
        taken = self.part(node, "consequence", "body") or (others[0] if others else None)
        rest = [c for c in others if taken is None or c.id != taken.id]
        return ir.If(
            self.source.span(node), self.tested(node), tuple(self.as_block(taken)), tuple(self.node(c) for c in rest)
        )

    def as_block(self, node: Any) -> list[ir.Node]:
        return [] if node is None else [self.node(node)] if self.table.get(node.type) else self.block(node)

    def loop(self, node: Any) -> ir.Node:
        parts = [c for c in node.named_children if c.type not in SKIP]
        target = self.part(node, "left", "variable", "pattern")
        items, body = self.part(node, "right", "list", "value"), self.part(node, "body", "block")
        if target is None and len(parts) >= 2:
            items, target = items or parts[0], parts[1]
        made = (
            ir.Sequence(self.source.span(items), tuple(self.block(items)))
            if items is not None and items.type in LISTS
            else None
        )
        return ir.Loop(self.source.span(node), self.node(target), made or self.node(items), tuple(self.as_block(body)))

    def yielded(self, node: Any) -> ir.Node:
        """``yield a`` and ``yield* a``."""
        parts = self.block(node)
        return ir.Yield(self.source.span(node), parts[0] if parts else None, whole=self.text(node).startswith("yield*"))

    def bumped(self, node: Any) -> ir.Node:
        """``i++``."""
        span = self.source.span(node)
        return ir.Assign(span, (self.node(self.part(node, "argument") or node.named_children[0]),), ir.Other(span))

    def again(self, node: Any) -> ir.Node:
        """``while``, ``until``, ``do`` and ``for (…; …; …)``: the body may run any number of times."""
        span, body = self.source.span(node), self.as_block(self.part(node, "body", "block"))
        step, first = self.part(node, "increment", "update"), self.part(node, "initializer", "initialize")
        turns = (*body, self.node(step)) if step is not None else tuple(body)
        test = self.tested(node)
        loop = ir.If(span, test, turns, again=True)
        before = [] if first is None else [self.node(first)]
        before += body if node.type in _AT_LEAST_ONCE else []
        return ir.Other(span, (*before, loop)) if before else loop

    def tested(self, node: Any) -> ir.Node:
        """A condition; ``unless`` and ``until`` ask for its opposite."""
        test = self.part(node, "condition")
        read = self.node(test)
        opposite = node.type.startswith(_OPPOSITE) or any(c.type in _OPPOSITE for c in node.children)
        return ir.Other(self.source.span(node), (read,)) if opposite else read

    def optional(self, node: Any) -> ir.Node:
        """Statements that may be left out: a case, a handler."""
        return ir.perhaps(self.source.span(node), self.block(node))

    def tried(self, node: Any) -> ir.Node:
        """What may be left before its end, its handlers, and what comes in any case."""
        span, held = self.source.span(node), [c for c in node.named_children if c.type not in SKIP]
        handlers = [c for c in held if c.type in _HANDLERS]
        ends = [c for c in held if c.type in _ENDS]
        body = [self.node(c) for c in held if c not in handlers and c not in ends]
        tried = [ir.perhaps(span, body)] if handlers else body
        caught = (ir.perhaps(span, (self.node(c),)) for c in handlers)
        return ir.Other(span, (*tried, *caught, *map(self.node, ends)), last=not handlers and not ends)

    def returned(self, node: Any) -> ir.Node:
        parts = self.block(node)
        return ir.Return(self.source.span(node), parts[0] if parts else None)
