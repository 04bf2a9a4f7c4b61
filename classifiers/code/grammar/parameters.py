"""A function's parameters: the node that holds them in; names, defaults and what the body begins with out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from classifiers.code import ir
from classifiers.code.grammar.expressions import Expressions
from classifiers.code.grammar.nodes import SKIP

_RESTS = frozenset({"rest_pattern", "splat_parameter", "variadic_parameter", "vararg_expression"})
_PATTERNS = frozenset({"object_pattern", "array_pattern", "destructured_parameter"})


@dataclass(slots=True)
class Parameters:
    names: list[str] = field(default_factory=list)
    defaults: list[tuple[str, ir.Node | None]] = field(default_factory=list)  # of each name
    first: list[ir.Node] = field(default_factory=list)  # what a pattern binds
    rest: tuple[int, str] | None = None
    keywords: str = ""


class Takers(Expressions):
    def parameters(self, node: Any) -> Parameters:
        """``(a, {b, c}, [d], e = 1, ...rest)``; one name may stand without parentheses (``x => …``)."""
        out = Parameters()
        parts = [] if node is None else [c for c in node.named_children if c.type not in SKIP]
        if node is not None and (not parts or node.type == "variable_name"):
            parts = [node] if node.type in {"identifier", "variable_name"} else []
        for part in parts:
            self.parameter(out, part)
        return out

    def parameter(self, out: Parameters, part: Any) -> None:
        pattern = self.part(part, "pattern", "left", "name") or part
        if part.type in _RESTS or pattern.type in _RESTS:
            held = pattern.named_children[0] if pattern.type in _RESTS and pattern.named_children else pattern
            out.rest = (len(out.names), self.text(held))
        elif part.type == "hash_splat_parameter":
            out.keywords = self.text(pattern)
        elif out.rest is None or part.type in {"keyword_parameter", "block_parameter"}:
            name = f"({len(out.names)})" if pattern.type in _PATTERNS else self.text(pattern)
            value = self.part(part, "value", "right", "default_value")
            out.names.append(name)
            out.defaults.append((name, None if value is None else self.node(value)))
            if pattern.type in _PATTERNS:
                span = self.source.span(pattern)
                out.first += [ir.Assign(span, (self.target(pattern),), ir.Name(span, name)), *self.presets(pattern)]

    def target(self, node: Any) -> ir.Node:
        """What an assignment binds: ``const {a, b: c} = …`` binds members; everything else is an expression."""
        if node.type == "destructured_parameter":
            return ir.Sequence(self.source.span(node), tuple(self.block(node)))
        if node.type != "object_pattern":
            return self.node(node)
        names = []
        for child in node.named_children:
            value = child.child_by_field_name("value") if child.type == "pair_pattern" else child
            key = child.child_by_field_name("key") if child.type == "pair_pattern" else child
            names.append((_name(self.text(key)), ir.Name(self.source.span(child), _name(self.text(value)))))
        return ir.Table(self.source.span(node), tuple(names))

    def presets(self, pattern: Any) -> list[ir.Node]:
        """What a pattern's names are where nothing is given: ``{a = f()}``."""
        if pattern.type not in {"array_pattern", "object_pattern"}:
            return []
        found: list[ir.Node] = []
        for child in pattern.named_children:
            if child.type in {"assignment_pattern", "object_assignment_pattern"}:
                found.append(self.node(self.part(child, "right")))
            found += self.presets(child)
        return found


def _name(text: str) -> str:
    """``a`` of ``a = 1``."""
    return text.partition("=")[0].strip()
