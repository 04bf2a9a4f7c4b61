"""Lua's front end (5.1 to 5.4, LuaJIT). Raises SyntaxError."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront
from classifiers.code.grammar.nodes import SKIP
from classifiers.code.treesitter import Source, parser_of

_TABLE = {
    "identifier": "name", "string": "string", "number": "number", "true": "truth", "false": "truth", "nil": "truth",
    "function_call": "call", "dot_index_expression": "member", "method_index_expression": "member",
    "bracket_index_expression": "index", "binary_expression": "binary", "unary_expression": "unary",
    "table_constructor": "mapping", "vararg_expression": "others",
    "assignment_statement": "assign", "function_declaration": "function", "function_definition": "function",
    "if_statement": "branch", "elseif_statement": "branch", "for_statement": "loop",
    "while_statement": "again", "repeat_statement": "again", "return_statement": "returned",
}  # fmt: skip


_METHOD = re.compile(r"\bfunction\s+(\w+(?:\.\w+)*[.:]\w+)")


class _Front(GrammarFront):
    def call(self, node: Any) -> ir.Node:
        """``f(x)``, ``m.f(x)``, ``o:f(x)``."""
        args, _ = self.arguments(self.part(node, "arguments"))
        span, called = self.source.span(node), self.part(node, "name")
        usual = ir.Call(span, self.function_name(called), tuple(args))
        method = self.part(called, "method", "field") if called is not None else None
        own = self.methods.get(self.text(method)) if method is not None else None
        if own is None or (self.text(called) != own and called.type == "dot_index_expression"):
            return usual
        ours = ir.Call(span, ir.Name(self.source.span(called), own), tuple(args))
        return ours if self.text(called) == own else ir.Other(span, (usual, ours), last=True)

    @cached_property
    def methods(self) -> dict[str, str]:
        """What this text declares as a part of a table, which a table that inherits from it may be asked for."""
        return self.declared(_METHOD)

    def member(self, node: Any) -> ir.Node:
        held, name = self.part(node, "table"), self.part(node, "field", "method")
        return ir.Attr(self.source.span(node), self.node(held), self.text(name))

    def escaped(self, text: str) -> str:
        r"""``\47`` is a character by its number."""
        return chr(int(text[1:])) if text[1:].isdecimal() else super().escaped(text)

    def others(self, node: Any) -> ir.Node:
        """``...``: the arguments that no name takes."""
        return ir.Spread(self.source.span(node), ir.Name(self.source.span(node), "..."))

    def index(self, node: Any) -> ir.Node:
        held, key = self.part(node, "table"), self.node(self.part(node, "field"))
        if isinstance(key, ir.Const) and isinstance(key.value, int):  # counted from one
            key = ir.Const(key.span, key.value - 1) if key.value > 0 else ir.Other(key.span)
        return ir.Index(self.source.span(node), self.node(held), key)

    def binary(self, node: Any) -> ir.Node:
        left, right = self.part(node, "left"), self.part(node, "right")
        operator = self.operator(left, right)
        if operator == "or":
            return ir.Choice(self.source.span(node), None, (self.node(left), self.node(right)))
        if operator == "and":
            return ir.Choice(self.source.span(node), self.node(left), (self.node(right), ir.Other((0, 0))))
        op = "+" if operator == ".." else "?"
        return ir.Binary(self.source.span(node), op, self.node(left), self.node(right))

    def mapping(self, node: Any) -> ir.Node:
        """``{1, 2}`` is a list, ``{a = 1, ["b"] = 2, 3}`` a table."""
        fields = [c for c in node.named_children if c.type == "field"]
        span, names = self.source.span(node), [self.part(c, "name") for c in fields]
        values = [self.node(self.part(c, "value")) for c in fields]
        if fields and not any(names):
            return ir.Sequence(span, tuple(values))
        implied = [("", ir.Call(span, v)) for v in values if isinstance(v, ir.Function)]  # ``__gc``, ``__call``
        implied = implied if any(self.text(n).startswith("__") for n in names if n is not None) else []
        keys = ["" if n is None else self.text(n).strip("\"'") for n in names]
        return ir.Table(span, (*implied, *zip(keys, values, strict=True)))

    def assign(self, node: Any) -> ir.Node:
        """``a, b = x, y``; a call that gives several values gives each name its own."""
        lists = {c.type: [p for p in c.named_children if p.type not in SKIP] for c in node.named_children}
        targets = [self.node(p) for p in lists.get("variable_list", [])]
        values = [self.node(p) for p in lists.get("expression_list", [])]
        span = self.source.span(node)
        outer = node.parent is None or node.parent.type != "variable_declaration"
        if len(targets) == len(values) > 1:  # all values are there before any name is set
            return ir.Assign(span, (ir.Sequence(span, tuple(targets)),), ir.Sequence(span, tuple(values)), outer)
        made = [ir.Assign(span, (t,), v, outer) for t, v in zip(targets, values, strict=False)]
        return made[0] if len(made) == 1 else ir.Other(span, (*made, *values[len(made) :]))

    def loop(self, node: Any) -> ir.Node:
        """``for k, v in f(x) do`` binds names to what is gone through; ``for i = 1, 9 do`` counts."""
        clause, body = self.part(node, "clause"), self.block(self.part(node, "body"))
        lists = {c.type: c for c in clause.named_children}
        names, items = lists.get("variable_list"), lists.get("expression_list")
        if names is None or items is None:
            return ir.Loop(self.source.span(node), self.node(clause.named_children[0]), ir.Other((0, 0)), tuple(body))
        name, gone_through = self.node(names.named_children[-1]), self.node(items.named_children[0])
        if len(names.named_children) == 1 and self.text(items).startswith(("pairs", "ipairs")):  # its keys
            gone_through = ir.Other(gone_through.span, (gone_through,))
        return ir.Loop(self.source.span(node), name, gone_through, tuple(body))


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    import tree_sitter_lua  # noqa: PLC0415 - loaded when the first program comes

    return _Front(Source(text, parser_of("lua", tree_sitter_lua.language()), deadline=deadline), _TABLE).program()
