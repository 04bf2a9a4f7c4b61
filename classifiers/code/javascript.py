"""JavaScript's and TypeScript's front end. ``import`` binds as ``require`` does. Raises SyntaxError."""

from __future__ import annotations

from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront
from classifiers.code.grammar.parameters import Parameters
from classifiers.code.treesitter import Source, parser_of

_TABLE = {
    "as_expression": "first", "satisfies_expression": "first", "non_null_expression": "first",
    "identifier": "name", "shorthand_property_identifier": "name", "this": "name", "import": "name",
    "string": "string", "template_string": "string", "number": "number", "true": "truth", "false": "truth",
    "null": "truth", "undefined": "truth", "call_expression": "call", "new_expression": "new",
    "member_expression": "member", "subscript_expression": "index", "binary_expression": "binary",
    "array": "sequence", "object": "mapping", "assignment_expression": "assign", "variable_declarator": "assign",
    "augmented_assignment_expression": "append", "function_declaration": "function",
    "function_expression": "function", "arrow_function": "function", "method_definition": "function",
    "generator_function_declaration": "function", "class_declaration": "klass", "abstract_class_declaration": "klass",
    "type_assertion": "asserted", "if_statement": "branch",
    "unary_expression": "unary",
    "ternary_expression": "choice", "sequence_expression": "comma", "for_in_statement": "loop",
    "while_statement": "again", "do_statement": "again", "for_statement": "again", "switch_case": "optional",
    "update_expression": "bumped", "yield_expression": "yielded",
    "switch_default": "optional", "try_statement": "tried", "return_statement": "returned",
    "import_statement": "imported", "spread_element": "spread", "catch_clause": "caught", "array_pattern": "places",
    "field_definition": "kept", "public_field_definition": "kept",
}  # fmt: skip

# Expressions that give one of two values, and the fields these stand in.
_EITHER = {
    "ternary_expression": (("consequence",), ("alternative",)),
    "binary_expression": (("left",), ("right",)),
}


class _Front(GrammarFront):
    def call(self, node: Any) -> ir.Node:
        """``(test ? f : g)(x)`` calls either."""
        func = self.part(node, "function")
        while func is not None and func.type == "parenthesized_expression" and func.named_child_count == 1:
            func = func.named_children[0]
        if func is None or func.type not in _EITHER:
            return super().call(node)
        span = self.source.span(node)
        choices = [c for c in (self.part(func, *names) for names in _EITHER[func.type]) if c is not None]
        args, named = self.arguments(self.part(node, "arguments"))
        return ir.Other(span, tuple(ir.Call(span, self.node(c), tuple(args), tuple(named)) for c in choices))

    def places(self, node: Any) -> ir.Node:
        """``[, b]``: a place may be left out."""
        items: list[ir.Node] = [ir.Other(self.source.span(node))]
        for child in node.children[1:-1]:
            if child.type == ",":
                items.append(ir.Other(self.source.span(child)))
            elif child.is_named:
                items[-1] = self.node(child)
        return ir.Sequence(self.source.span(node), tuple(items))

    def kept(self, node: Any) -> ir.Node:
        """A field of a class."""
        span, name, value = self.source.span(node), self.part(node, "property", "name"), self.part(node, "value")
        target = ir.Attr(span, ir.Name(span, "this"), self.text(name))
        return ir.Other(span) if value is None else ir.Assign(span, (target,), self.node(value))

    def parameter(self, out: Parameters, part: Any) -> None:
        """``constructor(private p: string)`` keeps it as the object's."""
        super().parameter(out, part)
        if any(c.type in {"accessibility_modifier", "readonly"} for c in part.children) and out.names:
            span, name = self.source.span(part), out.names[-1]
            out.first.append(ir.Assign(span, (ir.Attr(span, ir.Name(span, "this"), name),), ir.Name(span, name)))

    def asserted(self, node: Any) -> ir.Node:
        """``<T>value``."""
        return self.node(node.named_children[-1])

    def comma(self, node: Any) -> ir.Node:
        return ir.Other(self.source.span(node), tuple(self.block(node)), last=True)

    def imported(self, node: Any) -> ir.Node:
        source = self.part(node, "source")
        module = self.text(source).strip("\"'").removeprefix("node:") if source is not None else ""
        name = module.replace("/promises", "").removesuffix("/promise").replace("/", ".")
        name = name if not module.startswith(".") else module
        span = self.source.span(node)
        bound: list[ir.Node] = []
        clause = next((c for c in node.named_children if c.type == "import_clause"), None)
        for child in clause.named_children if clause is not None else ():
            if child.type == "identifier":
                bound.append(ir.Import(span, name, self.text(child)))
            elif child.type == "namespace_import":
                bound.append(ir.Import(span, name, self.text(child.named_children[-1])))
            for item in child.named_children if child.type == "named_imports" else ():
                member = self.text(item.child_by_field_name("name"))
                alias = item.child_by_field_name("alias")
                bound.append(ir.Import(span, f"{name}.{member}", self.text(alias) if alias is not None else member))
        return ir.Other(span, tuple(bound or [ir.Import(span, name, name)]))


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    """Plain JavaScript first; TypeScript when that does not read it."""
    import tree_sitter_javascript  # noqa: PLC0415 - loaded when the first program comes

    front = _Front(Source(text, parser_of("javascript", tree_sitter_javascript.language()), deadline=deadline), _TABLE)
    try:
        return front.program()
    except SyntaxError:
        import tree_sitter_typescript  # noqa: PLC0415 - the same

        parser = parser_of("typescript", tree_sitter_typescript.language_typescript())
        return _Front(Source(text, parser, deadline=deadline), _TABLE).program()
