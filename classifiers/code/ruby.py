"""Ruby's front end. Raises SyntaxError."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront
from classifiers.code.treesitter import Source, parser_of

_TABLE = {
    "bare_string": "string",
    "identifier": "name", "constant": "name", "global_variable": "name", "instance_variable": "field",
    "class_variable": "field", "self": "name",
    "string": "string", "subshell": "command", "integer": "number", "simple_symbol": "word", "true": "truth",
    "false": "truth", "nil": "truth", "call": "method", "scope_resolution": "scope", "element_reference": "index",
    "binary": "binary", "array": "sequence", "string_array": "sequence", "hash": "mapping", "assignment": "assign",
    "operator_assignment": "append", "method": "function", "singleton_method": "function", "block": "function",
    "do_block": "function", "lambda": "function", "class": "klass", "module": "klass", "if": "branch",
    "unary": "unary", "conditional": "choice", "while": "again", "until": "again", "while_modifier": "again",
    "until_modifier": "again",
    "case": "cases", "chained_string": "chained", "case_match": "cases", "begin": "tried",
    "unless": "branch", "if_modifier": "branch", "unless_modifier": "branch", "for": "loop", "return": "returned",
    "block_argument": "handed", "rescue": "caught", "splat_argument": "spread", "left_assignment_list": "sequence",
    "right_assignment_list": "sequence", "singleton_class": "own_class", "super": "upper",
}  # fmt: skip


_NUMBERED = re.compile(r"\b(?:_1|it)\b")


class _Front(GrammarFront):
    def scope(self, node: Any) -> ir.Node:
        """``::File`` is the ``File`` of all."""
        return ir.Name(self.source.span(node), self.text(node).removeprefix("::"))

    def own_class(self, node: Any) -> ir.Node:
        """``class << self``: methods of the class itself."""
        made = self.klass(node)
        return replace(made, name="<<") if isinstance(made, ir.Class) else made

    def method(self, node: Any) -> ir.Node:
        called = self.part(node, "method")
        return super().method(node) if called is None or called.type != "super" else self.upper(node)

    def upper(self, node: Any) -> ir.Node:
        """``super``: the method of this name that another class has."""
        within = node.parent
        while within is not None and within.type not in {"method", "singleton_method"}:
            within = within.parent
        name = self.part(within, "name") if within is not None else None
        span = self.source.span(node)
        args, named = self.arguments(self.part(node, "arguments"))
        func = ir.Attr(span, ir.Name(span, "super"), self.text(name) if name is not None else "super")
        return ir.Call(span, func, tuple(args), tuple(named))

    def function(self, node: Any) -> ir.Node:
        """``->(x) { … }``: the block is the lambda's body, not a function within it."""
        made = super().function(node)
        inner = made.body[-1] if isinstance(made, ir.Function) and made.body else None
        if node.type == "lambda" and isinstance(made, ir.Function) and isinstance(inner, ir.Function):
            return replace(made, params=made.params or inner.params, body=(*made.body[:-1], *inner.body))
        if node.type in {"block", "do_block"} and isinstance(made, ir.Function) and not made.params:
            word = next(iter(_NUMBERED.findall(self.text(node))), None)  # ``{ puts _1 }``, ``{ puts it }``
            return replace(made, params=(word,)) if word is not None else made
        return made

    def target(self, node: Any) -> ir.Node:
        """``a.name = b`` is given to the object."""
        receiver, method = self.part(node, "receiver"), self.part(node, "method")
        if node.type != "call" or receiver is None or method is None:
            return super().target(node)
        return ir.Attr(self.source.span(node), self.node(receiver), self.text(method))

    def chained(self, node: Any) -> ir.Node:
        """``'a' 'b'`` is one text."""
        return ir.Join(self.source.span(node), tuple(self.block(node)))

    def cases(self, node: Any) -> ir.Node:
        """``case``: what is asked, then ways of which one is taken; its value is that way's."""
        span, asked = self.source.span(node), self.part(node, "value")
        ways = [c for c in node.named_children if c.type in {"when", "in_clause", "else"}]
        made: tuple[ir.Node, ...] = ()
        for way in reversed(ways):
            body = self.part(way, "body") if way.type != "else" else way
            patterns = [self.node(c) for c in way.named_children if body is None or c.id != body.id]
            if way.type == "else":
                made = tuple(self.block(way))
            else:
                made = (ir.If(span, ir.Other(span, tuple(patterns)), tuple(self.as_block(body)), made),)
        return ir.Other(span, made if asked is None else (self.node(asked), *made), last=True)

    def binary(self, node: Any) -> ir.Node:
        """``a << b`` is a method, which changes ``a``; ``a % b`` fills the text ``a``."""
        left, right = self.part(node, "left"), self.part(node, "right")
        if left is not None and right is not None and self.operator(left, right) == "%":
            return ir.Binary(self.source.span(node), "%", self.node(left), self.node(right))
        if left is None or right is None or self.operator(left, right) != "<<":
            return super().binary(node)
        span, given = self.source.span(node), [self.node(right)]
        while left.type == "binary" and (inner := self.part(left, "left")) is not None:
            given.append(self.node(self.part(left, "right")))
            left = inner
        held = self.node(left)
        return ir.Other(span, tuple(ir.Call(span, ir.Attr(span, held, "<<"), (g,)) for g in reversed(given)), last=True)

    def field(self, node: Any) -> ir.Node:
        """``@name`` belongs to the object, whatever method says it."""
        span = self.source.span(node)
        return ir.Attr(span, ir.Name(span, "self"), self.text(node).lstrip("@"))

    def handed(self, node: Any) -> ir.Node:
        """``&:delete``: a function that calls this method of what it is given."""
        symbol = node.named_children[0] if node.named_children else None
        if symbol is None or symbol.type != "simple_symbol":
            return self.node(symbol)
        span = self.source.span(node)
        call = ir.Call(span, ir.Attr(span, ir.Name(span, "_each"), self.text(symbol).lstrip(":")))
        return ir.Function(span, "", ("_each",), (call,))


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    import tree_sitter_ruby  # noqa: PLC0415 - loaded when the first program comes

    return _Front(Source(text, parser_of("ruby", tree_sitter_ruby.language()), deadline=deadline), _TABLE).program()
