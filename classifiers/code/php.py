"""PHP's front end; text without an opening tag is all code, as ``php -r`` takes it. Raises SyntaxError."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront
from classifiers.code.treesitter import Source, parser_of

_TAG = "<?php "
_TABLE = {
    "variable_name": "name", "name": "name", "qualified_name": "qualified", "namespace_use_clause": "used",
    "string": "plain", "encapsed_string": "string", "heredoc": "string",
    "shell_command_expression": "command", "integer": "number", "boolean": "truth", "null": "truth",
    "function_call_expression": "function_call", "member_call_expression": "method",
    "nullsafe_member_call_expression": "method", "scoped_call_expression": "method",
    "object_creation_expression": "new", "member_access_expression": "member", "subscript_expression": "index",
    "binary_expression": "binary", "array_creation_expression": "array", "assignment_expression": "assign",
    "augmented_assignment_expression": "append", "function_definition": "function", "method_declaration": "function",
    "anonymous_function": "function", "arrow_function": "function", "class_declaration": "klass",
    "unary_op_expression": "unary", "conditional_expression": "choice", "while_statement": "again",
    "do_statement": "again", "for_statement": "again",
    "case_statement": "optional", "update_expression": "bumped", "default_statement": "optional",
    "try_statement": "tried",
    "if_statement": "branch", "catch_clause": "caught", "foreach_statement": "each", "return_statement": "returned",
    "include_expression": "included", "include_once_expression": "included", "require_expression": "included",
    "require_once_expression": "included", "variadic_unpacking": "spread",
}  # fmt: skip


class _Front(GrammarFront):
    def function_call(self, node: Any) -> ir.Node:
        """Function names do not depend on case; a variable may hold one."""
        func = self.part(node, "function")
        args, named = self.arguments(self.part(node, "arguments"))
        plain = func is not None and func.type == "name"
        name = ir.Name(self.source.span(func), self.text(func).lower()) if plain else self.node(func)
        return ir.Call(self.source.span(node), name, tuple(args), tuple(named))

    def qualified(self, node: Any) -> ir.Node:
        r"""``\Foo\Bar`` is one name."""
        return ir.Name(self.source.span(node), self.text(node).lstrip("\\"))

    def used(self, node: Any) -> ir.Node:
        r"""``use Foo\Bar as B``: the short name stands for the whole; nothing runs."""
        names = [c for c in node.named_children if c.type in {"qualified_name", "name"}]
        if not names:
            return ir.Other(self.source.span(node))
        whole, alias = self.text(names[0]).lstrip("\\"), node.child_by_field_name("alias")
        short = self.text(alias if alias is not None else names[-1]).rpartition("\\")[2]
        span = self.source.span(node)
        return ir.Assign(span, (ir.Name(span, short),), ir.Name(span, whole))

    def each(self, node: Any) -> ir.Node:
        """``foreach ($table as $key => $value)``: a turn is the value."""
        made = self.loop(node)
        target = made.target if isinstance(made, ir.Loop) else None
        if isinstance(made, ir.Loop) and isinstance(target, ir.Other) and target.parts:
            return replace(made, target=target.parts[-1])
        return made

    def array(self, node: Any) -> ir.Node:
        """``['a' => 1, CURLOPT_URL => $u]`` is a table, a constant's name its key; without keys it is a list."""
        items = [c for c in node.named_children if c.type == "array_element_initializer"]
        pairs = [c.named_children for c in items if c.named_child_count == 2]
        if not pairs or len(pairs) != len(items):
            return self.sequence(node)
        keys = [self.node(key) for key, _value in pairs]
        named = [str(k.value) if isinstance(k, ir.Const) else k.id if isinstance(k, ir.Name) else "" for k in keys]
        made = [("", k) for k in keys if not isinstance(k, ir.Const | ir.Name)]
        values = [(name, self.node(value)) for name, (_key, value) in zip(named, pairs, strict=True)]
        return ir.Table(self.source.span(node), (*made, *values))


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    import tree_sitter_php  # noqa: PLC0415 - loaded when the first program comes

    parser = parser_of("php", tree_sitter_php.language_php())
    if "<?" in text:
        return _Front(Source(text, parser, deadline=deadline), _TABLE).program()
    source = Source(_TAG + text, parser, lambda point: max(0, point - len(_TAG)), deadline)
    return _Front(source, _TABLE).program()
