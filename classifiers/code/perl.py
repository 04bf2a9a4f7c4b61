"""Perl's front end. Raises SyntaxError."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from classifiers.code import ir
from classifiers.code.perl_lists import Collections
from classifiers.code.treesitter import Source, parser_of

_TABLE = {
    "do_expression": "done",
    "scalar": "name", "array": "variable", "hash": "variable", "function": "bare", "container_variable": "container",
    "map_grep_expression": "mapped", "postfix_for_expression": "loop",
    "substitution_regexp": "substituted", "bareword": "word", "autoquoted_bareword": "quoted",
    "interpolated_string_literal": "string",
    "string_literal": "string", "command_string": "command", "number": "number", "function_call_expression": "call",
    "ambiguous_function_call_expression": "call", "func0op_call_expression": "call",
    "func1op_call_expression": "taken", "method_call_expression": "method", "array_element_expression": "index",
    "hash_element_expression": "index", "binary_expression": "binary", "list_expression": "sequence",
    "assignment_expression": "assign", "subroutine_declaration_statement": "function",
    "anonymous_subroutine_expression": "function",
    "unary_expression": "unary", "logical_not_expression": "unary", "conditional_expression": "choice",
    "loop_statement": "again", "cstyle_for_statement": "again",
    "for_statement": "loop", "conditional_statement": "branch",
    "postfix_conditional_expression": "branch", "return_expression": "returned", "eval_expression": "done",
    "require_expression": "included", "use_statement": "used",
    "coderef_call_expression": "through", "refgen_expression": "reference", "anonymous_hash_expression": "hashed",
    "anonymous_array_expression": "sequence", "quoted_word_list": "worded",
    "match_regexp": "matched", "quoted_regexp": "matched",
}  # fmt: skip


_SUB = re.compile(r"\bsub\s+((?:\w+::)*\w+)")
_IN_PATTERN = re.compile(r"\(\?\??\{(.*)\}\)", re.DOTALL)
_BRACED = re.compile(r"^([$@%])\{(\w+)\}$")
_TOPICAL = frozenset({"unlink", "rmdir", "mkdir", "readlink", "stat", "lstat", "eval"})  # with ``$_`` when alone
_WORD = re.compile(r"\w+")
_HANDLE = re.compile(r"[A-Z][A-Z0-9_]*")
_NO_HANDLE = re.compile(r"\bsub\s+([A-Z][A-Z0-9_]*)\b|\b([A-Z][A-Z0-9_]*)\s*=>|\*([A-Z][A-Z0-9_]*)\b")


class _Front(Collections):
    def name(self, node: Any) -> ir.Node:
        """``${name}`` is ``$name``."""
        return ir.Name(self.source.span(node), _BRACED.sub(r"\1\2", self.text(node)).lstrip("@"))

    def quoted(self, node: Any) -> ir.Node:
        """``name =>`` is a text (perlop(1))."""
        return ir.Const(self.source.span(node), self.text(node))

    def word(self, node: Any) -> ir.Node:
        """``f;``: a subroutine's name alone calls it (perlsub(1))."""
        span, name = self.source.span(node), self.text(node)
        if name in self.constants:
            return ir.Name(span, name)
        return ir.Call(span, ir.Name(span, name)) if name in self.subs.values() else super().word(node)

    @cached_property
    def constants(self) -> set[str]:
        """What ``use constant`` has named so far."""
        return set()

    def binary(self, node: Any) -> ir.Node:
        """``$a =~ s/b/c/`` and ``$a =~ tr/b/c/`` change what they look at (perlop(1)), ``/r`` gives it."""
        left, right = self.part(node, "left"), self.part(node, "right")
        made = super().binary(node)
        if left is None or right is None or right.type not in {"substitution_regexp", "transliteration_expression"}:
            return made
        flags = self.part(right, "modifiers")
        if flags is not None and "r" in self.text(flags):
            return made
        while left.type in {"parenthesized_expression", "assignment_expression"}:
            left = self.part(left, "left") or left.named_children[0]
        return ir.Assign(self.source.span(node), (self.target(left),), made, outer=True)

    def call(self, node: Any) -> ir.Node:
        """``f(x)``, ``&f(x)``, ``&$f(x)`` and ``&{ … }(x)`` (perlsub(1))."""
        func = self.part(node, "function")
        held = func.named_children[0] if func is not None and func.named_children else None
        if held is not None and held.type == "varname" and not held.named_children:  # &f
            return self.calling(node, self.sub(func), self.part(node, "arguments"))
        if held is not None:
            return self.called(node, self.bare(func) if held.type != "varname" else self.node(held.named_children[0]))
        if func is not None and (printed := self.printed(node, func)) is not None:
            return printed
        if func is not None and self.text(func).startswith("CORE::"):
            return self.calling(node, self.sub(func), self.part(node, "arguments"))
        return super().call(node)

    def calling(self, node: Any, func: ir.Node, given: Any, first: Sequence[ir.Node] = ()) -> ir.Node:
        """A call of ``func`` with what ``given`` holds, behind ``first``."""
        args, named = self.arguments(given)
        return ir.Call(self.source.span(node), func, (*first, *args), tuple(named))

    def printed(self, node: Any, func: Any) -> ir.Node | None:
        """``print F "…"``: a handle's name stands before what is printed; the grammar takes it for a function."""
        inner = self.part(node, "arguments")
        if self.text(func) not in {"print", "printf", "say"} or inner is None:
            return None
        handle = self.part(inner, "function") if inner.type == "ambiguous_function_call_expression" else None
        name = self.text(handle) if handle is not None else ""
        if not _HANDLE.fullmatch(name) or name in self.no_handles:
            return None
        return self.calling(node, self.sub(func), self.part(inner, "arguments"))

    @cached_property
    def no_handles(self) -> set[str]:
        """Upper-case names that this text makes a subroutine or a constant."""
        return {name for found in _NO_HANDLE.findall(self.source.data.decode("utf-8", "replace")) for name in found}

    def method(self, node: Any) -> ir.Node:
        """``$object->$name()``: which method is in a variable."""
        name = self.part(node, "method")
        held = name.named_children[0] if name is not None and name.named_children else None
        if held is not None:
            return self.called(node, self.node(held))
        if name is None or (own := self.subs.get(self.text(name).rpartition("::")[2])) is None:
            return super().method(node)
        func, invocant = ir.Name(self.source.span(name), own), self.node(self.part(node, "invocant"))
        return self.calling(node, func, self.part(node, "arguments"), (invocant,))

    @cached_property
    def subs(self) -> dict[str, str]:
        """The subroutines of this text, which a method of any package may be (perlobj(1)), as they are declared."""
        return self.declared(_SUB)

    def taken(self, node: Any) -> ir.Node:
        """``lc $x``; ``shift`` alone takes the first of ``@_``."""
        span, word = self.source.span(node), self.text(node)
        if word in {"shift", "pop"}:
            return ir.Call(span, ir.Name(span, word), (ir.Name(span, "_"),))
        found = _WORD.match(word)
        name = ir.Name(span, found[0] if found else "")
        return ir.Call(span, name, tuple(self.block(node)))

    def through(self, node: Any) -> ir.Node:
        """``$f->(x)``."""
        return self.called(node, self.node(node.named_children[0]))

    def called(self, node: Any, code: ir.Node) -> ir.Node:
        """A call of what an expression holds."""
        func = ir.Name(self.source.span(node), "__coderef__")
        return self.calling(node, func, self.part(node, "arguments"), (code,))

    def reference(self, node: Any) -> ir.Node:
        r"""``\&f`` is the function itself."""
        held = node.named_children[0] if node.named_children else None
        plain = held is not None and held.type == "function" and self.text(held).startswith("&")
        return self.sub(held) if plain else ir.Other(self.source.span(node), tuple(self.block(node)), last=True)

    def sub(self, node: Any) -> ir.Node:
        name = self.text(node).lstrip("&").removeprefix("main::").removeprefix("CORE::").removeprefix("GLOBAL::")
        return ir.Name(self.source.span(node), name)

    def bare(self, node: Any) -> ir.Node:
        """A function's name alone calls it, a built-in one with ``$_`` (perlfunc(1))."""
        span = self.source.span(node)
        if node.named_children:  # &{"name"}
            parts = self.block(node)
            return parts[0] if len(parts) == 1 else ir.Other(span, tuple(parts))
        if self.text(node) in _TOPICAL:
            return ir.Call(span, ir.Name(span, self.text(node)), (ir.Name(span, "$_"),))
        return ir.Call(span, ir.Name(span, "__bare__"), (ir.Name(span, self.text(node)),))

    def matched(self, node: Any) -> ir.Node:
        """``/…(?{ code })…/``: code that runs when the place is reached (perlre(1))."""
        span, code = self.source.span(node), _IN_PATTERN.search(self.text(node))
        parts = tuple(self.block(node))
        return ir.Other(span, parts if code is None else (*parts, self.evaluating(span, code[1])))

    def evaluating(self, span: ir.Span, code: str) -> ir.Node:
        return ir.Call(span, ir.Name(span, "eval"), (ir.Const(span, code),))

    def substituted(self, node: Any) -> ir.Node:
        """``s/x/code/e``: the replacement is code."""
        span, flags = self.source.span(node), self.part(node, "modifiers")
        if flags is None or "e" not in self.text(flags):
            return ir.Other(span, tuple(self.block(node)))
        code = next((c for c in node.named_children if c.type == "replacement"), None)
        text = self.text(code).replace("\\/", "/") if code is not None else ""
        return self.evaluating(span, text)

    def done(self, node: Any) -> ir.Node:
        """``eval``, and ``do FILE``."""
        first = node.named_children[0] if node.named_children else None
        is_file = first is not None and first.type == "filename"
        return self.included(node) if is_file else self.evaluated(node)

    def used(self, node: Any) -> ir.Node:
        module = self.part(node, "module", "version")
        name = self.text(module) if module is not None else "strict"
        given = node.named_children[-1]
        if name != "constant" or given.type not in {"list_expression", "anonymous_hash_expression"}:
            return ir.Import(self.source.span(node), name, name)
        inner = given.named_children[0] if given.named_child_count == 1 else given
        parts = inner.named_children if given.type == "anonymous_hash_expression" else given.named_children[:2]
        pairs = [(self.key(k), self.node(v)) for k, v in zip(parts[::2], parts[1::2], strict=False)]
        self.constants.update(key for key, _value in pairs)
        span = self.source.span(node)
        return ir.Other(span, tuple(ir.Assign(span, (ir.Name(span, key),), value) for key, value in pairs))


_HERE = re.compile(r"""<<(~?)(?:"([^"\n]*)"|'([^'\n]*)'|`([^`\n]*)`|([A-Za-z_]\w*))""")


def _is_cut(text: str) -> bool:
    """A here-document without its end: the grammar's scanner never comes back from some of them."""
    lines = set(text.split("\n"))
    bare = {line.strip() for line in lines}
    for match in _HERE.finditer(text):
        name = next(n for n in match.groups()[1:] if n is not None)
        if name not in (bare if match[1] else lines):
            return True
    return False


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    if _is_cut(text):
        raise SyntaxError
    import tree_sitter_perl  # noqa: PLC0415 - loaded when the first program comes

    return _Front(Source(text, parser_of("perl", tree_sitter_perl.language()), deadline=deadline), _TABLE).program()
