"""Python's front end: text in, program form out, by the standard library's own parser.

Notebook lines (``!pip install x``, ``%cd d``, ``%%bash``) are read as what they run. Raises SyntaxError.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import replace
from itertools import accumulate

from classifiers.clock import spent
from classifiers.code import ir

_SHELL_LINE = re.compile(r"^(\s*)!(.*)$")
_MAGIC = re.compile(r"^\s*%(\w+)\s*(.*)$")


def parse(text: str, deadline: float | None = None) -> list[ir.Node]:
    """Raises SyntaxError, ValueError for a null byte, TimeoutError past ``deadline`` (of ``classifiers.clock``)."""
    if re.search(r"^\s*[!%]", text, re.MULTILINE):
        text = _without_magics(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text, tree = _tree(text)
    return _Reader(text, deadline).block(tree.body)


# What no Python 3 reads and people write in one-liners all the same: a compound statement after a semicolon, and
# Python 2's print. Read as what they mean, in the same number of characters.
_COMPOUND = re.compile(r";[ \t]*(?=(?:async[ \t]+)?(?:for|while|if|with|def|class|try)\b)")
_PRINT = re.compile(r"((?:^|[;:])[ \t]*print)[ \t](?=[ \t]*[\w\"'\[{(-])", re.MULTILINE)


def _tree(text: str) -> tuple[str, ast.Module]:
    try:
        return text, ast.parse(text)
    except SyntaxError:
        meant = _COMPOUND.sub(lambda m: " " * (len(m[0]) - 1) + "\n", text)
        meant = _PRINT.sub(r"\1,", meant)
        if meant == text:
            raise
        return meant, ast.parse(meant)


def _without_magics(text: str) -> str:
    """Notebook lines as calls of two names nobody else has, kept on their own lines."""
    if text.lstrip().startswith(("%%bash", "%%sh", "%%script")):
        return f"__shell__({text.lstrip().partition(chr(10))[2]!r})"
    out = []
    for line in text.split("\n"):
        shell, magic = _SHELL_LINE.match(line), _MAGIC.match(line)
        if shell is not None:
            line = f"{shell.group(1)}__shell__({shell.group(2)!r})"  # noqa: PLW2901 - the line as Python
        elif magic is not None:
            name, rest = magic.groups()
            command = f"{name} {rest}" if name in {"cd", "pip", "conda", "mkdir", "rm", "cp", "mv", "ls", "cat"} else ""
            line = f"__shell__({(rest if name in {'sx', 'system'} else command)!r})"  # noqa: PLW2901 - the line as Python
        out.append(line)
    return "\n".join(out)


def _method_name(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """A property is called by looking at it: its name says that it is one of those nobody calls by name."""
    marks = {d.id if isinstance(d, ast.Name) else d.attr for d in node.decorator_list if isinstance(d, _NAMED)}
    return f"__get_{node.name}" if marks & _PROPERTIES else node.name


def _static(node: ast.FunctionDef | ast.AsyncFunctionDef, made: ir.Function) -> ir.Function:
    """A static method takes no object; in place of one stands a name that nobody can say."""
    if not any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list):
        return made
    rest = None if made.rest is None else (made.rest[0] + 1, made.rest[1])
    defaults = (("", None), *made.defaults) if made.defaults else ()
    return replace(made, params=("", *made.params), defaults=defaults, rest=rest)


_NAMED = (ast.Name, ast.Attribute)
_PROPERTIES = frozenset({"property", "cached_property", "setter", "getter", "deleter"})


# Decorators that give back what does the same, and call nothing.
_KEEPING = """functools contextlib dataclasses typing abc pytest unittest staticmethod classmethod property override
overload cache lru_cache wraps contextmanager asynccontextmanager dataclass final abstractmethod total_ordering"""


def _keeps(decorator: ast.expr) -> bool:
    named = decorator.func if isinstance(decorator, ast.Call) else decorator
    while isinstance(named, ast.Attribute):
        named = named.value
    return isinstance(named, ast.Name) and named.id in _KEEPING.split()


class _Reader:
    def __init__(self, text: str, deadline: float | None) -> None:
        self.deadline = deadline
        lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in lines)]
        self.ascii = text.isascii()
        self.lines = lines
        self.outside: frozenset[str] = frozenset()  # ``global`` and ``nonlocal`` names of the function being read
        self.declares = "global " in text or "nonlocal " in text

    def span(self, node: ast.AST) -> ir.Span:
        line, end = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1) or 1
        return self.at(line, getattr(node, "col_offset", 0)), self.at(end, getattr(node, "end_col_offset", 0) or 0)

    def at(self, line: int, column: int) -> int:
        """Code points: the parser counts UTF-8 bytes."""
        line = min(line, len(self.lines))
        if not self.ascii:
            column = len(self.lines[line - 1].encode()[:column].decode("utf-8", "ignore"))
        return self.starts[line - 1] + column

    def block(self, body: list[ast.stmt]) -> list[ir.Node]:
        return [node for statement in body for node in self.statement(statement)]

    def statement(self, node: ast.stmt) -> list[ir.Node]:
        span = self.span(node)
        if self.deadline is not None and spent() > self.deadline:
            raise TimeoutError
        match node:
            case ast.Import():
                return [
                    ir.Import(
                        span, a.name if a.asname else a.name.partition(".")[0], a.asname or a.name.partition(".")[0]
                    )
                    for a in node.names
                ]
            case ast.ImportFrom():
                module = "." * node.level + (node.module or "")
                return [ir.Import(span, f"{module}.{a.name}", a.asname or a.name) for a in node.names]
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                defined = self.function(node.name, node.args, node.body, span)
                kept = [d for d in node.decorator_list if _keeps(d)]
                given = [self.given_to(d, node.name, span) for d in reversed(node.decorator_list) if d not in kept]
                return [*self.decorators(kept), *self.at_definition(node), defined, *given]
            case ast.ClassDef():
                methods = [s for s in node.body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)]
                rest = [s for s in node.body if s not in methods]
                made = tuple(_static(m, self.function(_method_name(m), m.args, m.body, self.span(m))) for m in methods)
                before = [e for m in methods for e in (*self.decorators(m.decorator_list), *self.at_definition(m))]
                bases = self.exprs([*node.bases, *(k.value for k in node.keywords)])
                body = (*bases, *before, *self.block(rest))
                return [*self.decorators(node.decorator_list), ir.Class(span, node.name, made, body)]
            case ast.Assign():
                outer = any(isinstance(t, ast.Name) and t.id in self.outside for t in node.targets)
                return [ir.Assign(span, tuple(self.exprs(node.targets)), self.expr(node.value), outer)]
            case ast.AnnAssign() if node.value is not None:
                annotation = self.expr(node.annotation)
                return [annotation, ir.Assign(span, (self.expr(node.target),), self.expr(node.value))]
            case ast.AugAssign():
                target = self.expr(node.target)
                joined = ir.Binary(span, "+" if isinstance(node.op, ast.Add) else "?", target, self.expr(node.value))
                outer = isinstance(node.target, ast.Name) and node.target.id in self.outside
                return [ir.Assign(span, (target,), joined, outer)]
            case ast.If():
                return [ir.If(span, self.expr(node.test), tuple(self.block(node.body)), tuple(self.block(node.orelse)))]
            case ast.For() | ast.AsyncFor():
                loop = ir.Loop(span, self.expr(node.target), self.expr(node.iter), tuple(self.block(node.body)))
                return [loop, *self.block(node.orelse)]
            case ast.While():
                turns = ir.If(span, self.expr(node.test), tuple(self.block(node.body)), again=True)
                return [turns, *self.block(node.orelse)]
            case ast.With() | ast.AsyncWith():
                return [*(self.with_item(item) for item in node.items), *self.block(node.body)]
            case ast.Try() | ast.TryStar():
                tried = self.block(node.body)
                handlers = [ir.perhaps(span, self.handler(h)) for h in node.handlers]
                tried = [ir.perhaps(span, tried)] if handlers else tried
                return [*tried, *handlers, *self.block(node.orelse), *self.block(node.finalbody)]
            case ast.Return():
                return [ir.Return(span, self.expr(node.value) if node.value else None)]
            case ast.Expr():
                return [self.expr(node.value)]
            case ast.Match():
                guards = self.exprs([c.guard for c in node.cases if c.guard is not None])
                cases = (ir.perhaps(span, self.block(c.body)) for c in node.cases)
                return [self.expr(node.subject), *guards, *cases]
            case _:
                return [ir.Other(span, tuple(self.children(node)))]

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

    def taking(self, name: str, args: ast.arguments, body: tuple[ir.Node, ...], span: ir.Span) -> ir.Function:
        """A function of these parameters."""
        plain = [*args.posonlyargs, *args.args]
        params = tuple(a.arg for a in (*plain, *args.kwonlyargs))
        given = [*[None] * (len(plain) - len(args.defaults)), *args.defaults, *args.kw_defaults]
        defaults = tuple((p, None if d is None else self.expr(d)) for p, d in zip(params, given, strict=True))
        known = defaults if any(d is not None for _, d in defaults) else ()
        rest = (len(plain), args.vararg.arg) if args.vararg is not None else None
        return ir.Function(span, name, params, body, known, rest, args.kwarg.arg if args.kwarg is not None else "")

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

    def at_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ir.Node]:
        """What runs when a function is defined, not when it is called: defaults and annotations."""
        args = node.args
        every = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
        notes = [a.annotation for a in every if a is not None and a.annotation is not None]
        defaults = [d for d in (*args.defaults, *args.kw_defaults) if d is not None]
        return self.exprs([*defaults, *notes, *([node.returns] if node.returns else [])])

    def exprs(self, nodes: list[ast.expr]) -> list[ir.Node]:
        return [self.expr(node) for node in nodes]

    def expr(self, node: ast.expr) -> ir.Node:
        span = self.span(node)
        match node:
            case ast.Constant():
                return ir.Const(span, node.value)
            case ast.Name():
                return ir.Name(span, node.id)
            case ast.Attribute():
                return ir.Attr(span, self.expr(node.value), node.attr)
            case ast.Call():
                named = tuple((k.arg or "**", self.expr(k.value)) for k in node.keywords)
                return ir.Call(span, self.expr(node.func), tuple(self.exprs(node.args)), named)
            case ast.JoinedStr():
                return ir.Join(span, tuple(self.exprs(node.values)))
            case ast.FormattedValue():
                return self.expr(node.value) if node.format_spec is None else ir.Other(span, tuple(self.children(node)))
            case ast.BinOp():
                return ir.Binary(span, _OPERATORS.get(type(node.op), "?"), self.expr(node.left), self.expr(node.right))
            case ast.List() | ast.Tuple() | ast.Set():
                return ir.Sequence(span, tuple(self.exprs(node.elts)))
            case ast.Dict():
                pairs = [(_key(k), self.expr(v)) for k, v in zip(node.keys, node.values, strict=True)]
                made = [("", self.expr(k)) for k in node.keys if k is not None and not isinstance(k, ast.Constant)]
                return ir.Table(span, (*made, *pairs))
            case ast.UnaryOp(operand=ast.Constant()) if (number := _number(node)) is not None:
                return ir.Const(span, number)
            case ast.Slice() if (cut := _cut(node)) is not None:
                return ir.Const(span, cut)
            case ast.Subscript():
                return ir.Index(span, self.expr(node.value), self.expr(node.slice))
            case ast.Lambda():
                closure = self.taking("", node.args, (self.expr(node.body),), span)
                defaults = [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
                return ir.Other(span, (*self.exprs(defaults), closure), last=True) if _calls(defaults) else closure
            case ast.Starred():
                return ir.Spread(span, self.expr(node.value))
            case ast.Await():
                return self.expr(node.value)
            case ast.Yield() | ast.YieldFrom():
                given = self.expr(node.value) if node.value is not None else None
                return ir.Yield(span, given, whole=isinstance(node, ast.YieldFrom))
            case ast.IfExp():
                return ir.Choice(span, self.expr(node.test), (self.expr(node.body), self.expr(node.orelse)))
            case ast.BoolOp(op=ast.Or()):
                return ir.Choice(span, None, tuple(self.exprs(node.values)))
            case ast.NamedExpr():
                return ir.Assign(span, (self.expr(node.target),), self.expr(node.value))
            case ast.Compare():
                parts = (self.expr(node.left), *self.exprs(node.comparators))
                if _is_main(node):
                    return ir.Const(span, value=True)
                return ir.Other(span, parts)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self.comprehension(span, node.generators, node.elt)
            case ast.DictComp():
                return self.comprehension(span, node.generators, node.key, node.value)
            case _:
                return ir.Other(span, tuple(self.children(node)))

    def comprehension(self, span: ir.Span, generators: list[ast.comprehension], *elements: ast.expr) -> ir.Node:
        body: tuple[ir.Node, ...] = tuple(self.exprs([*elements]))
        for g in reversed(generators):
            listed = ("some" if g.ifs else "all") if len(generators) == len(elements) == 1 else ""
            body = (ir.Loop(span, self.expr(g.target), self.expr(g.iter), (*self.exprs(g.ifs), *body), listed),)
        return ir.Other(span, body, last=True)

    def children(self, node: ast.AST) -> list[ir.Node]:
        out: list[ir.Node] = []
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                out.append(self.expr(child))
            elif isinstance(child, ast.stmt):
                out += self.statement(child)
        return out


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
