"""Names, texts and numbers of a tree: a node in, a constant, a name or joined parts out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from classifiers.code import ir
from classifiers.code.grammar.nodes import SKIP, Nodes

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}
_ESCAPED = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[0-9]{1,3}|.)", re.DOTALL)
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))")
_TEXTS = frozenset({"string_fragment", "string_content", "heredoc_content", "nowdoc_string"})


class Texts(Nodes):
    def name(self, node: Any) -> ir.Node:
        return ir.Name(self.source.span(node), self.text(node).lstrip("@"))

    def scope(self, node: Any) -> ir.Node:
        """``Net::HTTP`` is one name."""
        return ir.Name(self.source.span(node), self.text(node))

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
                parts.append(ir.Const(self.source.span(child), self.escaped(self.text(child))))
            elif child.type not in SKIP:
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
            at = child.end_byte
            if child.type != "escape_sequence":
                yield self.node(child)
                continue
            text = self.text(child)
            if text == "\\x":  # the grammar ends it before its digits
                at += 2
                text = self.source.data[child.start_byte : at].decode("utf-8", "replace")
            yield ir.Const(self.source.span(child), self.escaped(text))
        yield self._gap(at, holder.end_byte)

    def _gap(self, start: int, end: int) -> ir.Node:
        text = self.source.data[start:end].decode("utf-8", "replace")
        return ir.Const((self.source.point(start), self.source.point(end)), text)

    def unescaped(self, node: Any) -> str:
        return _ESCAPED.sub(lambda m: self.escaped(m[0]), self.text(node))

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

    def command(self, node: Any) -> ir.Node:
        return ir.Command(self.source.span(node), self.string(node))

    def escaped(self, text: str) -> str:
        r"""What ``\n``, ``\x2f``, ``\u002f``, ``\057`` stand for."""
        code = _CODE.fullmatch(text)
        if code is not None:
            return chr(int(code.group(1) or code.group(2), base=16))
        if re.fullmatch(r"[0-7]{1,3}", text[1:]):
            return chr(int(text[1:], 8))
        return _ESCAPES.get(text[1:], text[1:])
