"""PHP's front end; text without an opening tag is all code, as ``php -r`` takes it. Raises SyntaxError."""

from __future__ import annotations

from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront
from classifiers.code.treesitter import Source, parser_of

_TAG = "<?php "
_TABLE = {
    "variable_name": "name", "name": "name", "string": "plain", "encapsed_string": "string", "heredoc": "string",
    "shell_command_expression": "command", "integer": "number", "boolean": "truth", "null": "truth",
    "function_call_expression": "function_call", "member_call_expression": "method",
    "nullsafe_member_call_expression": "method", "scoped_call_expression": "method",
    "object_creation_expression": "new", "member_access_expression": "member", "subscript_expression": "index",
    "binary_expression": "binary", "array_creation_expression": "sequence", "assignment_expression": "assign",
    "augmented_assignment_expression": "append", "function_definition": "function", "method_declaration": "function",
    "anonymous_function": "function", "arrow_function": "function", "class_declaration": "klass",
    "if_statement": "branch", "foreach_statement": "loop", "return_statement": "returned",
    "include_expression": "included", "include_once_expression": "included", "require_expression": "included",
    "require_once_expression": "included",
}  # fmt: skip


class _Front(GrammarFront):
    def function_call(self, node: Any) -> ir.Node:
        """Function names do not depend on case; a variable may hold one."""
        func = self.part(node, "function")
        args, named = self.arguments(self.part(node, "arguments"))
        plain = func is not None and func.type == "name"
        name = ir.Name(self.source.span(func), self.text(func).lower()) if plain else self.node(func)
        return ir.Call(self.source.span(node), name, tuple(args), tuple(named))


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    import tree_sitter_php  # noqa: PLC0415 - loaded when the first program comes

    parser = parser_of("php", tree_sitter_php.language_php())
    if "<?" in text:
        return _Front(Source(text, parser, deadline=deadline), _TABLE).program()
    source = Source(_TAG + text, parser, lambda point: max(0, point - len(_TAG)), deadline)
    return _Front(source, _TABLE).program()
