"""Perl's front end. Raises SyntaxError."""

from __future__ import annotations

from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront
from classifiers.code.treesitter import Source, parser_of

_TABLE = {
    "do_expression": "included",
    "scalar": "name", "array": "name", "hash": "name", "bareword": "word", "interpolated_string_literal": "string",
    "string_literal": "string", "command_string": "command", "number": "number", "function_call_expression": "call",
    "ambiguous_function_call_expression": "call", "func0op_call_expression": "call",
    "func1op_call_expression": "call", "method_call_expression": "method", "array_element_expression": "index",
    "hash_element_expression": "index", "binary_expression": "binary", "list_expression": "sequence",
    "assignment_expression": "assign", "subroutine_declaration_statement": "function",
    "anonymous_subroutine_expression": "function", "for_statement": "loop", "conditional_statement": "branch",
    "postfix_conditional_expression": "branch", "return_expression": "returned", "eval_expression": "evaluated",
    "require_expression": "included", "use_statement": "used",
}  # fmt: skip


class _Front(GrammarFront):
    def used(self, node: Any) -> ir.Node:
        module = self.part(node, "module", "version")
        name = self.text(module) if module is not None else "strict"
        return ir.Import(self.source.span(node), name, name)


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    import tree_sitter_perl  # noqa: PLC0415 - loaded when the first program comes

    return _Front(Source(text, parser_of("perl", tree_sitter_perl.language()), deadline=deadline), _TABLE).program()
