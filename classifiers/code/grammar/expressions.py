"""Calls, members, operators and collections of a tree: a node in, the program node out."""

from __future__ import annotations

from typing import Any

from classifiers.code import ir
from classifiers.code.grammar.nodes import SKIP
from classifiers.code.grammar.texts import Texts

LISTS = frozenset({"arguments", "argument_list", "list_expression", "argument_expression_list"})
EITHER = frozenset({"||", "??", "or", "//"})  # the first that is true, or is there
_MEMBERS = frozenset({"spread_element", "method_definition"})


class Expressions(Texts):
    def call(self, node: Any) -> ir.Node:
        func = self.part(node, "function", "constructor")
        args, named = self.arguments(self.part(node, "arguments"))
        return ir.Call(self.source.span(node), self.function_name(func), tuple(args), tuple(named))

    def function_name(self, node: Any) -> ir.Node:
        return (
            ir.Name(self.source.span(node), self.text(node))
            if node is not None and not node.named_children
            else self.node(node)
        )

    def new(self, node: Any) -> ir.Node:
        """``new Type(args)``: a call of the type."""
        kind = self.part(node, "constructor") or (node.named_children[0] if node.named_children else None)
        given = self.part(node, "arguments") or next((c for c in node.named_children if c.type == "arguments"), None)
        args, named = self.arguments(given)
        func = (
            self.node(kind)
            if kind is not None and kind.named_children
            else ir.Name(self.source.span(node), self.text(kind))
        )
        return ir.Call(self.source.span(node), ir.Attr(self.source.span(node), func, "new"), tuple(args), tuple(named))

    def method(self, node: Any) -> ir.Node:
        """``receiver.method(args) { block }``; without a receiver, a function."""
        receiver, name = self.part(node, "receiver", "object", "scope", "invocant"), self.part(node, "method", "name")
        args, named = self.arguments(self.part(node, "arguments"))
        block = self.part(node, "block")
        if block is not None:
            args.append(self.node(block))
        word = self.text(name) if name is not None else "call"
        if receiver is None:
            func: ir.Node = ir.Name(self.source.span(node), word)
        else:
            held = (
                self.node(receiver)
                if receiver.type != "name"
                else ir.Name(self.source.span(receiver), self.text(receiver))
            )
            func = ir.Attr(self.source.span(node), held, word)
        return ir.Call(self.source.span(node), func, tuple(args), tuple(named))

    def arguments(self, node: Any) -> tuple[list[ir.Node], list[tuple[str, ir.Node]]]:
        args: list[ir.Node] = []
        named: list[tuple[str, ir.Node]] = []
        if node is None:
            return args, named
        children = node.named_children if node.type in LISTS else [node]
        for child in children:
            if child.type == "pair":
                named.append(self.pair(child))
            elif child.type not in SKIP:
                args.append(self.node(child))
        return args, named

    def pair(self, node: Any) -> tuple[str, ir.Node]:
        key = self.part(node, "key")
        return self.text(key).strip("\"':") if key is not None else "", self.node(self.part(node, "value"))

    def member(self, node: Any) -> ir.Node:
        name = self.part(node, "property", "name")
        return ir.Attr(
            self.source.span(node), self.node(self.part(node, "object", "scope")), self.text(name) if name else ""
        )

    def index(self, node: Any) -> ir.Node:
        parts = [c for c in node.named_children if c.type not in SKIP]
        obj = self.part(node, "object") or parts[0]
        key = self.part(node, "index") or parts[-1]
        return ir.Index(self.source.span(node), self.node(obj), self.node(key))

    def binary(self, node: Any) -> ir.Node:
        left, right = self.part(node, "left"), self.part(node, "right")
        if left is None or right is None:
            return ir.Other(self.source.span(node), tuple(self.block(node)))
        operator = self.operator(left, right)
        if operator in EITHER:
            return ir.Choice(self.source.span(node), None, (self.node(left), self.node(right)))
        op = "+" if operator in {"+", "."} else "/" if operator == "/" else "?"
        return ir.Binary(self.source.span(node), op, self.node(left), self.node(right))

    def unary(self, node: Any) -> ir.Node:
        """``!a``, ``-1``, ``typeof a``: not what it is done to."""
        span, parts = self.source.span(node), self.block(node)
        only = parts[0] if len(parts) == 1 else None
        if self.text(node).startswith("-") and isinstance(only, ir.Const) and isinstance(only.value, int):
            return ir.Const(span, -only.value)
        return ir.Other(span, tuple(parts))

    def choice(self, node: Any) -> ir.Node:
        """``test ? a : b``, and PHP's ``a ?: b``."""
        test, other = self.part(node, "condition"), self.part(node, "alternative")
        taken = self.part(node, "consequence", "consequent", "body")
        if taken is None:
            return ir.Choice(self.source.span(node), None, (self.node(test), self.node(other)))
        return ir.Choice(self.source.span(node), self.node(test), (self.node(taken), self.node(other)))

    def first(self, node: Any) -> ir.Node:
        """The value before a type."""
        return self.node(node.named_children[0])

    def spread(self, node: Any) -> ir.Node:
        return ir.Spread(self.source.span(node), self.node(node.named_children[0] if node.named_children else None))

    def sequence(self, node: Any) -> ir.Node:
        return ir.Sequence(self.source.span(node), tuple(self.block(node)))

    def mapping(self, node: Any) -> ir.Node:
        pairs = [self.pair(c) for c in node.named_children if c.type == "pair"]
        keys = [self.part(c, "key") for c in node.named_children if c.type == "pair"]
        computed = [("", self.node(k)) for k in keys if k is not None and k.type == "computed_property_name"]
        others = [(self.method_name(c), self.member_made(c)) for c in node.named_children if c.type in _MEMBERS]
        return ir.Table(self.source.span(node), (*computed, *others, *pairs))

    def method_name(self, node: Any) -> str:
        name = self.part(node, "name") if node.type == "method_definition" else None
        return self.text(name) if name is not None and not self.text(node).startswith(("get ", "set ")) else ""

    def member_made(self, node: Any) -> ir.Node:
        """``...other``, a method, or one that any look at the object may call: a getter, ``[Symbol.toPrimitive]``."""
        made, name = self.node(node), self.part(node, "name")
        computed = name is not None and name.type == "computed_property_name"
        is_getter = node.type == "method_definition" and (computed or self.text(node).startswith("get "))
        return ir.Call(self.source.span(node), made) if is_getter else made

    def included(self, node: Any) -> ir.Node:
        """``include "x.php"``: a call whose name nobody else has."""
        func = ir.Name(self.source.span(node), "__include__")
        return ir.Call(self.source.span(node), func, tuple(self.block(node)))

    def evaluated(self, node: Any) -> ir.Node:
        parts = self.block(node)
        if parts and node.named_children[0].type == "block":
            return ir.Other(self.source.span(node), tuple(parts), last=True)
        return ir.Call(self.source.span(node), ir.Name(self.source.span(node), "eval"), tuple(parts))
