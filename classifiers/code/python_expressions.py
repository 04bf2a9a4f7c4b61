"""Python's expressions: a node of its own syntax tree in, the program node out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from itertools import accumulate

from classifiers.clock import spent
from classifiers.code import ir


class Expressions:
    """``read_<type>`` gives one node for an expression, a list for a statement; types without one are read for their
    parts."""

    def __init__(self, text: str, deadline: float | None) -> None:
        self.deadline = deadline
        self.lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.ascii = text.isascii()

    def span(self, node: ast.AST) -> ir.Span:
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1) or 1
        return self.at(line, getattr(node, "col_offset", 0)), self.at(end, getattr(node, "end_col_offset", 0) or 0)

    def at(self, line: int, column: int) -> int:
        """Code points: the parser counts UTF-8 bytes."""
        line = min(line, len(self.lines))
        if not self.ascii:
            column = len(self.lines[line - 1].encode()[:column].decode("utf-8", "ignore"))
        return self.starts[line - 1] + column

    def expr(self, node: ast.expr) -> ir.Node:
        reader: Callable[[ast.expr], ir.Node] = getattr(self, f"read_{type(node).__name__.lower()}", self.parts)
        return reader(node)

    def exprs(self, nodes: list[ast.expr]) -> list[ir.Node]:
        return [self.expr(node) for node in nodes]

    def children(self, node: ast.AST) -> list[ir.Node]:
        out: list[ir.Node] = []
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                out.append(self.expr(child))
            elif isinstance(child, ast.stmt):
                out += self.statement(child)
        return out

    def parts(self, node: ast.AST) -> ir.Node:
        return ir.Other(self.span(node), tuple(self.children(node)))

    def statement(self, node: ast.stmt) -> list[ir.Node]:
        """Raises TimeoutError past the deadline."""
        if self.deadline is not None and spent() > self.deadline:
            raise TimeoutError
        reader: Callable[[ast.stmt], list[ir.Node]] | None
        reader = getattr(self, f"read_{type(node).__name__.lower()}", None)
        return [self.parts(node)] if reader is None else reader(node)

    def read_constant(self, node: ast.Constant) -> ir.Node:
        return ir.Const(self.span(node), node.value)

    def read_name(self, node: ast.Name) -> ir.Node:
        return ir.Name(self.span(node), node.id)

    def read_attribute(self, node: ast.Attribute) -> ir.Node:
        return ir.Attr(self.span(node), self.expr(node.value), node.attr)

    def read_call(self, node: ast.Call) -> ir.Node:
        named = tuple((k.arg or "**", self.expr(k.value)) for k in node.keywords)
        return ir.Call(self.span(node), self.expr(node.func), tuple(self.exprs(node.args)), named)

    def read_joinedstr(self, node: ast.JoinedStr) -> ir.Node:
        return ir.Join(self.span(node), tuple(self.exprs(node.values)))

    def read_formattedvalue(self, node: ast.FormattedValue) -> ir.Node:
        plain = node.format_spec is None
        return self.expr(node.value) if plain else self.parts(node)

    def read_binop(self, node: ast.BinOp) -> ir.Node:
        operator = _OPERATORS.get(type(node.op), "?")
        return ir.Binary(self.span(node), operator, self.expr(node.left), self.expr(node.right))

    def listed(self, node: ast.List | ast.Tuple | ast.Set) -> ir.Node:
        return ir.Sequence(self.span(node), tuple(self.exprs(node.elts)))

    read_list = read_tuple = read_set = listed

    def read_dict(self, node: ast.Dict) -> ir.Node:
        pairs = [(_key(k), self.expr(v)) for k, v in zip(node.keys, node.values, strict=True)]
        made = [("", self.expr(k)) for k in node.keys if k is not None and not isinstance(k, ast.Constant)]
        return ir.Table(self.span(node), (*made, *pairs))

    def read_unaryop(self, node: ast.UnaryOp) -> ir.Node:
        number = _number(node) if isinstance(node.operand, ast.Constant) else None
        span = self.span(node)
        return self.parts(node) if number is None else ir.Const(span, number)

    def read_slice(self, node: ast.Slice) -> ir.Node:
        cut, span = _cut(node), self.span(node)
        return self.parts(node) if cut is None else ir.Const(span, cut)

    def read_subscript(self, node: ast.Subscript) -> ir.Node:
        return ir.Index(self.span(node), self.expr(node.value), self.expr(node.slice))

    def read_lambda(self, node: ast.Lambda) -> ir.Node:
        span = self.span(node)
        closure = self.taking("", node.args, (self.expr(node.body),), span)
        defaults = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
        return ir.Other(span, (*self.exprs(defaults), closure), last=True) if _calls(defaults) else closure

    def taking(self, name: str, args: ast.arguments, body: tuple[ir.Node, ...], span: ir.Span) -> ir.Function:
        """A function of these parameters."""
        plain = [*args.posonlyargs, *args.args]
        params = tuple(a.arg for a in (*plain, *args.kwonlyargs))
        given = [*[None] * (len(plain) - len(args.defaults)), *args.defaults, *args.kw_defaults]
        defaults = tuple((p, None if d is None else self.expr(d)) for p, d in zip(params, given, strict=True))
        known = defaults if any(d is not None for _, d in defaults) else ()
        rest = (len(plain), args.vararg.arg) if args.vararg is not None else None
        return ir.Function(span, name, params, body, known, rest, args.kwarg.arg if args.kwarg is not None else "")

    def read_starred(self, node: ast.Starred) -> ir.Node:
        return ir.Spread(self.span(node), self.expr(node.value))

    def read_await(self, node: ast.Await) -> ir.Node:
        return self.expr(node.value)

    def read_yield(self, node: ast.Yield) -> ir.Node:
        return ir.Yield(self.span(node), self.expr(node.value) if node.value is not None else None)

    def read_yieldfrom(self, node: ast.YieldFrom) -> ir.Node:
        return ir.Yield(self.span(node), self.expr(node.value), whole=True)

    def read_ifexp(self, node: ast.IfExp) -> ir.Node:
        return ir.Choice(self.span(node), self.expr(node.test), (self.expr(node.body), self.expr(node.orelse)))

    def read_boolop(self, node: ast.BoolOp) -> ir.Node:
        span, values = self.span(node), tuple(self.exprs(node.values))
        return ir.Choice(span, None, values) if isinstance(node.op, ast.Or) else ir.Other(span, values)

    def read_namedexpr(self, node: ast.NamedExpr) -> ir.Node:
        return ir.Assign(self.span(node), (self.expr(node.target),), self.expr(node.value))

    def read_compare(self, node: ast.Compare) -> ir.Node:
        span, parts = self.span(node), (self.expr(node.left), *self.exprs(node.comparators))
        return ir.Const(span, value=True) if _is_main(node) else ir.Other(span, parts)

    def comprehended(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ir.Node:
        return self.comprehension(self.span(node), node.generators, node.elt)

    read_listcomp = read_setcomp = read_generatorexp = comprehended

    def read_dictcomp(self, node: ast.DictComp) -> ir.Node:
        return self.comprehension(self.span(node), node.generators, node.key, node.value)

    def comprehension(self, span: ir.Span, generators: list[ast.comprehension], *elements: ast.expr) -> ir.Node:
        body: tuple[ir.Node, ...] = tuple(self.exprs([*elements]))
        for g in reversed(generators):
            listed = ("some" if g.ifs else "all") if len(generators) == len(elements) == 1 else ""
            body = (ir.Loop(span, self.expr(g.target), self.expr(g.iter), (*self.exprs(g.ifs), *body), listed),)
        return ir.Other(span, body, last=True)


def _calls(nodes: list[ast.expr]) -> bool:
    return any(isinstance(inner, ast.Call) for node in nodes for inner in ast.walk(node))


def _key(node: ast.expr | None) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _cut(node: ast.Slice) -> slice | None:
    """The part of a list that a slice with plain numbers takes."""
    parts = [None if p is None else _number(p) for p in (node.lower, node.upper, node.step)]
    given = [p for p in (node.lower, node.upper, node.step) if p is not None]
    return slice(*parts) if sum(p is not None for p in parts) == len(given) else None


def _number(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if isinstance(value, int) else None


def _is_main(node: ast.Compare) -> bool:
    return isinstance(node.left, ast.Name) and node.left.id == "__name__" and isinstance(node.ops[0], ast.Eq)


_OPERATORS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Div: "/", ast.Mod: "%", ast.Mult: "*"}
