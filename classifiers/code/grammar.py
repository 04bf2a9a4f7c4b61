"""Tree-sitter trees to the program form, for languages whose grammars name their parts alike.

In: a text, its parser, and a table from node type to the name of the method below that reads it. Out: program nodes.
Node types that are in no table are read for their parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from classifiers.code import ir
from classifiers.code.treesitter import Source

MAX_NESTING = 400
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}
_TEXTS = frozenset({"string_fragment", "string_content", "heredoc_content", "nowdoc_string"})
_SKIP = frozenset({"comment", "php_tag", "type_annotation", "hash_bang_line", "empty_statement", "text_interpolation"})


class GrammarFront:
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

    def block(self, node: Any) -> list[ir.Node]:
        return (
            [self.node(child) for child in node.named_children if child.type not in _SKIP] if node is not None else []
        )

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

    # expressions

    def name(self, node: Any) -> ir.Node:
        return ir.Name(self.source.span(node), self.text(node).lstrip("@"))

    def plain(self, node: Any) -> ir.Node:
        """A string that interpolates nothing."""
        return ir.Const(self.source.span(node), re.sub(r"\\(['\\])", r"\1", self.text(node)[1:-1]))

    def string(self, node: Any) -> ir.Node:
        span = self.source.span(node)
        parts: list[ir.Node] = []
        holder = node.child_by_field_name("content") or node
        for child in holder.named_children:
            if child.type in _TEXTS:
                parts.append(ir.Const(self.source.span(child), self.unescaped(child)))
            elif child.type == "escape_sequence":
                parts.append(ir.Const(self.source.span(child), _escape(self.text(child))))
            elif child.type not in _SKIP:
                parts.append(self.node(child))
        if holder is not node and holder.named_children:
            return ir.Join(span, tuple(self._with_gaps(holder)))
        if holder is not node:
            return ir.Const(span, self.unescaped(holder))
        if not parts:
            return ir.Const(span, "")
        return parts[0] if len(parts) == 1 else ir.Join(span, tuple(parts))

    def _with_gaps(self, holder: Any) -> Iterable[ir.Node]:
        """Perl's string content: variables are nodes, the text between them is not."""
        at = holder.start_byte
        for child in holder.named_children:
            yield self._gap(at, child.start_byte)
            is_escape = child.type == "escape_sequence"
            yield ir.Const(self.source.span(child), _escape(self.text(child))) if is_escape else self.node(child)
            at = child.end_byte
        yield self._gap(at, holder.end_byte)

    def _gap(self, start: int, end: int) -> ir.Node:
        text = self.source.data[start:end].decode("utf-8", "replace")
        return ir.Const((self.source.point(start), self.source.point(end)), text)

    def unescaped(self, node: Any) -> str:
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m.group(1), m.group(1)), self.text(node), flags=re.DOTALL)

    def number(self, node: Any) -> ir.Node:
        text = self.text(node).replace("_", "").lower()
        try:
            return ir.Const(self.source.span(node), int(text, 0))
        except ValueError:
            return ir.Other(self.source.span(node))

    def word(self, node: Any) -> ir.Node:
        """A symbol or bareword as text."""
        return ir.Const(self.source.span(node), self.text(node).lstrip(":"))

    def truth(self, node: Any) -> ir.Node:
        return ir.Const(self.source.span(node), {"true": True, "false": False}.get(self.text(node).lower()))

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
        children = node.named_children if node.type in _LISTS else [node]
        for child in children:
            if child.type == "pair":
                named.append(self.pair(child))
            elif child.type not in _SKIP:
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

    def scope(self, node: Any) -> ir.Node:
        """``Net::HTTP`` is one name."""
        return ir.Name(self.source.span(node), self.text(node))

    def index(self, node: Any) -> ir.Node:
        parts = [c for c in node.named_children if c.type not in _SKIP]
        obj = self.part(node, "object") or parts[0]
        key = self.part(node, "index") or parts[-1]
        return ir.Index(self.source.span(node), self.node(obj), self.node(key))

    def binary(self, node: Any) -> ir.Node:
        left, right = self.part(node, "left"), self.part(node, "right")
        if left is None or right is None:
            return ir.Other(self.source.span(node), tuple(self.block(node)))
        operator = self.source.data[left.end_byte : right.start_byte].decode("utf-8", "replace").strip()
        op = "+" if operator in {"+", ".", "<<"} else "/" if operator == "/" else "?"
        return ir.Binary(self.source.span(node), op, self.node(left), self.node(right))

    def first(self, node: Any) -> ir.Node:
        """The value before a type."""
        return self.node(node.named_children[0])

    def sequence(self, node: Any) -> ir.Node:
        return ir.Sequence(self.source.span(node), tuple(self.block(node)))

    def mapping(self, node: Any) -> ir.Node:
        pairs = [self.pair(c) for c in node.named_children if c.type == "pair"]
        keys = [self.part(c, "key") for c in node.named_children if c.type == "pair"]
        computed = [("", self.node(k)) for k in keys if k is not None and k.type == "computed_property_name"]
        others = [("", self.member_made(c)) for c in node.named_children if c.type in _MEMBERS]
        return ir.Table(self.source.span(node), (*computed, *others, *pairs))

    def member_made(self, node: Any) -> ir.Node:
        """``...other``, a method, or a getter, which any look at the object may call."""
        made = self.node(node)
        is_getter = node.type == "method_definition" and self.text(node).startswith("get ")
        return ir.Call(self.source.span(node), made) if is_getter else made

    def command(self, node: Any) -> ir.Node:
        return ir.Command(self.source.span(node), self.string(node))

    # statements

    def assign(self, node: Any) -> ir.Node:
        left, right = self.part(node, "left", "name"), self.part(node, "right", "value")
        if left is None or right is None:
            return ir.Other(self.source.span(node), tuple(self.block(node)))
        made = ir.Assign(self.source.span(node), (self.target(left),), self.node(right))
        given = [self.node(self.part(c, "right")) for c in _within(left) if c.type in _GIVEN]
        return ir.Other(made.span, (*given, made)) if given else made

    def append(self, node: Any) -> ir.Node:
        left, right = self.target(self.part(node, "left")), self.node(self.part(node, "right"))
        return ir.Assign(self.source.span(node), (left,), ir.Binary(self.source.span(node), "+", left, right))

    def target(self, node: Any) -> ir.Node:
        """``const {a, b: c} = …`` binds members; everything else is an expression."""
        if node.type != "object_pattern":
            return self.node(node)
        names = []
        for child in node.named_children:
            value = child.child_by_field_name("value") if child.type == "pair_pattern" else child
            key = child.child_by_field_name("key") if child.type == "pair_pattern" else child
            names.append((self.text(key), ir.Name(self.source.span(child), self.text(value).partition("=")[0].strip())))
        return ir.Table(self.source.span(node), tuple(names))

    def function(self, node: Any) -> ir.Node:
        name, body = self.part(node, "name"), self.part(node, "body")
        params = self.part(node, "parameters", "parameter")
        block = self.block(body) if body is not None and self.table.get(body.type) is None else [self.node(body)]
        names = [] if params is None else re.findall(r"[$\w]+", re.sub(r"=[^,]*", "", self.text(params)))
        given = [] if params is None else [c for c in params.named_children if c.type in _DEFAULTS]
        defaults = [self.node(self.part(c, "right", "value", "default_value")) for c in given]
        return ir.Function(self.source.span(node), self.text(name) if name else "", tuple(names), (*defaults, *block))

    def klass(self, node: Any) -> ir.Node:
        body = self.part(node, "body")
        made = self.block(body) if body is not None else []
        methods = tuple(n for n in made if isinstance(n, ir.Function))
        bases = [n for c in node.named_children if c.type in _BASES for n in self.block(c)]
        rest = (*bases, *(n for n in made if not isinstance(n, ir.Function)))
        name = self.part(node, "name")
        return ir.Class(self.source.span(node), self.text(name) if name else "", methods, rest)

    def branch(self, node: Any) -> ir.Node:
        test = self.part(node, "condition")
        others = [c for c in node.named_children if test is None or c.id != test.id]
        taken = self.part(node, "consequence", "body") or (others[0] if others else None)
        rest = [c for c in others if taken is None or c.id != taken.id]
        return ir.If(
            self.source.span(node), self.node(test), tuple(self.as_block(taken)), tuple(self.node(c) for c in rest)
        )

    def as_block(self, node: Any) -> list[ir.Node]:
        return [] if node is None else [self.node(node)] if self.table.get(node.type) else self.block(node)

    def loop(self, node: Any) -> ir.Node:
        parts = [c for c in node.named_children if c.type not in _SKIP]
        target = self.part(node, "left", "variable", "pattern")
        items, body = self.part(node, "right", "list", "value"), self.part(node, "body", "block")
        if target is None and len(parts) >= 2:
            items, target = items or parts[0], parts[1]
        made = (
            ir.Sequence(self.source.span(items), tuple(self.block(items)))
            if items is not None and items.type in _LISTS
            else None
        )
        return ir.Loop(self.source.span(node), self.node(target), made or self.node(items), tuple(self.as_block(body)))

    def returned(self, node: Any) -> ir.Node:
        parts = self.block(node)
        return ir.Return(self.source.span(node), parts[0] if parts else None)

    def included(self, node: Any) -> ir.Node:
        """``include "x.php"``: a call whose name nobody else has."""
        func = ir.Name(self.source.span(node), "__include__")
        return ir.Call(self.source.span(node), func, tuple(self.block(node)))

    def evaluated(self, node: Any) -> ir.Node:
        parts = self.block(node)
        if parts and node.named_children[0].type == "block":
            return ir.Other(self.source.span(node), tuple(parts))
        return ir.Call(self.source.span(node), ir.Name(self.source.span(node), "eval"), tuple(parts))


def _within(pattern: Any) -> Iterable[Any]:
    """The nodes of a pattern that binds several names, defaults among them."""
    if pattern.type not in {"array_pattern", "object_pattern"}:
        return
    for child in pattern.named_children:
        yield child
        yield from _within(child)


_GIVEN = frozenset({"assignment_pattern", "object_assignment_pattern"})
_MEMBERS = frozenset({"spread_element", "method_definition"})
_BASES = frozenset({"class_heritage", "superclass"})
_DEFAULTS = frozenset({"assignment_pattern", "optional_parameter", "required_parameter", "simple_parameter"})
_LISTS = frozenset({"arguments", "argument_list", "list_expression", "argument_expression_list"})


def _escape(text: str) -> str:
    code = re.fullmatch(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))", text)
    if code is not None:
        return chr(int(code.group(1) or code.group(2), base=16))
    return _ESCAPES.get(text[1:], text[1:])
