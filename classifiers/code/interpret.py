"""Read a program without running it: the program form in, effects out, constants carried along.

Statements are read in order; a function's body is read when it is called or handed on, with the arguments known there.
Bounded by steps, depth and the clock of the Gather.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from classifiers.code import ir
from classifiers.code.calls import Site, make_call
from classifiers.code.constants import are_patterns, binary, fold, join
from classifiers.code.library import Library
from classifiers.code.values import UNKNOWN, Value, constant, taints, unknown
from classifiers.context import Context
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.gather import Gather

_HOME = re.compile(
    r"process\.env\.HOME|(?:process\.env|os\.environ|\$?ENV|\$_(?:ENV|SERVER))(?:\[['\"]HOME['\"]\]|\{['\"]?HOME['\"]?\})"
)
_HOME_CALL = re.compile(r"(?:os\.environ\.get|os\.getenv|getenv|ENV\.fetch)\(\s*['\"]HOME['\"]")
# PHP names a function to call by a text.
_CALLBACKS = frozenset(
    {"array_map", "array_walk", "array_filter", "usort", "uasort", "uksort", "array_reduce", "preg_replace_callback"}
    | {"register_shutdown_function", "set_error_handler", "ob_start", "iterator_apply", "array_walk_recursive"}
)
# The whole environment, and calls that make all of it into a value or send it.
_ENVIRONMENTS = frozenset({"os.environ", "process.env", "ENV", "%ENV", "$_ENV", "$_SERVER"})
_SPREADS = frozenset(
    {"dict", "json.dumps", "str", "repr", "JSON.stringify", "Object.entries", "Object.values", "pickle.dumps"}
    | {"urllib.parse.urlencode", "requests.post", "requests.put", "httpx.post", "json_encode", "serialize"}
    | {"http_build_query", "base64.b64encode"}
)
# The list of words a program is given.
_ARGV = {"python": "sys.argv", "javascript": "process.argv"}
MAX_STEPS = 60_000
MAX_DEPTH = 12
MAX_TURNS = 24  # of a loop over a literal list


class Interpreter:
    def __init__(self, text: str, library: Library, context: Context, out: Gather, depth: int = 0) -> None:
        self.text, self.library, self.context, self.out, self.depth = text, library, context, out, depth
        self.language = library.language
        self.scopes: list[dict[str, Value]] = [{}]
        self.methods: dict[str, ir.Function] = {}
        self.fields: dict[str, Value | None] = {}  # what ``self.x`` holds; None when that differs
        self.reading: list[ir.Function] = []
        self.read: set[int] = set()
        self.marks: set[str] = set()
        self.stars: list[str] = []
        self.steps = 0
        self.argv: tuple[str, Value] | None = None  # the name of the list of words the program was given, and it

    def start(self, argv: Sequence[str]) -> None:
        """Words the program is given. Node's list starts with node itself, in place of a name for text."""
        name = _ARGV.get(self.language)
        if not argv or name is None:
            return
        words = list(argv)
        if self.language == "javascript":
            words = ["node", *(words[1:] if words[0] == "-c" else words)]
        self.argv = (name, Value(known=True, data=[constant(w) for w in words], raw=name))

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
                self.bind(node.name, Value(function=node))
                if isinstance(node, ir.Class):
                    self.methods |= {m.name: m for m in node.methods}

    def value(self, node: ir.Node | None) -> Value:
        self.steps += 1
        if node is None:
            return UNKNOWN
        if self.steps > MAX_STEPS or (self.steps % 64 == 0 and self.out.out_of_time()):
            self.out.hide(OpaqueReason.SIZE_CAP, None, "the program is too long to read")
            self.steps = MAX_STEPS + 1
            return UNKNOWN
        read: Value = _READERS[type(node)](self, node)
        return read

    def values(self, nodes: Iterable[ir.Node]) -> list[Value]:
        return [self.value(node) for node in nodes]

    # expressions

    def const(self, node: ir.Const) -> Value:
        return constant(node.value)

    def name(self, node: ir.Name) -> Value:
        for scope in reversed(self.scopes):
            if node.id in scope:
                found = scope[node.id]
                if self.language == "ruby" and isinstance(found.function, ir.Function) and found.function.name:
                    return self.enter(found.function, [])  # a method's name alone calls it
                return found
        return Value(ref=self.starred(node.id), raw=node.id)

    def starred(self, name: str) -> str:
        """A name nothing bound: the language's own, else a member of a module imported whole (``from z3 import *``)."""
        if not self.stars or self.library.call(name) is not None:
            return name
        return next((f"{m}.{name}" for m in self.stars if self.library.call(f"{m}.{name}") is not None), name)

    def attr(self, node: ir.Attr) -> Value:
        own = self.fields.get(node.name) if isinstance(node.obj, ir.Name) and node.obj.id in _SELVES else None
        if own is not None:
            return own
        base = self.value(node.obj)
        if isinstance(base.function, ir.Class) and node.name == "new":
            return base
        if _HOME.fullmatch(self.source(node)):
            return constant("~")
        if base.ref in _BUILTINS:
            return Value(ref=node.name, raw=self.source(node))
        if base.known and isinstance(base.data, dict) and isinstance(base.data.get(node.name), Value):
            found: Value = base.data[node.name]
            return found
        if base.text is not None and (kind := self.library.members.get(node.name)) is not None:
            return self.member(kind, base)
        if node.name == "__dict__" and base.ref:
            return base
        if self.argv is not None and self.argv[0] == f"{base.ref}.{node.name}":
            return self.argv[1]
        text = self.library.constants.get(f"{base.ref}.{node.name}")
        if text is not None:
            return constant(text)
        if base.ref:
            return Value(ref=f"{base.ref}.{node.name}", raw=self.source(node), taint=base.taint, data=base.data)
        return Value(ref=f"?.{node.name}", raw=self.source(node), taint=base.taint, data=base if base.known else None)

    def member(self, kind: str, path: Value) -> Value:
        """A part of a text that names a file."""
        return fold(kind, path, [], path.raw)

    def call(self, node: ir.Call) -> Value:
        func = self.value(node.func)
        args, named = self.values(node.args), {key: self.value(value) for key, value in node.named}
        if _HOME_CALL.match(self.source(node)):
            return constant("~")
        nodes = (*node.args, *(value for _, value in node.named))
        if func.ref in _SPREADS and any(self.source(n) in _ENVIRONMENTS for n in nodes):
            index = self.out.add(Domain.ENVIRONMENT, Verb.READ, "env:*", span=node.span)
            args = [replace(a, taint=a.taint | {index}) for a in args]
            named = {key: replace(v, taint=v.taint | {index}) for key, v in named.items()}
        func, args = self.bound(func, args)
        if self.language != "powershell":
            self.hand_on(func, args, named, node.span)
        for handed in (*args, *named.values()) if self.language == "powershell" else ():
            if isinstance(handed.function, ir.Function):
                for given in self.members(func) or [[]]:
                    for item in self.piped(named.get("@input", UNKNOWN)):
                        self.enter(handed.function, given, {"_": item})
        if func.function is not None:
            return self.enter(func.function, args, named)
        if not func.ref and func.text is not None and self.language in {"php", "perl"}:
            func = Value(ref=func.text.lower(), raw=func.raw, taint=func.taint)
        if node.words and not func.ref and func.text is not None:
            word = func.text.lower()
            func = Value(ref=self.library.aliases.get(word, word), raw=func.raw, taint=func.taint)
        method = func.ref.rpartition(".")[2]
        if method in self.methods and not self.library.call(func.ref):
            return self.enter(self.methods[method], [UNKNOWN, *args], named)
        return make_call(Site(self, func, args, named, node.span, node.words))

    def piped(self, before: Value) -> list[Value]:
        """What ``$_`` is, turn by turn."""
        items = before.data if before.known and isinstance(before.data, list) else []
        return [i if isinstance(i, Value) else UNKNOWN for i in items[:MAX_TURNS]] or [before]

    def bound(self, func: Value, args: list[Value]) -> tuple[Value, list[Value]]:
        """``f.call(this, a)``, ``f.apply(this, [a])``, ``f.bind(this, a)`` call f; PHP calls a name kept as text."""
        head, _dot, how = func.ref.rpartition(".")
        if how in {"call", "apply", "bind"} and self.acts(head):
            given = args[1].data if how == "apply" and len(args) > 1 and isinstance(args[1].data, list) else args[1:]
            return Value(ref=head, raw=func.raw), given
        if self.language == "php" and not func.ref and func.text is not None:
            return Value(ref=func.text, raw=func.raw), args
        return func, args

    def acts(self, name: str) -> bool:
        """The library knows something that a call of this name does."""
        known = self.library.call(name) if name else None
        return known is not None and bool(known.effects or known.run in _ACTING)

    def hand_on(self, func: Value, args: list[Value], named: dict[str, Value], span: ir.Span) -> None:
        """Functions given as arguments are called by what takes them: with each member, or with the other arguments."""
        taker = self.library.call(func.ref) if func.ref else None
        if taker is not None and taker.value == "same":  # gives the function back
            return
        for argument in (*args, *named.values()):
            handed = argument
            if handed.text and func.ref in _CALLBACKS:  # PHP names a function by a text
                handed = Value(ref=handed.text.lower(), raw=handed.raw)
            known = handed.function is None and self.acts(handed.ref)
            if not known and not isinstance(handed.function, ir.Function):
                continue
            held = isinstance(func.data, Value)  # the function is a method of a value we know
            for given in self.members(func) if held else _given(func, argument, args, named):
                if handed.function is not None:
                    self.enter(handed.function, given)
                else:
                    make_call(Site(self, handed, given or [replace(UNKNOWN, taint=func.taint)], {}, span))

    def members(self, func: Value) -> list[list[Value]]:
        """What a function handed to this call gets: each member of a literal list whose method is called."""
        held = func.data if isinstance(func.data, Value) else None
        if held is not None and isinstance(held.data, list) and held.data:
            return [[v] for v in held.data[:MAX_TURNS]]
        return [[unknown("", held)]] if held is not None else []

    def call_library(self, name: str, args: list[Value], span: ir.Span) -> Value:
        """A call of the library that the program does not spell out."""
        return make_call(Site(self, Value(ref=name), args, {}, span))

    def index(self, node: ir.Index) -> Value:
        base, key = self.value(node.obj), self.value(node.key)
        if _HOME.fullmatch(self.source(node)):
            return constant("~")
        if base.known and key.known and isinstance(base.data, list | dict | str):
            try:
                found = base.data[key.data]
            except (LookupError, TypeError, ValueError):
                return unknown(self.source(node), base)
            if isinstance(found, list) and isinstance(key.data, slice):
                return Value(known=True, data=found, raw=self.source(node), taint=base.taint)
            return found if isinstance(found, Value) else constant(found, base.taint)
        if base.ref in _NAMESPACES:
            if key.text is None:
                self.out.hide(OpaqueReason.DYNAMIC_COMMAND, node.span, self.source(node))
                return unknown(self.source(node), base)
            return Value(ref=key.text) if base.ref == "sys.modules" else self.name(ir.Name(node.span, key.text))
        if base.ref:
            known = self.library.call(f"{base.ref}[]")
            if known is not None:
                return make_call(Site(self, Value(ref=f"{base.ref}[]", data=base.data), [key], {}, node.span))
            member = f".{key.text}" if key.text else ""
            return Value(ref=base.ref + member, raw=self.source(node), taint=taints(base, key), data=base.data)
        return unknown(self.source(node), base)

    def join(self, node: ir.Join) -> Value:
        return join(self.values(node.parts), self.source(node))

    def binary(self, node: ir.Binary) -> Value:
        return binary(node.op, self.value(node.left), self.value(node.right), self.source(node))

    def sequence(self, node: ir.Sequence) -> Value:
        return Value(known=True, data=self.values(node.items), raw=self.source(node), taint=self.taint_of(node.items))

    def table(self, node: ir.Table) -> Value:
        found = {key: self.value(value) for key, value in node.items}
        return Value(known=True, data=found, raw=self.source(node), taint=taints(*found.values()))

    def function(self, node: ir.Function) -> Value:
        if node.name:
            self.bind(node.name, Value(function=node))
        return Value(function=node)

    def klass(self, node: ir.Class) -> Value:
        self.hoist([node])
        for part in node.body:
            value = self.value(part)
            for target in part.targets if isinstance(part, ir.Assign) else ():
                if isinstance(target, ir.Name):
                    self.hold(target.id, self.scopes[-1].get(target.id, value))
        return UNKNOWN

    def other(self, node: ir.Other) -> Value:
        values = self.values(node.parts)
        return values[-1] if node.last and values else unknown(self.source(node), *values)

    def command(self, node: ir.Command) -> Value:
        return make_call(Site(self, Value(ref="__shell__"), [self.value(node.text)], {}, node.span))

    # statements

    def assign(self, node: ir.Assign) -> Value:
        value = self.value(node.value)
        for target in node.targets:
            self.bind_target(target, value)
        return value

    def imported(self, node: ir.Import) -> Value:
        if node.alias == "*":
            self.stars.append(node.name.removesuffix(".*"))
        self.bind(node.alias, Value(ref=node.name, raw=node.name))
        if node.name.startswith(".") or not self.is_known_module(node.name):
            module = node.name.lstrip(".").partition(".")[0] or "project"
            self.out.add(Domain.CODE, Verb.EXECUTE, module, span=node.span, destructive=None)
            self.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, node.span, f"module {module}")
        return UNKNOWN

    def branch(self, node: ir.If) -> Value:
        test = self.value(node.test)
        truth = bool(test.data) if test.known and not isinstance(test.data, list | dict) else None
        if truth is not False:
            self.run(node.body)
        if truth is not True:
            self.run(node.orelse)
        return UNKNOWN

    def loop(self, node: ir.Loop) -> Value:
        items = self.value(node.items)
        turns: list[Any] = [UNKNOWN if not items.known else None]
        if items.known and isinstance(items.data, list):
            turns = items.data[:MAX_TURNS] + ([UNKNOWN] if len(items.data) > MAX_TURNS else [])
        elif items.known or items.taint or items.ref:
            turns = [unknown(items.raw, items)]
        given: list[Value] = []
        for turn in turns:
            if node.target is not None:
                self.bind_target(node.target, turn if isinstance(turn, Value) else UNKNOWN)
            given.append(self.run(node.body))
        if node.gives and items.known and isinstance(items.data, list) and (node.gives == "all" or are_patterns(given)):
            return Value(known=True, data=given, raw=self.source(node), taint=taints(*given))
        return UNKNOWN

    def returned(self, node: ir.Return) -> Value:
        return self.value(node.value)

    # what the readers share

    def enter(self, node: ir.Function | ir.Class, args: list[Value], named: dict[str, Value] | None = None) -> Value:
        """Read a body with these arguments; a body being read already, or too deep, is not read again."""
        if isinstance(node, ir.Class):
            own = [m for m in node.methods if m.name in _UNASKED]
            for method in sorted(own, key=lambda m: m.name in {"__enter__", "__exit__", "__del__"}):
                makes = method.name in {"constructor", "initialize", "__construct"}
                self.enter(method, args if makes else [UNKNOWN, *args], named)
            return UNKNOWN
        if node in self.reading or len(self.reading) >= MAX_DEPTH:
            return UNKNOWN
        self.reading.append(node)
        self.read.add(id(node))
        if self.language == "powershell":
            named = {f"${key}": value for key, value in (named or {}).items()}
        self.scopes.append(
            {**dict.fromkeys(node.params, UNKNOWN), **dict(zip(node.params, args, strict=False)), **(named or {})}
        )
        try:
            return self.run(node.body)
        finally:
            self.scopes.pop()
            self.reading.pop()

    def bind(self, name: str, value: Value) -> None:
        if name.startswith("$env:"):
            self.out.add(Domain.ENVIRONMENT, Verb.MODIFY, f"env:{name[5:].upper()}")
        self.scopes[-1][name] = value

    def hold(self, name: str, value: Value) -> None:
        """A field of an object of the program's own; what differs between objects is unknown."""
        before = self.fields.get(name, value)
        same = before is value or (before is not None and before.known == value.known and before.data == value.data)
        self.fields[name] = value if same and (value.known or value.ref or value.function) else None

    def bind_target(self, target: ir.Node, value: Value) -> None:
        if isinstance(target, ir.Attr) and isinstance(target.obj, ir.Name) and target.obj.id in _SELVES:
            self.hold(target.name, value)
        match target:
            case ir.Name():
                self.bind(target.id, value)
            case ir.Table():
                for key, bound in target.items:
                    self.bind_target(bound, self.member_of(value, key))
            case ir.Sequence():
                parts = value.data if value.known and isinstance(value.data, list) else []
                for i, item in enumerate(target.items):
                    self.bind_target(item, parts[i] if i < len(parts) else unknown("", value))
            case ir.Attr() if f"{target.name}=" in self.library.methods:
                base = self.value(target.obj)
                held = base if base.known or base.shape else None
                make_call(Site(self, Value(ref=f"?.{target.name}=", data=held, raw=base.raw), [value], {}, target.span))
            case ir.Index() | ir.Attr():
                base = self.value(target.obj)
                known = self.library.call(f"{base.ref}[]=") if base.ref else None
                place = self.value(target.key) if isinstance(target, ir.Index) else constant(target.name)
                if known is not None:
                    make_call(Site(self, Value(ref=f"{base.ref}[]="), [place, value], {}, target.span))
            case _:
                pass

    def member_of(self, value: Value, key: str) -> Value:
        """``const {key} = value``."""
        if value.known and isinstance(value.data, dict) and isinstance(value.data.get(key), Value):
            found: Value = value.data[key]
            return found
        return Value(ref=f"{value.ref}.{key}" if value.ref else "", raw=key, taint=value.taint)

    def is_known_module(self, name: str) -> bool:
        head = name
        while head:
            if self.library.knows_module(head) or head in self.library.calls:
                return True
            head = head.rpartition(".")[0]
        return False

    def taint_of(self, nodes: Iterable[ir.Node]) -> frozenset[int]:
        found: frozenset[int] = frozenset()
        for node in nodes:
            if isinstance(node, ir.Name):
                found |= self.name(node).taint
        return found

    def source(self, node: ir.Node) -> str:
        return self.text[node.span[0] : node.span[1]][:200]


def _given(func: Value, handed: Value, args: list[Value], named: dict[str, Value]) -> list[list[Value]]:
    """What a call passes to a function it is given."""
    others = [a for a in args if a is not handed]
    head, _dot, how = func.ref.rpartition(".")
    if how == "then" and head and not others:  # import("x").then(m => …)
        return [[Value(ref=head, raw=func.raw, taint=taints(func))]]
    listed = named.get("args")
    if listed is not None:
        return [listed.data if isinstance(listed.data, list) else [UNKNOWN]]
    if func.ref.rpartition(".")[2] in _ONE_BY_ONE:
        items = next((a.data for a in others if isinstance(a.data, list)), None)
        return [[item] for item in items[:MAX_TURNS]] if items else [[unknown("", *others)]]
    return [others]


_SELVES = frozenset({"self", "cls", "this", "$this"})
_BUILTINS = frozenset({"builtins", "__builtins__", "__builtin__"})
_NAMESPACES = frozenset({"sys.modules", "globals()"})
_UNASKED = frozenset({"__init__", "constructor", "initialize", "__construct", "__enter__", "__exit__", "__del__"})
_ACTING = frozenset({"shell", "words", "code", "sql", "http", "file", "connect", "verb"})
_ONE_BY_ONE = frozenset({
    "map", "imap", "imap_unordered", "starmap", "filter", "forEach", "each", "apply", "sorted", "sort", "min", "max",
    "reduce", "groupby", "takewhile", "dropwhile", "array_map", "array_walk", "filterfalse", "some", "every", "flatMap",
})  # fmt: skip
_READERS: dict[type[Any], Any] = {
    ir.Const: Interpreter.const,
    ir.Name: Interpreter.name,
    ir.Attr: Interpreter.attr,
    ir.Call: Interpreter.call,
    ir.Index: Interpreter.index,
    ir.Join: Interpreter.join,
    ir.Binary: Interpreter.binary,
    ir.Sequence: Interpreter.sequence,
    ir.Table: Interpreter.table,
    ir.Function: Interpreter.function,
    ir.Class: Interpreter.klass,
    ir.Assign: Interpreter.assign,
    ir.Import: Interpreter.imported,
    ir.If: Interpreter.branch,
    ir.Loop: Interpreter.loop,
    ir.Return: Interpreter.returned,
    ir.Command: Interpreter.command,
    ir.Other: Interpreter.other,
}
