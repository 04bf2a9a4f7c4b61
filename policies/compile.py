"""Conditions to closures: each answers True, False or None (unknown) over a view and one of its effects.

In: the ``model`` tree. Out: ``Test = (View, EffectView | None) -> bool | None``. Kleene's strong logic throughout
(S. C. Kleene, Introduction to Metamathematics, §64): unknown and false is false, unknown or true is true.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from policies.glob import is_glob, match_segments, segments, text_glob
from policies.model import All, Any_, Condition, Effects, Entry, Leaf, None_, Targets
from policies.verdict import Severity, Verdict
from policies.view import EffectView, View
from policies.vocab import FIELDS

Test = Callable[[View, EffectView | None], bool | None]
Value = Callable[[Any], bool | None]

RANK: dict[str, dict[str, int]] = {
    "objective.verdict": {str(v): i for i, v in enumerate(Verdict)},
    "objective.severity": {str(s): i for i, s in enumerate(Severity)},
}
_COMPARE = {"lt": operator.lt, "lte": operator.le, "gt": operator.gt, "gte": operator.ge}
_TEXT = {"prefix": str.startswith, "suffix": str.endswith, "contains": str.__contains__}


def compile_condition(condition: Condition) -> Test:
    return _COMPILERS[type(condition)](condition)


def compile_entry(entry: Entry, *, scope: bool = False, sure: bool = False, known: bool = False) -> Test:
    """One effect against one entry. ``scope``: the entry must cover all the target stands for, not just touch it.

    A match of an effect that is only possible is unknown, unless the entry asks for certainty itself, or ``sure``.
    ``known``: the index has already seen to domain and action.
    """
    leaves = [x for x in entry.leaves if not (known and x.op == "eq" and x.field in {"effect.domain", "effect.action"})]
    tests = [_leaf(leaf) for leaf in leaves] + [_targets(t, scope=scope) for t in entry.targets]
    sure = sure or scope or entry.names_certainty
    only = tests[0] if len(tests) == 1 else None

    def test(view: View, effect: EffectView | None) -> bool | None:
        answer: bool | None = True
        if only is not None:
            answer = only(view, effect)
            return None if answer and not sure and effect is not None and effect.possible else answer
        for part in tests:
            value = part(view, effect)
            if value is False:
                return False
            if value is None:
                answer = None
        return None if answer and not sure and effect is not None and effect.possible else answer

    return test


def any_of(tests: list[Test]) -> Test:
    """Kleene's or."""
    if len(tests) == 1:
        return tests[0]

    def test(view: View, effect: EffectView | None) -> bool | None:
        answer: bool | None = False
        for part in tests:
            value = part(view, effect)
            if value:
                return True
            if value is None:
                answer = None
        return answer

    return test


def all_of(tests: list[Test]) -> Test:
    """Kleene's and."""
    if len(tests) == 1:
        return tests[0]

    def test(view: View, effect: EffectView | None) -> bool | None:
        answer: bool | None = True
        for part in tests:
            value = part(view, effect)
            if value is False:
                return False
            if value is None:
                answer = None
        return answer

    return test


def _none(condition: None_) -> Test:
    inner = any_of([compile_condition(c) for c in condition.conditions])

    def test(view: View, effect: EffectView | None) -> bool | None:
        value = inner(view, effect)
        return None if value is None else not value

    return test


def _effects(condition: Effects) -> Test:
    """Any effect of the action. On an open action more effects may exist, so "none seen" is unknown."""
    inner = any_of([compile_entry(e) for e in condition.entries])

    def test(view: View, _: EffectView | None) -> bool | None:
        answer: bool | None = None if view.open else False
        for effect in view.effects:
            value = inner(view, effect)
            if value:
                return True
            if value is None:
                answer = None
        return answer

    return test


def _targets(targets: Targets, *, scope: bool) -> Test:
    """A rule's target is touched and its not_target covered; a scope's the other way round."""
    patterns = targets.patterns
    touch = scope == targets.negated
    negated = targets.negated
    found = [p.head for p in patterns]
    heads = tuple(h for h in found if h is not None)
    absolute = len(heads) == len(found)

    def test(_: View, effect: EffectView | None) -> bool | None:
        assert effect is not None
        target = effect.target
        if absolute and target.simple and not target.text.startswith(heads):  # type: ignore[union-attr]
            return negated
        answer: bool | None = False
        for pattern in patterns:
            value = pattern.touches(target) if touch else pattern.covers(target, own_home=scope)
            if value:
                return not negated
            if value is None:
                answer = None
        return None if answer is None else negated

    return test


def _leaf(leaf: Leaf) -> Test:
    test = value_test(leaf)
    if leaf.field.startswith("effect."):
        name = leaf.field.removeprefix("effect.")
        get = operator.attrgetter("effect." + name)
        return lambda _, effect: test(get(effect)) if effect is not None else None
    field = leaf.field
    return lambda view, _: test(view.get(field))


def value_test(leaf: Leaf) -> Value:
    """The question a leaf asks of a field's value. None, and an enum's ``unknown`` unless named, are unknown."""
    field = FIELDS[leaf.field]
    one = _OPS[leaf.op](leaf)
    names_unknown = leaf.op in {"eq", "not"} and "unknown" in leaf.value
    unknown = "unknown" if ("unknown" in field.values or leaf.field == "effect.where") and not names_unknown else None
    plain = leaf.op == "eq" and not any(isinstance(v, str) and is_glob(v) for v in leaf.value)
    if plain:
        return _plain_eq(frozenset(leaf.value), unknown, many=field.many)
    if not field.many:
        return lambda value: None if value is None or value == unknown else one(value)
    negated = leaf.op == "not"

    def items(value: Any) -> bool | None:
        if value is None:
            return None
        found = [one(v) for v in value]
        return all(found) if negated else any(found)

    return items


def _plain_eq(wanted: frozenset[Any], unknown: str | None, *, many: bool) -> Value:
    """The commonest question in one step: is it (or, of a list, any of it) one of these?"""
    if many:
        return lambda value: None if value is None else not wanted.isdisjoint(value)
    return lambda value: True if value in wanted else None if value is None or value == unknown else False


def _eq(leaf: Leaf) -> Value:
    plain = frozenset(v for v in leaf.value if not (isinstance(v, str) and is_glob(v)))
    globs = [text_glob(v, fold=False) for v in leaf.value if isinstance(v, str) and is_glob(v)]
    if not globs:
        return lambda value: value in plain
    return lambda value: value in plain or any(g(str(value)) for g in globs)


def _not(leaf: Leaf) -> Value:
    inner = _eq(leaf)
    return lambda value: not inner(value)


def _compare(leaf: Leaf) -> Value:
    compare, rank = _COMPARE[leaf.op], RANK.get(leaf.field)
    if rank is not None:
        limit = rank[leaf.value]
        return lambda value: compare(rank[value], limit) if value in rank else None
    wanted = leaf.value
    return lambda value: compare(value, wanted) if isinstance(value, int | float) else None


def _text(leaf: Leaf) -> Value:
    test, wanted = _TEXT[leaf.op], leaf.value
    return lambda value: any(test(str(value), w) for w in wanted)


def _glob(leaf: Leaf) -> Value:
    """Plain names: tools, agents, hosts. Case does not count, ``*`` matches anything."""
    globs = [text_glob(v) for v in leaf.value]
    return lambda value: any(g(str(value)) for g in globs)


def _under(leaf: Leaf) -> Value:
    parts = [segments(v.rstrip("/") + "/**") for v in leaf.value]
    return lambda value: any(match_segments(p, str(value).split("/")) for p in parts)


_OPS: dict[str, Callable[[Leaf], Value]] = {
    "eq": _eq,
    "not": _not,
    "glob": _glob,
    "under": _under,
    **dict.fromkeys(_COMPARE, _compare),
    **dict.fromkeys(_TEXT, _text),
}
_COMPILERS: dict[type, Callable[[Any], Test]] = {
    Leaf: _leaf,
    Effects: _effects,
    All: lambda c: all_of([compile_condition(x) for x in c.conditions]) if c.conditions else lambda *_: True,
    Any_: lambda c: any_of([compile_condition(x) for x in c.conditions]),
    None_: _none,
}
