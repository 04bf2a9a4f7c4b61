"""PHP's front end; text without an opening tag is all code, as ``php -r`` takes it. Raises SyntaxError."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from classifiers.code import ir
from classifiers.code.grammar import GrammarFront
from classifiers.code.grammar.parameters import Parameters
from classifiers.code.treesitter import Source, parser_of

_TAG = "<?php "
_TABLE = {
    "variable_name": "name", "name": "name", "qualified_name": "qualified", "namespace_use_clause": "used",
    "string": "plain", "encapsed_string": "string",
    "shell_command_expression": "command", "integer": "number", "boolean": "truth", "null": "truth",
    "function_call_expression": "function_call", "member_call_expression": "method",
    "nullsafe_member_call_expression": "method", "scoped_call_expression": "method",
    "object_creation_expression": "new", "member_access_expression": "member", "subscript_expression": "index",
    "binary_expression": "binary", "array_creation_expression": "array", "assignment_expression": "assign",
    "static_variable_declaration": "assign",
    "augmented_assignment_expression": "append", "function_definition": "function", "method_declaration": "function",
    "anonymous_function": "function", "arrow_function": "function", "class_declaration": "klass",
    "trait_declaration": "klass",
    "enum_declaration": "klass", "property_element": "prop", "const_element": "const",
    "class_constant_access_expression": "shared", "scoped_property_access_expression": "shared",
    "list_literal": "sequence", "match_expression": "matching", "heredoc": "document", "nowdoc": "document",
    "dynamic_variable_name": "dynamic",
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
        func, span = self.part(node, "function"), self.source.span(node)
        args, named = self.arguments(self.part(node, "arguments"))
        plain = func is not None and func.type == "name"
        name = ir.Name(self.source.span(func), self.text(func).lower()) if plain else self.node(func)
        if self.is_named_only(node):
            return name
        if isinstance(name, ir.Name) and name.id == "define" and len(args) > 1 and isinstance(args[0], ir.Const):
            return ir.Assign(span, (ir.Name(span, str(args[0].value)),), args[1])
        if isinstance(name, ir.Attr | ir.Index):  # ``($o->f)(x)``, ``$a['f'](x)`` call what is kept there
            return ir.Call(span, ir.Name(span, "__coderef__"), (name, *args), tuple(named))
        return ir.Call(span, name, tuple(args), tuple(named))

    def is_named_only(self, call: Any) -> bool:
        """``f(...)``, ``$o->f(...)``: the function itself."""
        given = self.part(call, "arguments")
        return given is not None and any(c.type == "variadic_placeholder" for c in given.named_children)

    def method(self, node: Any) -> ir.Node:
        made = super().method(node)
        return made.func if isinstance(made, ir.Call) and self.is_named_only(node) else made

    def parameter(self, out: Parameters, part: Any) -> None:
        """``__construct(private string $p)`` keeps it as the object's."""
        super().parameter(out, part)
        if part.type == "property_promotion_parameter":
            span, name = self.source.span(part), self.text(self.part(part, "name"))
            out.first.append(ir.Assign(span, (self.own(part, name),), ir.Name(span, name)))

    def own(self, node: Any, name: str) -> ir.Node:
        """A constant or property of a class; what differs between classes is unknown."""
        span = self.source.span(node)
        return ir.Attr(span, ir.Name(span, "$this"), name.lstrip("$"))

    def prop(self, node: Any) -> ir.Node:
        value = self.part(node, "default_value")
        span = self.source.span(node)
        target = self.own(node, self.text(self.part(node, "name")))
        return ir.Other(span) if value is None else ir.Assign(span, (target,), self.node(value))

    def const(self, node: Any) -> ir.Node:
        """``const X = 'a';``: of a class, or of the program."""
        span, name, value = self.source.span(node), node.named_children[0], node.named_children[-1]
        of_class = node.parent.parent.type != "program"
        target = self.own(node, self.text(name)) if of_class else ir.Name(span, self.text(name))
        return ir.Assign(span, (target,), self.node(value))

    def shared(self, node: Any) -> ir.Node:
        """``A::X``, ``self::$x``, ``A::class``."""
        name = self.text(node.named_children[-1])
        return (
            ir.Const(self.source.span(node), self.text(node.named_children[0]).lstrip("\\"))
            if name == "class"
            else self.own(node, name)
        )

    def matching(self, node: Any) -> ir.Node:
        """``match ($x) {1 => 'a', default => 'b'}`` is one of them."""
        span, arms = self.source.span(node), self.part(node, "body").named_children
        given = [self.node(c.child_by_field_name("return_expression")) for c in arms]
        asked = [self.node(c.child_by_field_name("conditional_expressions")) for c in arms]
        return ir.Choice(span, ir.Other(span, (self.node(self.part(node, "condition")), *asked)), tuple(given))

    def document(self, node: Any) -> ir.Node:
        """``<<<E … E``: without the line ends at its edges."""
        body = self.part(node, "value")
        return ir.Const(self.source.span(node), "") if body is None else self.string(body)

    def dynamic(self, node: Any) -> ir.Node:
        """``${x}`` in a text is ``$x``; ``$$x`` is a variable that nobody knows."""
        inner = node.named_children[0] if node.named_children else None
        plain = inner is not None and inner.type == "name"
        span = self.source.span(node)
        return ir.Name(span, f"${self.text(inner)}") if plain else ir.Other(span, tuple(self.block(node)))

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
