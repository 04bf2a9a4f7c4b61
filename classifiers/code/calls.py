"""Read one library call: its table entry and its arguments in, effects and a value out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from classifiers.code.constants import fold
from classifiers.code.filling import formatted
from classifiers.code.ir import Node
from classifiers.code.library import Known
from classifiers.code.readers import BINDERS, PLACES, READERS, STRANGERS
from classifiers.code.textkinds import TEXT_KINDS
from classifiers.code.values import REACH, UNKNOWN, Value, constant, taints, unknown
from classifiers.code.ways import any_of
from classifiers.effects import Certainty, Domain, Effect, FlowKind, OpaqueReason, Reversibility, Tag, Verb
from classifiers.gather import tagged
from classifiers.templates import Given, Lookup, fill_all, template

if TYPE_CHECKING:
    from classifiers.code.interpret import Interpreter


@dataclass(frozen=True, slots=True)
class Site:
    """One call: who reads it, what is called, with what, where."""

    reader: Interpreter
    func: Value
    args: Sequence[Value]
    named: dict[str, Value]
    span: tuple[int, int]
    words: tuple[Node, ...] = ()  # a shell-like command in order

    @property
    def own(self) -> Value:
        """The object a method is called on, as far as it is known."""
        held = self.func.data
        return held if isinstance(held, Value) else replace(self.func, known=held is not None, ref="")

    def argument(self, key: Any) -> Value | None:
        """``0``, ``name`` or ``0|name``; ``self`` the object of the method; ``-1`` the last, ``1..`` all from 1 on."""
        for word in str(key).split("|"):
            if word == "self":
                return self.own
            if word.endswith(".."):
                if (rest := self.rest(int(word[:-2]))) is not None:
                    return rest
            elif word.lstrip("-").isdigit():
                index = int(word)
                if -len(self.args) <= index < len(self.args):
                    return self.args[index]
            elif word in self.named:
                return self.named[word]
            elif (options := self.options) is not None and word in options:
                found = options[word]
                return found if isinstance(found, Value) else UNKNOWN
        return None

    def rest(self, first: int) -> Value | None:
        """All arguments from this on, as one list; a table behind them is options."""
        rest = [v for v in self.args[first:] if not isinstance(v.data, dict)]
        if len(rest) < 2:
            return rest[0] if rest else None
        members = [m for v in rest for m in v.members]
        return Value(known=True, data=members, raw=self.raw, taint=taints(*rest))

    @property
    def options(self) -> dict[str, Any] | None:
        """An object of options given last; a function that is called back may stand behind it."""
        for given in reversed(self.args[-2:]):
            if isinstance(given.data, dict):
                return given.data
            if given.known:
                return None
        return None

    @property
    def taint(self) -> frozenset[int]:
        return taints(self.func, *self.args, *self.named.values())

    @property
    def raw(self) -> str:
        return self.reader.text[self.span[0] : self.span[1]][:200]


def make_call(site: Site) -> Value:
    """The value the call gives back; its effects go to the reader's Gather."""
    known = _known(site)
    if known is None:
        return _stranger(site)
    before = len(site.reader.out.effects)
    if (binder := BINDERS.get(site.reader.language)) is not None:
        site = binder(site, known)
    if known.mark:
        site.reader.marks.add(known.mark)
    made = _effects(site, known) | _whole(site)
    if known.open is not None:
        site.reader.out.hide(known.open, site.span, site.raw)
    returned = READERS[known.run](site, known) if known.run else None
    if site.words and _is_given(site, "whatif"):
        _rehearse(site.reader.out.effects, before)
    made |= frozenset(range(before, len(site.reader.out.effects)))
    _flows(site, made)
    if returned is not None:
        return replace(returned, taint=returned.taint | made)
    return _result(site, known, made)


def _rehearse(effects: list[Effect], first: int) -> None:
    """What is only tried reads."""
    for i in range(first, len(effects)):
        tried = replace(effects[i], action=Verb.READ, destructive=False, reversibility=Reversibility.READ_ONLY)
        effects[i] = replace(tried, tags=(), dry_run=True)


def _whole(site: Site) -> frozenset[int]:
    """What reading a thing of the library as a whole does (``dict(os.environ)``): the entry ``name@``."""
    made: set[int] = set()
    for given in site.args:
        whole = site.reader.library.calls.get(f"{given.ref}@") if given.ref else None
        for effect in fill_all(whole.effects, lambda _key: None, site.reader.context) if whole else ():
            made.add(site.reader.out.put(effect, site.span))
    return frozenset(made)


def _known(site: Site) -> Known | None:
    library = site.reader.library
    name = site.func.ref
    found = library.call(name) if name else None
    if found is None and "." in name and not name.startswith("["):
        method = name.rpartition(".")[2]
        found = library.methods.get(method)
        if found is None and ((name.startswith("?.") and library.language != "powershell") or site.func.known):
            return None if REACH in site.func.taint else Known()
    return found


def _stranger(site: Site) -> Value:
    """Code nobody described: a value of our own that is called, or a function of an unknown module."""
    name = site.func.ref
    stranger = STRANGERS.get(site.reader.language)
    if stranger is not None:
        return stranger(site)
    head = name.partition(".")[0]
    if head in {"?", ""} and REACH not in site.taint:
        return unknown(site.raw, site.func, *site.args)
    site.reader.out.hide(OpaqueReason.DYNAMIC_COMMAND, site.span, site.raw)
    return unknown(site.raw, *site.args)


def _effects(site: Site, known: Known) -> frozenset[int]:
    out = site.reader.out

    def lookup(key: str) -> Given | None:
        value = _only(site.argument(key))
        if value is None:
            return None
        return Given(value.text if value.text is not None else _plain(value), value.shape or value.raw or site.raw)

    decoded = any(v.decoded for v in site.args)
    lines = next((lines for key, lines in known.when.items() if _is_given(site, key)), known.effects)
    place = PLACES.get(site.reader.language)
    made: list[int] = []
    for key, more in known.opens.items():
        if _is_given(site, key):
            lines = (*lines, *more)
            out.hide(OpaqueReason.PAYLOAD_UNREADABLE, site.span, site.raw)
    filled = [
        e for line in lines for one in _each(site, line, lookup) for e in fill_all([line], one, site.reader.context)
    ]
    for effect in filled:
        effect = place(effect) if place is not None else effect  # noqa: PLW2901 - the same effect, placed
        made.append(out.put(replace(effect, certainty=Certainty.DECODED) if decoded else effect, site.span))
    return frozenset(made)


def _each(site: Site, line: str, lookup: Lookup) -> list[Lookup]:
    """A list where one name is meant (``-ComputerName a, b``): the line once for each member."""
    holes = template(line).holes
    first = holes[0].key.partition(">")[0] if len(holes) == 1 else ""
    given = site.argument(first) if first else None
    members = given.data if given is not None and given.known and isinstance(given.data, list) else []
    texts = [
        Given(m.text if m.text is not None else _plain(m), m.text or m.shape or m.raw)
        for m in members
        if isinstance(m, Value)
    ]
    if not texts:
        return [lookup]
    return [lambda key, t=text: t if key in {first, holes[0].key} else lookup(key) for text in texts[:24]]  # type: ignore[misc]


def _only(value: Value | None) -> Value | None:
    """The one member of a list of one: what a pipeline hands on."""
    items = value.data if value is not None and value.known and isinstance(value.data, list) else []
    return items[0] if len(items) == 1 and isinstance(items[0], Value) else value


def _is_given(site: Site, key: str) -> bool:
    """A parameter by any prefix of its name that is not another's; ``name=text|text``: what it, or one in it, is."""
    key, _equals, wanted = key.partition("=")
    value = next((v for k, v in site.named.items() if k == key or _PREFIXES.get(k) == key or _starts(key, k)), None)
    if wanted:
        texts = {v.text.lower() for v in (value.members if value is not None else ()) if v.text is not None}
        return not texts.isdisjoint(wanted.lower().split("|"))
    return value is not None and not (value.known and value.data is False)


def _starts(key: str, prefix: str) -> bool:
    return len(prefix) > 2 and key.startswith(prefix)


_PREFIXES = {"r": "recurse", "re": "recurse", "rf": "recurse", "fr": "recurse", "wi": "whatif"}  # -rf: of another shell


def _plain(value: Value) -> str | None:
    return str(value.data) if value.known and isinstance(value.data, int) else None


def _flows(site: Site, made: frozenset[int]) -> None:
    """What came in by the arguments and goes out, or is run, by this call."""
    out = site.reader.out
    sources = [(i, out.effects[i]) for i in sorted(site.taint) if 0 <= i < len(out.effects)]
    sources += [(i, out.effects[i]) for i in sorted(made - site.taint) if out.effects[i].domain is Domain.SECRETS]
    for sink in sorted(made):
        effect = out.effects[sink]
        for index, source in sources:
            held = source.domain is Domain.SECRETS and source.action is Verb.READ
            held = held or (source.domain is Domain.ENVIRONMENT and source.target == "env:*")
            if held and _leaves(effect):
                out.effects[sink] = tagged(out.effects[sink], Tag.EXFILTRATION)
                out.flow(FlowKind.EXFILTRATION, index, sink)
            elif effect.action is Verb.EXECUTE and source.action is Verb.RECEIVE:
                out.effects[sink] = tagged(out.effects[sink], Tag.REMOTE_CODE)
                out.flow(FlowKind.REMOTE_CODE, index, sink)


def _leaves(effect: Effect) -> bool:
    """What the call is given goes to another machine: its body, or the address that is asked for."""
    if effect.domain in {Domain.CLOUD, Domain.MESSAGING}:
        return effect.action in {Verb.SEND, Verb.CREATE, Verb.MODIFY}
    return effect.action is Verb.SEND or (effect.domain is Domain.NETWORK and effect.action is Verb.RECEIVE)


def _result(site: Site, known: Known, made: frozenset[int]) -> Value:
    taint = site.taint | made
    if known.value == "named":  # what the object is called stands for it
        key, _equals, usual = known.holds.partition("=")
        named = site.argument(key)
        kept = named if named is not None else constant(usual) if usual else Value(raw=site.raw)
        return replace(kept, taint=kept.taint | taint, ref=known.returns or kept.ref)
    if known.value == "own":
        own = site.own
        return replace(own, ref=site.func.ref.rpartition(".")[0], taint=own.taint | taint)
    if known.value:
        owns = site.own.others or (site.own,)
        value = any_of(site.reader, [_folded(site, known, own) for own in owns], UNKNOWN)
        return replace(value, taint=value.taint | taint)
    if known.returns:
        if known.returns.endswith("*"):  # a list of such objects
            one = Value(ref=known.returns[:-1], raw=site.raw, taint=taint)
            return Value(known=True, data=[one], raw=site.raw, taint=taint)
        name, _equals, default = known.holds.partition("=")
        first = site.argument(name)
        held = first.text if first is not None else default or None
        shape = first.shape if first is not None else None
        return Value(ref=known.returns, raw=site.raw, taint=taint, data=held, shape=shape)
    return Value(raw=site.raw, taint=taint)


def _folded(site: Site, known: Known, own: Value) -> Value:
    """A method of a text nobody knows gives none, whatever it is given."""
    is_method = site.reader.library.methods.get(site.func.ref.rpartition(".")[2]) is known
    if is_method and not own.known and known.value in TEXT_KINDS:
        return unknown(site.raw, own, *site.args)
    if known.value == "format" and site.named and own.text is not None:
        return formatted(own.text, list(site.args), site.raw, site.named)
    return fold(known.value, own, list(site.args), site.raw)
