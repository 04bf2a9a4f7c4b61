"""What a call of the program form calls: a function of its own, one it is handed, or the library.

In: the node. Out: the value the call gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.code import ir
from classifiers.code.callables import called
from classifiers.code.callbacks import MAX_TURNS, acts, given_by, hand_on
from classifiers.code.calls import Site, make_call
from classifiers.code.containers import escaped, grow
from classifiers.code.library import Known
from classifiers.code.values import REACH, UNKNOWN, Partial, Value, constant, taints
from classifiers.code.ways import any_of, each_way
from classifiers.effects import Condition, Domain, Verb

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter
_HOME_CALL = re.compile(r"(?:os\.environ\.get|os\.getenv|getenv|ENV\.fetch)\(\s*['\"]HOME['\"]")
# The whole environment, and calls that make all of it into a value or send it.
_ENVIRONMENTS = frozenset({"os.environ", "process.env", "ENV", "%ENV", "$_ENV", "$_SERVER"})
_SPREADS = frozenset(
    {"dict", "json.dumps", "str", "repr", "JSON.stringify", "Object.entries", "Object.values", "pickle.dumps"}
    | {"urllib.parse.urlencode", "requests.post", "requests.put", "httpx.post", "json_encode", "serialize"}
    | {"http_build_query", "base64.b64encode"}
)
_TOLD_SELF = frozenset({"python", "perl"})  # the object is a method's first argument
_MAPS = frozenset({"map", "collect"})


def invoke(reader: Interpreter, node: ir.Call) -> Value:
    func = _aliased(reader, node) or _callee(reader, node.func)
    args, named = reader.values(node.args), {key: reader.value(value) for key, value in node.named}
    if isinstance(others := named.get("**", UNKNOWN).data, dict):  # ``f(**options)``
        named = {**{k: v for k, v in named.items() if k != "**"}, **others}
    made = [_call(reader, node, one, list(args), dict(named)) for one in func.others or (func,)]
    return any_of(reader, made, UNKNOWN)


def _call(reader: Interpreter, node: ir.Call, func: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """The call of one of the functions it may be."""
    if _HOME_CALL.match(reader.source(node)):
        return constant("~")
    if reader.language == "ruby" and func.known and not func.ref and not args:  # an object's field, by its name
        return func
    args, named = _with_environment(reader, node, func, args, named)
    grow(reader, node, func, args, named)
    func, args, named = _meant(reader, func, args, named)
    taker = reader.library.call(func.ref) if func.ref else None
    if taker is not None and taker.run == "chdir" and any(a.function is not None for a in args):
        return _within(reader, Site(reader, func, args, named, node.span))
    if reader.language == "powershell":
        _blocks_called(reader, func, args, named, taker)
    elif (made := hand_on(reader, func, args, named, node.span)) and _is_map(func):
        return Value(known=True, data=made, raw=reader.source(node), taint=taints(*made))
    if func.function is not None:
        return _own(reader, func, func.function, args, named)
    func = _by_word(reader, node, func)
    method = func.ref.rpartition(".")[2]
    if method == "start" and "start" not in reader.methods and "run" in reader.methods:  # of a thread
        method = "run"
    if method in reader.methods and not reader.library.call(func.ref):
        lead = [UNKNOWN] if reader.language in _TOLD_SELF else []  # any class's, when nobody knows the object
        ends = [reader.enter(m, [*lead, *args], named) for m in reader.methods[method]]
        return any_of(reader, ends, UNKNOWN)
    if taker is not None and taker.run == "partial":  # what it keeps may be one of several when it is called
        return make_call(Site(reader, func, args, named, node.span))
    return _of_library(reader, node, func, args, named)


def _with_environment(
    reader: Interpreter, node: ir.Call, func: Value, args: list[Value], named: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The whole environment made into a value, or sent: what is given carries that."""
    given = (*node.args, *(value for _, value in node.named))
    if func.ref not in _SPREADS or not any(reader.source(n) in _ENVIRONMENTS for n in given):
        return args, named
    index = reader.out.add(Domain.ENVIRONMENT, Verb.READ, "env:*", span=node.span)
    args = [replace(a, taint=a.taint | {index}) for a in args]
    return args, {key: replace(v, taint=v.taint | {index}) for key, v in named.items()}


def _meant(
    reader: Interpreter, func: Value, args: list[Value], named: dict[str, Value]
) -> tuple[Value, list[Value], dict[str, Value]]:
    """The function behind ``f.call``, a partial one or a name, and what it is given; what escapes is marked."""
    func, args = _bound(reader, func, args)
    args = [escaped(reader, a) for a in args]
    if isinstance(func.data, Value) and REACH in escaped(reader, func.data).taint:
        func = replace(func, taint=func.taint | {REACH})
    if isinstance(func.data, Partial):
        return func.data.func, [*func.data.args, *args], {**func.data.named, **named}
    return func, args, named


def _is_map(func: Value) -> bool:
    return func.ref.rpartition(".")[2] in _MAPS and func.function is None


def _blocks_called(
    reader: Interpreter, func: Value, args: list[Value], named: dict[str, Value], taker: Known | None
) -> None:
    """PowerShell's script blocks are called by the cmdlet that is given them, for each thing that is piped in."""
    before = len(reader.out.effects)
    for handed in _blocks((*args, *named.values())):
        if isinstance(handed.function, ir.Function):
            for given in given_by(func) or [_listed(named)]:
                for item in _piped(named.get("@input", UNKNOWN)):
                    turn = given[0] if given and func.ref.endswith((".foreach", ".where")) else item
                    reader.enter(handed.function, given, {"_": turn})
    if taker is not None and "condition" in taker.roles:  # a block that is kept, to be run later
        reader.out.under(before, Condition(taker.roles["condition"]))


def _own(
    reader: Interpreter, func: Value, function: ir.Function | ir.Class, args: list[Value], named: dict[str, Value]
) -> Value:
    """A function of the program's own."""
    if reader.language == "powershell" and "@input" in named:
        for item in _piped(named["@input"]):  # each thing that is piped in is ``$_`` in its turn
            value = reader.enter(function, args, {**named, "_": item})
        return value
    held = [func.data] if isinstance(func.data, Value) and func.made_by is not None else []
    told = held if reader.language in _TOLD_SELF else []
    return reader.enter(function, [*told, *args], named, func.around)


def _by_word(reader: Interpreter, node: ir.Call, func: Value) -> Value:
    """Perl and PowerShell call a name that is kept as a text."""
    if func.ref or func.text is None or not (node.words or reader.language == "perl"):
        return func
    word = func.text.lower()
    return Value(ref=reader.library.aliases.get(word, word), raw=func.raw, taint=func.taint)


def _of_library(reader: Interpreter, node: ir.Call, func: Value, args: list[Value], named: dict[str, Value]) -> Value:
    """A call of the library; where an argument is one of several constants, one call for each."""
    keys = list(named)

    def call(given: Sequence[Value]) -> Value:
        by_name = dict(zip(keys, given[len(args) :], strict=True))
        return make_call(Site(reader, func, list(given[: len(args)]), by_name, node.span, node.words))

    return each_way(reader, [*args, *named.values()], call)


def _within(reader: Interpreter, site: Site) -> Value:
    """Ruby's ``Dir.chdir(path) { … }``: only the block is read in that folder."""
    before = reader.context
    made = make_call(site)
    hand_on(reader, site.func, list(site.args), site.named, site.span)
    reader.context = before
    return made


def _callee(reader: Interpreter, node: ir.Node) -> Value:
    """What is called. A Ruby method's name alone is a call too, but not where the call's arguments follow it."""
    if reader.language == "ruby" and isinstance(node, ir.Name):
        held = reader.held(node.id)
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
    if how in {"call", "apply", "bind"} and acts(reader, head):
        if reader.language == "ruby":
            return Value(ref=head, raw=func.raw), args
        given = args[1].data if how == "apply" and len(args) > 1 and isinstance(args[1].data, list) else args[1:]
        return Value(ref=head, raw=func.raw), given
    return called(reader, func, args)
