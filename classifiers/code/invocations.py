"""What a call of the program form calls: a function of its own, one it is handed, or the library.

In: the node. Out: the value the call gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code import ir
from classifiers.code.callables import callable_of, called
from classifiers.code.calls import Site, make_call
from classifiers.code.containers import MAX_DEPTH, escaped, grow
from classifiers.code.values import REACH, UNKNOWN, Partial, Value, constant, taints, unknown
from classifiers.code.ways import any_of, each_way
from classifiers.effects import Condition, Domain, Verb

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter
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
_TOLD_SELF = frozenset({"python", "perl"})  # the object is a method's first argument
_ONE_BY_ONE = frozenset({
    "map", "imap", "imap_unordered", "starmap", "filter", "forEach", "each", "apply", "sorted", "sort", "min", "max",
    "reduce", "groupby", "takewhile", "dropwhile", "array_map", "array_walk", "array_filter", "filterfalse",
    "some", "every", "flatMap",
})  # fmt: skip
_SERVERS = re.compile(r"server|serve\b|register|create_connection", re.IGNORECASE)
_CALLED_BY_SERVERS = ("do_", "handle", "on_", "run", "process", "data_received", "connection_made")
MAX_TURNS = 24  # of a function called with each member of a literal list


def invoke(reader: Interpreter, node: ir.Call) -> Value:
    func = _aliased(reader, node) or _callee(reader, node.func)
    args, named = reader.values(node.args), {key: reader.value(value) for key, value in node.named}
    if isinstance(others := named.get("**", UNKNOWN).data, dict):  # ``f(**options)``
        named = {**{k: v for k, v in named.items() if k != "**"}, **others}
    made = [_call(reader, node, one, list(args), dict(named)) for one in func.others or (func,)]
    return any_of(reader, made, UNKNOWN)


def _under(reader: Interpreter, before: int, condition: Condition) -> None:
    """What was told from ``before`` on happens under a condition."""
    effects = reader.out.effects
    for i in range(before, len(effects)):
        if effects[i].condition is Condition.ALWAYS:
            effects[i] = replace(effects[i], condition=condition)


def _call(reader: Interpreter, node: ir.Call, func: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """The call of one of the functions it may be."""
    if _HOME_CALL.match(reader.source(node)):
        return constant("~")
    nodes = (*node.args, *(value for _, value in node.named))
    if func.ref in _SPREADS and any(reader.source(n) in _ENVIRONMENTS for n in nodes):
        index = reader.out.add(Domain.ENVIRONMENT, Verb.READ, "env:*", span=node.span)
        args = [replace(a, taint=a.taint | {index}) for a in args]
        named = {key: replace(v, taint=v.taint | {index}) for key, v in named.items()}
    grow(reader, node, func, args, named)
    func, args = _bound(reader, func, args)
    args = [escaped(reader, a) for a in args]
    if isinstance(func.data, Value) and REACH in escaped(reader, func.data).taint:
        func = replace(func, taint=func.taint | {REACH})
    if isinstance(func.data, Partial):
        func, args, named = func.data.func, [*func.data.args, *args], {**func.data.named, **named}
    taker = reader.library.call(func.ref) if func.ref else None
    if taker is not None and taker.run == "chdir" and any(a.function is not None for a in args):
        return _within(reader, Site(reader, func, args, named, node.span))
    if reader.language != "powershell":
        _hand_on(reader, func, args, named, node.span)
    before = len(reader.out.effects)
    for handed in _blocks((*args, *named.values())) if reader.language == "powershell" else ():
        if isinstance(handed.function, ir.Function):
            for given in _members(func) or [_listed(named)]:
                for item in _piped(named.get("@input", UNKNOWN)):
                    turn = given[0] if given and func.ref.endswith((".foreach", ".where")) else item
                    reader.enter(handed.function, given, {"_": turn})
    if taker is not None and "condition" in taker.roles:  # a block that is kept, to be run later
        _under(reader, before, Condition(taker.roles["condition"]))
    if func.function is not None and reader.language == "powershell" and "@input" in named:
        for item in _piped(named["@input"]):  # each thing that is piped in is ``$_`` in its turn
            value = reader.enter(func.function, args, {**named, "_": item})
        return value
    if func.function is not None:
        held = [func.data] if isinstance(func.data, Value) and func.made_by is not None else []
        told = held if reader.language in _TOLD_SELF else []
        return reader.enter(func.function, [*told, *args], named, func.around)
    if not func.ref and func.text is not None and reader.language == "perl":
        func = Value(ref=func.text.lower(), raw=func.raw, taint=func.taint)
    if node.words and not func.ref and func.text is not None:
        word = func.text.lower()
        func = Value(ref=reader.library.aliases.get(word, word), raw=func.raw, taint=func.taint)
    method = func.ref.rpartition(".")[2]
    if method == "start" and "start" not in reader.methods and "run" in reader.methods:  # of a thread
        method = "run"
    if method in reader.methods and not reader.library.call(func.ref):
        lead = [UNKNOWN] if reader.language in _TOLD_SELF else []  # any class's, when nobody knows the object
        ends = [reader.enter(m, [*lead, *args], named) for m in reader.methods[method]]
        return any_of(reader, ends, UNKNOWN)
    if taker is not None and taker.run == "partial":  # what it keeps may be one of several when it is called
        return make_call(Site(reader, func, args, named, node.span))
    keys = list(named)

    def call(given: Sequence[Value]) -> Value:
        by_name = dict(zip(keys, given[len(args) :], strict=True))
        return make_call(Site(reader, func, list(given[: len(args)]), by_name, node.span, node.words))

    return each_way(reader, [*args, *named.values()], call)


def _within(reader: Interpreter, site: Site) -> Value:
    """Ruby's ``Dir.chdir(path) { … }``: only the block is read in that folder."""
    before = reader.context
    made = make_call(site)
    _hand_on(reader, site.func, list(site.args), site.named, site.span)
    reader.context = before
    return made


def _callee(reader: Interpreter, node: ir.Node) -> Value:
    """What is called. A Ruby method's name alone is a call too, but not where the call's arguments follow it."""
    if reader.language == "ruby" and isinstance(node, ir.Name):
        held = next((s[node.id] for s in reversed(reader.scopes) if node.id in s), None)
        if held is not None and isinstance(held.function, ir.Function):
            return held
    return reader.value(node)


def _aliased(reader: Interpreter, node: ir.Call) -> Value | None:
    """What a command's name was made to stand for by the script."""
    word = node.words[0] if reader.renamed and node.words else None
    name = (
        reader.renamed.get(word.value.lower()) if isinstance(word, ir.Const) and isinstance(word.value, str) else None
    )
    return None if name is None else reader.value(ir.Name(node.span, reader.library.aliases.get(name, name)))


def _blocks(given: Iterable[Value]) -> list[Value]:
    """Arguments, and what their tables and lists hold: ``Select-Object @{n = 'x'; e = { … }}``."""
    found: list[Value] = []
    for value in given:
        held = value.data.values() if isinstance(value.data, dict) else value.data
        held = held if isinstance(held, Iterable) and not isinstance(held, str) else ()
        found += [value, *(v for v in held if isinstance(v, Value) and v.function is not None)]
    return found


def _listed(named: dict[str, Value]) -> list[Value]:
    """What a block of PowerShell is called with (``-ArgumentList``)."""
    found = named.get("argumentlist") or named.get("args")
    if found is None:
        return []
    return [v for v in found.data if isinstance(v, Value)] if isinstance(found.data, list) else [found]


def _piped(before: Value) -> list[Value]:
    """What ``$_`` is, turn by turn."""
    items = before.data if before.known and isinstance(before.data, list) else []
    return [i if isinstance(i, Value) else UNKNOWN for i in items[:MAX_TURNS]] or [before]


def _bound(reader: Interpreter, func: Value, args: list[Value]) -> tuple[Value, list[Value]]:
    """``f.call(this, a)``, ``f.apply(this, [a])``, ``f.bind(this, a)`` call f; PHP calls a name kept as text."""
    head, _dot, how = func.ref.rpartition(".")
    if how in {"call", "apply", "bind"} and _acts(reader, head):
        given = args[1].data if how == "apply" and len(args) > 1 and isinstance(args[1].data, list) else args[1:]
        return Value(ref=head, raw=func.raw), given
    return called(reader, func, args)


def _acts(reader: Interpreter, name: str) -> bool:
    """The library knows something that a call of this name does."""
    known = reader.library.call(name) if name else None
    return known is not None and known.acts


def _hand_on(reader: Interpreter, func: Value, args: list[Value], named: dict[str, Value], span: ir.Span) -> None:
    """Functions given as arguments are called by what takes them: with each member, or with the other arguments."""
    taker = reader.library.call(func.ref) if func.ref else None
    for held in _held((*args, *named.values())) if func.function is None and func.ref else ():
        if held.function is not None and id(held.function) not in reader.read:
            reader.enter(held.function, [], {}, held.around)
    kept = taker is not None and (
        taker.value == "same" or taker.run == "partial"
    )  # gives what it is handed back; a key it calls
    for argument in (*(() if kept else args), *named.values()):
        handed, bound = argument, argument.data if isinstance(argument.data, Partial) else None
        handed = bound.func if bound is not None else handed
        if func.ref in _CALLBACKS:
            handed = callable_of(reader, handed) or handed
        if isinstance(handed.function, ir.Class) and _SERVERS.search(func.ref):
            _serve(reader, handed.function)
        known = handed.function is None and _acts(reader, handed.ref)
        if not known and not isinstance(handed.function, ir.Function):
            continue
        held = isinstance(func.data, Value)  # the function is a method of a value we know
        for given in _members(func) if held else _given(func, argument, args, named):
            given = [*bound.args, *given] if bound is not None else given  # noqa: PLW2901 - the same, with what it had
            options = dict(bound.named) if bound is not None else {}
            if handed.function is not None:
                reader.enter(handed.function, given, options, handed.around)
            else:
                make_call(Site(reader, handed, given or [replace(UNKNOWN, taint=func.taint)], options, span))


def _held(given: Iterable[Value], depth: int = 0) -> Iterable[Value]:
    """Functions in the lists and tables that are given: ``on({done: f})``."""
    for value in given:
        within = value.data.values() if isinstance(value.data, dict) else value.data
        if depth < MAX_DEPTH and isinstance(within, Iterable) and not isinstance(within, str | bytes):
            members = [m for m in within if isinstance(m, Value)]
            yield from (m for m in members if isinstance(m.function, ir.Function))
            yield from _held(members, depth + 1)


def _serve(reader: Interpreter, given: ir.Class) -> None:
    """A class handed to what makes objects of it (a server's handler, a worker): the methods that are called then."""
    for method in given.methods:
        if method.name.startswith(_CALLED_BY_SERVERS):
            reader.enter(method, [])


def _members(func: Value) -> list[list[Value]]:
    """What a function handed to this call gets: each member of a literal list whose method is called."""
    held = func.data if isinstance(func.data, Value) else None
    if held is not None and isinstance(held.data, list) and held.data:
        return [[v] for v in held.data[:MAX_TURNS]]
    return [[unknown("", held)]] if held is not None else []


def _given(func: Value, handed: Value, args: list[Value], named: dict[str, Value]) -> list[list[Value]]:
    """What a call passes to a function it is given."""
    at = next((i for i, a in enumerate(args) if a is handed), -1)
    before = [a for a in args if a is not handed]
    others = list(args[at + 1 :]) or before  # what follows it, else what is before it
    head, _dot, how = func.ref.rpartition(".")
    if how == "then" and head and not others:  # import("x").then(m => …)
        return [[Value(ref=head, raw=func.raw, taint=taints(func))]]
    listed = named.get("args")
    if listed is not None:
        return [listed.data if isinstance(listed.data, list) else [UNKNOWN]]
    if func.ref.rpartition(".")[2] in _ONE_BY_ONE:
        items = next((a.data for a in others if isinstance(a.data, list)), None)
        return [[item] for item in items[:MAX_TURNS]] if items else [[unknown("", *others)]]
    if others is before and any(
        a.text is not None for a in others
    ):  # ``on("done", f)``: what it is called with comes later
        return [[unknown("", *others)]]
    return [others]
