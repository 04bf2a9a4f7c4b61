"""PowerShell's front end: text in, program form out, by tree-sitter-powershell.

Commands become calls of their lower-case name (aliases resolved) with parameters as named arguments; the words in
order stay on the call for native programs. Members and types are lower-case dotted names. What does not parse is
kept aside as ``Reading.broken`` spans; the rest is still read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from classifiers.code import ir
from classifiers.code.treesitter import Source, parser_of
from classifiers.datafile import alternatives, table
from classifiers.powershell.repair import mended, original

_PASS_THROUGH = re.compile(
    r".*_expression$|^unary|^statement_list$|^program$|^script_block_body$|^pipeline_chain$|^(string|integer|real)_literal$"
)
MAX_STATEMENTS = 2_000
_DASHES = "-\u2013\u2014\u2015"
_BACKTICKS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


@dataclass(slots=True)
class Reading:
    nodes: list[ir.Node] = field(default_factory=list)
    broken: list[ir.Span] = field(default_factory=list)


def read(text: str, deadline: float | None = None) -> Reading:
    """Positions are code points. Raises TimeoutError past ``deadline`` (of ``classifiers.clock``)."""
    import tree_sitter_powershell  # noqa: PLC0415 - loaded when the first script comes

    spelled, places = mended(text)
    source = Source(
        spelled, parser_of("powershell", tree_sitter_powershell.language()), lambda p: original(places, p), deadline
    )
    front = _Front(source)
    out = Reading(front.block(source.root))
    out.broken = front.broken
    if source.root.has_error and not out.broken:  # the root itself, or a part no reader looks into
        out.broken.append(source.span(source.root))
    return out


class _Front:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.broken: list[ir.Span] = []
        found = _all(source.root, "script_parameter") if source.root.child_count < MAX_STATEMENTS else []
        self.params = {  # of the script's own functions: no switches unless they say so
            source.text(v).lstrip("$").lower()
            for p in found
            if "[switch]" not in source.text(p).lower()
            for v in _all(p, "variable")[:1]
        }

    def block(self, node: Any) -> list[ir.Node]:
        return [self.node(child) for child in node.named_children if child.type not in {"comment", "empty_statement"}]

    def node(self, node: Any) -> ir.Node:
        self.source.step()
        if node.type == "ERROR" or node.is_missing:
            self.broken.append(self.source.span(node))
            return ir.Other(self.source.span(node), tuple(self.block(node)))
        reader = _NODES.get(node.type)
        if reader is not None:
            return reader(self, node)
        named = [c for c in node.named_children if c.type != "comment"]
        if len(named) == 1 and _PASS_THROUGH.match(node.type):
            return self.node(named[0])
        return ir.Other(self.source.span(node), tuple(self.node(c) for c in named))

    # commands and pipelines

    def pipeline(self, node: Any) -> ir.Node:
        """``a | b | c``: each command gets the value before it as its input."""
        parts = [c for c in node.named_children if c.type not in {"comment", "pipeline_chain_tail"}]
        tails = [c for c in node.named_children if c.type == "pipeline_chain_tail"]
        if len(parts) == 1 and not tails:
            return self.node(parts[0])
        return ir.Other(self.source.span(node), tuple(self.node(c) for c in (*parts, *tails)))

    def chain(self, node: Any) -> ir.Node:
        before: ir.Node | None = None
        redirects = [c for c in node.named_children if c.type == "redirections"]
        for child in node.named_children:
            if child.type in {"comment", "redirections"}:
                continue
            value = self.node(child)
            if before is not None and isinstance(value, ir.Call):
                value = ir.Call(value.span, value.func, value.args, (*value.named, ("@input", before)), value.words)
            elif before is not None:
                value = ir.Other(self.source.span(node), (before, value))
            before = value
        made = before or ir.Other(self.source.span(node))
        extra = [r for c in redirects for r in self.redirections(c)]
        return ir.Other(self.source.span(node), (made, *extra)) if extra else made

    def command(self, node: Any) -> ir.Node:
        span = self.source.span(node)
        name = next((c for c in node.named_children if c.type in _NAMES), None)
        invokes = any(c.type == "command_invokation_operator" for c in node.named_children)
        elements = next((c for c in node.named_children if c.type == "command_elements"), None)
        args, named, words, redirects = self.elements(elements)
        if name is None or re.fullmatch(r"-?\d[\d.]*", self.source.text(name)):
            return ir.Other(span, tuple(args))
        func = self.command_name(name, invokes=invokes)
        call = ir.Call(span, func, tuple(args), tuple(named), (self.first_word(name, func), *words))
        return ir.Other(span, (call, *redirects)) if redirects else call

    def first_word(self, name: Any, func: ir.Node) -> ir.Node:
        return func if name.type == "command_name_expr" else self.expandable(name, self.source.text(name))

    def command_name(self, node: Any, *, invokes: bool) -> ir.Node:
        if node.type == "command_name_expr":
            return self.node(node.named_children[0]) if node.named_children else ir.Other(self.source.span(node))
        text = self.source.text(node).replace("`", "")
        bare = text.lower()
        return ir.Name(self.source.span(node), bare if invokes else aliases().get(bare, bare))

    def elements(self, node: Any) -> tuple[list[ir.Node], list[tuple[str, ir.Node]], list[ir.Node], list[ir.Node]]:
        """Positional arguments, parameters, all words in order, redirections."""
        args: list[ir.Node] = []
        named: list[tuple[str, ir.Node]] = []
        words: list[ir.Node] = []
        redirects: list[ir.Node] = []
        waiting: tuple[str, ir.Span] | None = None
        for child in node.named_children if node is not None else ():
            if child.type == "command_argument_sep" and self.source.text(child).startswith(":") and named:
                waiting = waiting or (named.pop()[0], self.source.span(child))  # -Switch:$value
            if child.type in {"command_argument_sep", "comment"}:
                continue
            if child.type == "redirection":
                redirects += self.redirections(child)
                continue
            text = self.source.text(child)
            if child.type == "command_parameter" or (
                child.type == "generic_token" and text[:1] in _DASHES and text[1:2].isalpha()
            ):
                if waiting:
                    named.append((waiting[0], ir.Const(waiting[1], value=True)))
                waiting, word = None, ir.Const(self.source.span(child), text)
                words.append(word)
                key, colon, value = text[1:].partition(":")
                if colon and value:
                    named.append((key.lower(), ir.Const(self.source.span(child), value)))
                elif is_switch(key.lower()) and not colon and key.lower() not in self.params:
                    named.append((key.lower(), ir.Const(self.source.span(child), value=True)))
                else:
                    waiting = (key.lower(), self.source.span(child))
                continue
            if child.type == "argument_list" and args and isinstance(args[-1], ir.Attr):
                args[-1] = words[-1] = self.called(args[-1], child)
                continue
            if child.type == "argument_list" and named and isinstance(named[-1][1], ir.Attr):
                named[-1] = (named[-1][0], self.called(named[-1][1], child))
                continue
            value_node = self.word(child)
            if waiting and waiting[0] == "filter":  # a query of a directory in braces: text, no script
                value_node = ir.Const(self.source.span(child), text)
            words.append(value_node)
            if waiting:
                named.append((waiting[0], value_node))
                waiting = None
            else:
                args.append(value_node)
        if waiting:
            named.append((waiting[0], ir.Const(waiting[1], value=True)))
        return args, named, words, redirects

    def word(self, node: Any) -> ir.Node:
        if node.type in {"generic_token", "command_name", "path_command_name", "path_command_name_token"}:
            return self.expandable(node, self.source.text(node))
        return self.node(node)

    def bare(self, node: Any) -> ir.Node:
        return self.expandable(node, self.source.text(node))

    def redirections(self, node: Any) -> list[ir.Node]:
        """``> file`` and ``>> file`` as calls of the language's own writers."""
        out: list[ir.Node] = []
        stack = [node]
        while stack:
            part = stack.pop()
            target = next((c for c in part.named_children if c.type == "redirected_file_name"), None)
            if target is None:
                stack += part.named_children
                continue
            operator = next((self.source.text(c) for c in part.named_children if "operator" in c.type), ">")
            given = [c for c in target.named_children if c.type != "command_argument_sep"]
            if operator.endswith("<") or not given:
                continue
            name = "__append__" if ">>" in operator else "__write__"
            func = ir.Name(self.source.span(part), name)
            out.append(ir.Call(self.source.span(part), func, (self.word(given[0]),)))
        return out

    # expressions

    def string(self, node: Any) -> ir.Node:
        raw = self.source.text(node)
        if raw.startswith("@"):
            body = re.sub(r"^@[\"'][ \t]*\r?\n|\r?\n[\"']@$", "", raw)
            return ir.Const(self.source.span(node), body) if raw[1:2] == "'" else self.expandable(node, body)
        if raw[:1] in {"'", "\u2018", "\u2019"}:
            return ir.Const(self.source.span(node), raw[1:-1].replace("''", "'"))
        return self.expandable(node, raw[1:-1].replace('""', '"'))

    def expandable(self, node: Any, text: str) -> ir.Node:
        """Text with ``$name``, ``${name}``, ``$(…)`` parts; back-tick escapes resolved."""
        span = self.source.span(node)
        inner = iter(_all(node, "sub_expression", deep=False))
        parts: list[ir.Node] = []
        for literal, name in _pieces(text):
            if name == "?":
                found = next(inner, None)
                parts.append(
                    ir.Other(span, tuple(self.node(c) for c in found.named_children) if found is not None else ())
                )
            else:
                parts.append(self.variable_named(span, name) if name else ir.Const(span, literal))
        if not parts:
            return ir.Const(span, "")
        return parts[0] if len(parts) == 1 else ir.Join(span, tuple(parts))

    def variable(self, node: Any) -> ir.Node:
        return self.variable_named(self.source.span(node), self.source.text(node).lstrip("$@").strip("{}"))

    def variable_named(self, span: ir.Span, name: str) -> ir.Node:
        if name.lower() in _CONSTANTS:
            return ir.Const(span, _CONSTANTS[name.lower()])
        known = table("powershell/tables/names.yaml")["variables"].get(name.lower())
        if known is not None:
            return ir.Const(span, known)
        return ir.Name(span, "$" + name.lower().removeprefix("global:").removeprefix("script:"))

    def member(self, node: Any) -> ir.Node:
        obj, name = node.named_children[0], node.named_children[1] if len(node.named_children) > 1 else None
        member = self.source.text(name).lower().strip("\"'") if name is not None else ""
        return ir.Attr(self.source.span(node), self.node(obj), member)

    def invocation(self, node: Any) -> ir.Node:
        """``$obj.Method(a)`` and ``[Type]::Method(a)``."""
        children = [c for c in node.named_children if c.type != "comment"]
        arguments = next((c for c in children if c.type == "argument_list"), None)
        func = ir.Attr(
            self.source.span(node), self.node(children[0]), self.source.text(children[1]).lower().strip("\"'")
        )
        args = (
            [self.node(a) for a in _all(arguments, "argument_expression", deep=False)] if arguments is not None else []
        )
        return ir.Call(self.source.span(node), func, tuple(args))

    def type_literal(self, node: Any) -> ir.Node:
        name = re.sub(r"\s", "", self.source.text(node).strip("[]")).lower().removeprefix("system.")
        return ir.Name(self.source.span(node), f"[{name}]")

    def binary(self, node: Any) -> ir.Node:
        """``a + b``, ``"{0}" -f x``, ``$a -join ","``: the operator stands between, as a node or as plain text."""
        parts = [c for c in node.named_children if c.type != "comment"]
        left = self.node(parts[0])
        for before, right in pairwise(parts):
            if right.type.endswith("operator"):
                continue
            word = self.source.text(before) if before.type.endswith("operator") else self.between(before, right)
            op = _OPERATORS.get(word.strip().lower(), "?")
            left = ir.Binary(self.source.span(node), op, left, self.node(right))
        return left

    def between(self, left: Any, right: Any) -> str:
        return self.source.data[left.end_byte : right.start_byte].decode("utf-8", "replace")

    def called(self, value: ir.Node, arguments: Any) -> ir.Node:
        """``(expression).Member`` with the argument list that follows it in a command."""
        args = tuple(self.node(a) for a in _all(arguments, "argument_expression", deep=False))
        return ir.Call((value.span[0], self.source.span(arguments)[1]), value, args)

    def array(self, node: Any) -> ir.Node:
        items = [self.node(c) for c in node.named_children if c.type != "comment"]
        return items[0] if len(items) == 1 else ir.Sequence(self.source.span(node), tuple(items))

    def hash_table(self, node: Any) -> ir.Node:
        pairs = []
        for entry in _all(node, "hash_entry"):
            parts = [c for c in entry.named_children if c.type != "comment"]
            if len(parts) > 1:
                pairs.append((self.source.text(parts[0]).strip("\"'").lower(), self.node(parts[-1])))
        return ir.Table(self.source.span(node), tuple(pairs))

    def number(self, node: Any) -> ir.Node:
        text = self.source.text(node).lower()
        try:
            value: Any = int(text, 16) if text.startswith("0x") else int(text)
        except ValueError:
            value = None
        return ir.Const(self.source.span(node), value) if value is not None else ir.Other(self.source.span(node))

    def cast(self, node: Any) -> ir.Node:
        parts = [c for c in node.named_children if c.type != "comment"]
        kind = self.source.text(parts[0]).strip("[]").lower() if parts else ""
        value = self.node(parts[-1])
        if kind in {"char", "scriptblock"}:
            return ir.Call(self.source.span(node), ir.Name(self.source.span(node), f"[{kind}]"), (value,))
        return value

    def script_block(self, node: Any) -> ir.Node:
        body = [n for c in _all(node, "script_block_body", deep=False) or [node] for n in self.block(c)]
        return ir.Function(self.source.span(node), "", (), tuple(body))

    # statements

    def assignment(self, node: Any) -> ir.Node:
        parts = [c for c in node.named_children if c.type != "comment"]
        left, value = self.node(parts[0]), self.node(parts[-1])
        if any("+=" in self.source.text(c) for c in parts if "operator" in c.type):
            value = ir.Binary(self.source.span(node), "+", left, value)
        return ir.Assign(self.source.span(node), (left,), value)

    def function(self, node: Any) -> ir.Node:
        name = next((self.source.text(c).lower() for c in node.named_children if c.type == "function_name"), "")
        params = tuple(
            self.source.text(v).lower() for p in _all(node, "script_parameter") for v in _all(p, "variable")[:1]
        )
        body = [n for c in _all(node, "script_block_body") for n in self.block(c)]
        return ir.Function(self.source.span(node), name, params, tuple(body))

    def if_statement(self, node: Any) -> ir.Node:
        condition = node.child_by_field_name("condition")
        blocks = [n for c in node.named_children if c.type != "comment" and c != condition for n in [self.node(c)]]
        test = (
            ir.Other(self.source.span(node), (self.node(condition),)) if condition else ir.Other(self.source.span(node))
        )
        return ir.If(self.source.span(node), test, tuple(blocks))

    def foreach(self, node: Any) -> ir.Node:
        parts = [c for c in node.named_children if c.type not in {"comment", "foreach_parameter"}]
        if len(parts) < 3:
            return ir.Other(self.source.span(node), tuple(self.node(c) for c in parts))
        return ir.Loop(self.source.span(node), self.node(parts[0]), self.node(parts[1]), (self.node(parts[2]),))


def _pieces(text: str) -> list[tuple[str, str]]:
    """(literal, "") and ("", variable name) parts of an expandable string."""
    out: list[tuple[str, str]] = []
    literal = ""
    i = 0
    while i < len(text):
        found = _VARIABLE.match(text, i)
        if text[i] == "`" and i + 1 < len(text):
            literal += _BACKTICKS.get(text[i + 1], text[i + 1])
            i += 2
        elif text.startswith("$(", i):
            i = _close(text, i + 1)
            out += [(literal, "")] if literal else []
            out.append(("", "?"))
            literal = ""
        elif found is not None:
            out += [(literal, "")] if literal else []
            out.append(("", found.group(1) or found.group(2)))
            literal = ""
            i = found.end()
        else:
            literal += text[i]
            i += 1
    return out + ([(literal, "")] if literal else [])


_VARIABLE = re.compile(r"\$(?:\{([^}]+)\}|((?:\w+:)?\w+))")


def _close(text: str, at: int) -> int:
    depth = 0
    for i in range(at, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def _all(node: Any, kind: str, *, deep: bool = True) -> list[Any]:
    """Descendants of a type, in order; a match is not searched inside when not ``deep``."""
    out: list[Any] = []
    stack = list(reversed(node.named_children)) if node is not None else []
    while stack:
        child = stack.pop()
        if child.type == kind:
            out.append(child)
            if not deep:
                continue
        stack += reversed(child.named_children)
    return out


def is_switch(name: str) -> bool:
    """A parameter that takes no value; prefixes count, as PowerShell allows them."""
    switches = table("powershell/tables/names.yaml")["switches"]
    return name in switches or (len(name) > 2 and any(s.startswith(name) for s in switches))


@cache
def aliases() -> dict[str, str]:
    return alternatives("powershell/tables/names.yaml", "aliases")


_OPERATORS = {"-f": "%f", "+": "+", "-join": "join", "-replace": "replace", "-split": "split"}
_CONSTANTS = {"true": True, "false": False, "null": None}
_NAMES = frozenset({"command_name", "command_name_expr", "path_command_name"})
_NODES: dict[str, Callable[[_Front, Any], ir.Node]] = {
    "pipeline": _Front.pipeline,
    "pipeline_chain": _Front.chain,
    "command": _Front.command,
    "expandable_string_literal": _Front.string,
    "verbatim_string_characters": _Front.string,
    "expandable_here_string_literal": _Front.string,
    "verbatim_here_string_characters": _Front.string,
    "variable": _Front.variable,
    "braced_variable": _Front.variable,
    "member_access": _Front.member,
    "element_access": _Front.member,
    "invokation_expression": _Front.invocation,
    "type_literal": _Front.type_literal,
    "additive_expression": _Front.binary,
    "additive_argument_expression": _Front.binary,
    "format_expression": _Front.binary,
    "format_argument_expression": _Front.binary,
    "comparison_expression": _Front.binary,
    "comparison_argument_expression": _Front.binary,
    "array_literal_expression": _Front.array,
    "hash_literal_expression": _Front.hash_table,
    "decimal_integer_literal": _Front.number,
    "hexadecimal_integer_literal": _Front.number,
    "cast_expression": _Front.cast,
    "script_block_expression": _Front.script_block,
    "assignment_expression": _Front.assignment,
    "function_statement": _Front.function,
    "if_statement": _Front.if_statement,
    "command_name": _Front.bare,
    "path_command_name": _Front.bare,
    "generic_token": _Front.bare,
    "foreach_statement": _Front.foreach,
}
