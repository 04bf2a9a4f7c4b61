"""Read a program without running it: the program form in, effects out, constants carried along.

Statements are read in order; a function's body is read when it is called or handed on, with the arguments known there.
Each kind of node is read by its row: ``statements.py``, ``expressions.py``, ``invocations.py``. Bounded by steps, depth
and the clock of the Gather.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from classifiers.code import expressions, ir, statements
from classifiers.code.arguments import given, parameters
from classifiers.code.calls import Site, make_call
from classifiers.code.containers import loosen
from classifiers.code.invocations import invoke
from classifiers.code.library import Library
from classifiers.code.values import UNKNOWN, Value, constant, taints, unknown
from classifiers.code.ways import any_of
from classifiers.context import Context
from classifiers.effects import Domain, OpaqueReason, Tag, Verb
from classifiers.gather import Gather
from classifiers.shell import hooks

# The list of words a program is given.
_ARGV = {"python": "sys.argv", "javascript": "process.argv", "ruby": "ARGV", "perl": "ARGV"}
# Functions there see the names around them, and may set them.
_CLOSED_OVER = frozenset({"python", "javascript", "ruby", "perl", "lua"})
_LAST_IS_GIVEN = frozenset({"ruby", "perl"})  # what stands last is what a function gives, beside its returns
MAX_STEPS = 60_000
MAX_DEPTH = 12
_UNASKED = frozenset({"__init__", "constructor", "initialize", "__construct", "__enter__", "__exit__", "__del__"})
# Methods an operator, a conversion, a lookup or the end of an object calls (Python's and PHP's begin with ``__``).
_IMPLIED = frozenset(
    {"to_s", "to_str", "to_proc", "inspect", "method_missing", "coerce", "toString", "valueOf", "toJSON", "DESTROY"}
    | {"AUTOLOAD", "command_not_found_handle", "TIESCALAR", "TIEARRAY", "TIEHASH", "TIEHANDLE", "FETCH", "STORE"}
    | {"UNTIE", "FETCHSIZE", "FIRSTKEY", "NEXTKEY", "EXISTS", "DELETE", "READLINE", "PRINT"}
)


class Interpreter:
    """One program's reading: names in scope, fields and methods of its objects, and the steps taken."""

    def __init__(self, text: str, library: Library, context: Context, out: Gather, depth: int = 0) -> None:
        self.text, self.library, self.context, self.out, self.depth = text, library, context, out, depth
        self.language = library.language
        self.scopes: list[dict[str, Value]] = [{}]
        self.methods: dict[str, list[ir.Function]] = {}  # by name, of every class
        self.fields: dict[str, Value | None] = {}  # what ``self.x`` holds; None when that differs
        self.reading: list[ir.Function] = []
        self.read: set[int] = set()
        self.marks: set[str] = set()
        self.renamed: dict[str, str] = {}  # names a script has given to commands (PowerShell's aliases), lower case
        self.stars: list[str] = []
        self.steps = 0
        self.unsure = 0  # how many ways that may not be taken what is read is within
        self.loose: dict[int, object] = {}  # lists and tables of which only the members are known, by their id
        self.ends: list[list[Value]] = []  # what the functions that are read return, the outermost first
        self.given: list[list[Value]] = []  # what they yield
        self.argv: tuple[str, Value] | None = None  # the name of the list of words the program was given, and it

    def start(self, argv: Sequence[str]) -> None:
        """Words the program is given. Node's list starts with node itself, in place of a name for text."""
        name = _ARGV.get(self.language)
        if not argv or name is None:
            return
        words = list(argv)
        if self.language == "javascript":
            words = ["node", *(words[1:] if words[0] == "-c" else words)]
        if self.language in {"ruby", "perl"}:  # without a name for the program
            words = words[1:]
            self.scopes[0][name] = Value(known=True, data=[constant(w) for w in words], raw=name)
        self.argv = (name, Value(known=True, data=[constant(w) for w in words], raw=name))

    def connect(self, host: str | None, database: str | None) -> None:
        """mongosh starts with its database bound to ``db``."""
        held = f"mongodb://{host}" if host else None
        self.scopes[0]["db"] = Value(ref=f"mongo.{database or '*'}", raw="db", data=held)

    def run(self, nodes: Sequence[ir.Node]) -> Value:
        """Read statements in order; the value is that of the last return, or of the last expression."""
        self.hoist(nodes)
        value = UNKNOWN
        for node in nodes:
            value = self.value(node)
            if isinstance(node, ir.Return):
                break
        return value

    def hoist(self, nodes: Iterable[ir.Node]) -> None:
        for node in nodes:
            if isinstance(node, ir.Function | ir.Class) and node.name:
                self.bind(node.name, self.made(node))
                if self.language == "ruby" and isinstance(node, ir.Function):  # of whatever it is defined for
                    self.keep_method(node, node.name)
                if isinstance(node, ir.Class):
                    for method in node.methods:
                        self.keep_method(method, method.name)

    def inherited(self, node: ir.Class) -> list[ir.Function]:
        """Its methods, and those of the classes it is made from that it has not itself."""
        found, waiting, seen = {m.name: m for m in node.methods}, [node], 0
        while waiting and (seen := seen + 1) < MAX_DEPTH:
            for part in waiting.pop().body:
                base = self.value(part).function if isinstance(part, ir.Name) else None
                if isinstance(base, ir.Class):
                    found = {**{m.name: m for m in base.methods}, **found}
                    waiting.append(base)
        return list(found.values())

    def keep_method(self, method: ir.Function, name: str) -> None:
        """What an object that nobody knows may be asked for by this name."""
        known = self.methods.setdefault(name, [])
        known += [method] if method not in known else []

    def made(self, node: ir.Function | ir.Class) -> Value:
        """A function or class, with the names it sees around it."""
        return Value(function=node, around=self.scopes[-1] if len(self.scopes) > 1 else None)

    def value(self, node: ir.Node | None) -> Value:
        self.steps += 1
        if node is None:
            return UNKNOWN
        if self.steps > MAX_STEPS or (self.steps % 64 == 0 and self.out.out_of_time()):
            self.out.hide(OpaqueReason.SIZE_CAP, None, "the program is too long to read")
            self.steps = MAX_STEPS + 1
            return UNKNOWN
        return _READERS[type(node)](self, node)

    def values(self, nodes: Iterable[ir.Node]) -> list[Value]:
        """What each node is; a list that is spread out is what its members are."""
        out: list[Value] = []
        for node in nodes:
            value = self.value(node)
            members = value.data if isinstance(node, ir.Spread) and value.known else None
            out += [m for m in members if isinstance(m, Value)] if isinstance(members, list) else [value]
        return out

    def enter(
        self,
        node: ir.Function | ir.Class,
        args: list[Value],
        named: dict[str, Value] | None = None,
        around: dict[str, Value] | None = None,
    ) -> Value:
        """Read a body with these arguments; a body being read already, or too deep, is not read again.

        ``around``: the names of the function it was made in, which may have ended.
        """
        if isinstance(node, ir.Class):
            return self.construct(node, args, named)
        again = self.reading.count(node)
        if again > 1 or len(self.reading) >= MAX_DEPTH or (again and node.name in _UNASKED):  # another class's
            return UNKNOWN
        args, named = given(self.language, node, args, named or {}, again=bool(again))
        self.reading.append(node)
        self.read.add(id(node))
        outer = [around] if around is not None and not any(s is around for s in self.scopes) else []
        self.scopes += [*outer, parameters(node, args, named)]
        try:
            for name, default in node.defaults[len(args) :] if node.defaults else ():
                if default is not None and name not in named:
                    self.scopes[-1][name] = self.default(default)
            return self.body(node)
        finally:
            del self.scopes[-1 - len(outer) :]
            self.reading.pop()

    def construct(self, node: ir.Class, args: list[Value], named: dict[str, Value] | None) -> Value:
        """An object of a class: what makes it is read, and what the language calls of it."""
        made = Value(raw=node.name, made_by=node)
        own = [m for m in self.inherited(node) if m.name in _UNASKED]
        for method in sorted(own, key=lambda m: m.name in {"__enter__", "__exit__", "__del__"}):
            makes = method.name in {"constructor", "initialize", "__construct"}
            self.enter(method, args if makes else [made, *args], named)
        for method in node.methods:
            if method not in own and _is_implied(method.name):
                self.enter(method, [])
        return made

    def body(self, node: ir.Function) -> Value:
        """What a function gives: any of its ends, or the list of what it yields."""
        self.ends.append([])
        self.given.append([])
        value = self.run(node.body)
        ends, members = self.ends.pop(), self.given.pop()
        if not members:
            falls_through = self.language in _LAST_IS_GIVEN and node.body and not isinstance(node.body[-1], ir.Return)
            return any_of(self, [*ends, value] if falls_through else ends, value)
        loosen(self, members, changed=len(members) > 1)  # where they stand depends on the way it takes
        return Value(known=True, data=members, raw=node.name, taint=taints(*members))

    def default(self, node: ir.Node) -> Value:
        """A parameter's default; Python's does not see the other parameters."""
        if self.language != "python":
            return self.value(node)
        own = self.scopes.pop()
        try:
            return self.value(node)
        finally:
            self.scopes.append(own)

    def finish(self) -> None:
        """Functions the language itself calls, which the program defined and nobody called by name."""
        for value in list(self.scopes[0].values()):
            function = value.function
            if isinstance(function, ir.Function) and id(function) not in self.read:
                name = function.name.rpartition("::")[2]
                if name in _IMPLIED or function.name.startswith("UNIVERSAL::"):
                    self.enter(function, [])

    def bind(self, name: str, value: Value) -> None:
        if name.startswith("$env:"):
            label = name[5:].upper()
            tags = tuple(map(Tag, hooks.tags(label, value.text)))
            self.out.add(Domain.ENVIRONMENT, Verb.MODIFY, f"env:{label}", tags=tags)
        self.scopes[-1][name] = value

    def held(self, name: str) -> Value | None:
        """What the innermost scope that has this name holds."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def rebind(self, name: str, value: Value) -> bool:
        """Set a name of an enclosing function, if one has it: how often and when is not known, so it stays known
        only where nothing changes."""
        if name in self.scopes[-1] or self.language not in _CLOSED_OVER:
            return False
        scope = next((s for s in reversed(self.scopes[:-1]) if name in s), None)
        whole = self.language == "lua" or (self.language == "ruby" and name.startswith("$"))
        if scope is None and whole and len(self.scopes) > 1:  # a name of the whole program
            self.scopes[0][name] = value
            return True
        if scope is None:
            return False
        old = scope[name]
        same = not old.known or value.ref or value.function or (value.known and value.data == old.data)
        scope[name] = value if same else unknown(value.raw, value, old)
        return True

    def hold(self, name: str, value: Value) -> None:
        """A field of an object of the program's own; what differs between objects is unknown."""
        before = self.fields.get(name, value)
        same = before is value or (before is not None and before.known == value.known and before.data == value.data)
        self.fields[name] = value if same and (value.known or value.ref or value.function or value.made_by) else None

    def call_library(self, name: str, args: list[Value], span: ir.Span) -> Value:
        """A call of the library that the program does not spell out."""
        return self.call_value(Value(ref=name), args, span)

    def call_value(self, func: Value, args: list[Value], span: ir.Span) -> Value:
        """The same of a member of a value."""
        return make_call(Site(self, func, args, {}, span))

    def source(self, node: ir.Node) -> str:
        return self.text[node.span[0] : node.span[1]][:200]


def _is_implied(name: str) -> bool:
    return name in _IMPLIED or name.startswith("__")


_READERS: Mapping[type, Callable[[Interpreter, Any], Value]] = {
    **statements.READERS,
    **expressions.READERS,
    ir.Call: invoke,
}
