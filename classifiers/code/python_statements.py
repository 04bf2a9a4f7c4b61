"""Python's statements: a node of its own syntax tree in, the program nodes out."""

from __future__ import annotations

import ast
from dataclasses import replace

from classifiers.code import ir
from classifiers.code.python_expressions import Expressions

Definition = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED = (ast.Name, ast.Attribute)
_PROPERTIES = frozenset({"property", "cached_property", "setter", "getter", "deleter"})
# Decorators that give back what does the same, and call nothing.
_KEEPING = """functools contextlib dataclasses typing abc pytest unittest staticmethod classmethod property override
overload cache lru_cache wraps contextmanager asynccontextmanager dataclass final abstractmethod total_ordering"""


class Statements(Expressions):
    """A whole program, or a part of one."""

    def __init__(self, text: str, deadline: float | None) -> None:
        super().__init__(text, deadline)
        self.outside: frozenset[str] = frozenset()  # ``global`` and ``nonlocal`` names of the function being read
        self.declares = "global " in text or "nonlocal " in text

    def block(self, body: list[ast.stmt]) -> list[ir.Node]:
        return [node for statement in body for node in self.statement(statement)]

    def read_import(self, node: ast.Import) -> list[ir.Node]:
        """``import a.b`` binds ``a``."""
        names = [(a.name if a.asname else a.name.partition(".")[0], a.asname) for a in node.names]
        return [ir.Import(self.span(node), name, alias or name) for name, alias in names]

    def read_importfrom(self, node: ast.ImportFrom) -> list[ir.Node]:
        module = "." * node.level + (node.module or "")
        return [ir.Import(self.span(node), f"{module}.{a.name}", a.asname or a.name) for a in node.names]

    def defined(self, node: Definition) -> list[ir.Node]:
        span = self.span(node)
        made = self.function(node.name, node.args, node.body, span)
        kept = [d for d in node.decorator_list if _keeps(d)]
        given = [self.given_to(d, node.name, span) for d in reversed(node.decorator_list) if d not in kept]
        return [*self.decorators(kept), *self.at_definition(node), made, *given]

    read_functiondef = read_asyncfunctiondef = defined

    def read_classdef(self, node: ast.ClassDef) -> list[ir.Node]:
        methods = [s for s in node.body if isinstance(s, Definition)]
        rest = [s for s in node.body if s not in methods]
        made = tuple(_static(m, self.function(_method_name(m), m.args, m.body, self.span(m))) for m in methods)
        before = [e for m in methods for e in (*self.decorators(m.decorator_list), *self.at_definition(m))]
        bases = self.exprs([*node.bases, *(k.value for k in node.keywords)])
        body = (*bases, *before, *self.block(rest))
        return [*self.decorators(node.decorator_list), ir.Class(self.span(node), node.name, made, body)]

    def read_assign(self, node: ast.Assign) -> list[ir.Node]:
        outer = any(isinstance(t, ast.Name) and t.id in self.outside for t in node.targets)
        return [ir.Assign(self.span(node), tuple(self.exprs(node.targets)), self.expr(node.value), outer)]

    def read_annassign(self, node: ast.AnnAssign) -> list[ir.Node]:
        if node.value is None:
            return [self.parts(node)]
        bound = ir.Assign(self.span(node), (self.expr(node.target),), self.expr(node.value))
        return [self.expr(node.annotation), bound]

    def read_augassign(self, node: ast.AugAssign) -> list[ir.Node]:
        span, target = self.span(node), self.expr(node.target)
        joined = ir.Binary(span, "+" if isinstance(node.op, ast.Add) else "?", target, self.expr(node.value))
        outer = isinstance(node.target, ast.Name) and node.target.id in self.outside
        return [ir.Assign(span, (target,), joined, outer)]

    def read_if(self, node: ast.If) -> list[ir.Node]:
        body, orelse = tuple(self.block(node.body)), tuple(self.block(node.orelse))
        return [ir.If(self.span(node), self.expr(node.test), body, orelse)]

    def looped(self, node: ast.For | ast.AsyncFor) -> list[ir.Node]:
        target, items = self.expr(node.target), self.expr(node.iter)
        return [ir.Loop(self.span(node), target, items, tuple(self.block(node.body))), *self.block(node.orelse)]

    read_for = read_asyncfor = looped

    def read_while(self, node: ast.While) -> list[ir.Node]:
        turns = ir.If(self.span(node), self.expr(node.test), tuple(self.block(node.body)), again=True)
        return [turns, *self.block(node.orelse)]

    def within(self, node: ast.With | ast.AsyncWith) -> list[ir.Node]:
        return [*(self.with_item(item) for item in node.items), *self.block(node.body)]

    read_with = read_asyncwith = within

    def tried(self, node: ast.Try | ast.TryStar) -> list[ir.Node]:
        span, body = self.span(node), self.block(node.body)
        handlers = [ir.perhaps(span, self.handler(h)) for h in node.handlers]
        body = [ir.perhaps(span, body)] if handlers else body
        return [*body, *handlers, *self.block(node.orelse), *self.block(node.finalbody)]

    read_try = read_trystar = tried

    def read_return(self, node: ast.Return) -> list[ir.Node]:
        return [ir.Return(self.span(node), self.expr(node.value) if node.value else None)]

    def read_expr(self, node: ast.Expr) -> list[ir.Node]:
        return [self.expr(node.value)]

    def read_match(self, node: ast.Match) -> list[ir.Node]:
        guards = self.exprs([c.guard for c in node.cases if c.guard is not None])
        cases = (ir.perhaps(self.span(node), self.block(c.body)) for c in node.cases)
        return [self.expr(node.subject), *guards, *cases]

    def handler(self, node: ast.ExceptHandler) -> list[ir.Node]:
        """``except E as e``: the name holds an object that nobody knows."""
        span = self.span(node)
        bound = [ir.Assign(span, (ir.Name(span, node.name),), ir.Other(span))] if node.name else []
        return [*self.exprs([node.type] if node.type else []), *bound, *self.block(node.body)]

    def with_item(self, item: ast.withitem) -> ir.Node:
        value = self.expr(item.context_expr)
        return value if item.optional_vars is None else ir.Assign(value.span, (self.expr(item.optional_vars),), value)

    def function(self, name: str, args: ast.arguments, body: list[ast.stmt], span: ir.Span) -> ir.Function:
        before, self.outside = self.outside, self.outer_names(body)
        statements = tuple(self.block(body))
        self.outside = before
        return self.taking(name, args, statements, span)

    def outer_names(self, body: list[ast.stmt]) -> frozenset[str]:
        """What ``global`` and ``nonlocal`` name within a function."""
        found = (n for s in body for n in ast.walk(s)) if self.declares else ()
        return frozenset(name for n in found if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names)

    def decorators(self, nodes: list[ast.expr]) -> list[ir.Node]:
        """Each is called with what it decorates."""
        return [ir.Call(self.span(n), ir.Name(self.span(n), "callable"), (self.expr(n),)) for n in nodes]

    def given_to(self, decorator: ast.expr, name: str, span: ir.Span) -> ir.Node:
        """``@d def f``: ``d`` is called with ``f``, and ``f`` is what it gives, or itself where nobody knows."""
        function = ir.Name(span, name)
        made = ir.Call(self.span(decorator), self.expr(decorator), (function,))
        return ir.Assign(span, (function,), ir.Choice(span, ir.Other(span), (function, made)))

    def at_definition(self, node: Definition) -> list[ir.Node]:
        """What runs when a function is defined, not when it is called: defaults and annotations."""
        args = node.args
        every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        notes = [a.annotation for a in every if a is not None and a.annotation is not None]
        defaults = [d for d in (*args.defaults, *args.kw_defaults) if d is not None]
        return self.exprs([*defaults, *notes, *([node.returns] if node.returns else [])])


def _method_name(node: Definition) -> str:
    """A property is called by looking at it: its name says that it is one of those nobody calls by name."""
    marks = {d.id if isinstance(d, ast.Name) else d.attr for d in node.decorator_list if isinstance(d, _NAMED)}
    return f"__get_{node.name}" if marks & _PROPERTIES else node.name


def _static(node: Definition, made: ir.Function) -> ir.Function:
    """A static method takes no object; in place of one stands a name that nobody can say."""
    if not any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list):
        return made
    rest = None if made.rest is None else (made.rest[0] + 1, made.rest[1])
    defaults = (("", None), *made.defaults) if made.defaults else ()
    return replace(made, params=("", *made.params), defaults=defaults, rest=rest)


def _keeps(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    while isinstance(named, ast.Attribute):
        named = named.value
    return isinstance(named, ast.Name) and named.id in _KEEPING.split()
