"""Why a rule said what it said: its conditions as a tree, each leaf true, false or unknown, with its file:line:col.

In: a compiled policy, a view, a rule's outcome. Out: ``Node`` trees and lines of text. Each leaf shows what the field
was; ``turns`` lists the leaves any one of which would change the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from classifiers.effects import Effect
from policies.compile import compile_condition, compile_entry
from policies.evaluate import CompiledRule
from policies.model import All, Any_, Condition, Effects, Entry, Leaf, None_, Rule, Targets
from policies.outcome import Outcome
from policies.verdict import Result
from policies.view import EffectView, View

_MARK = {True: "true", False: "false", None: "unknown"}


@dataclass(frozen=True, slots=True)
class Node:
    """``kind``: leaf, all, any, none, effect. ``have``: what a leaf's field was, as text."""

    kind: str
    text: str
    value: bool | None
    at: str
    have: str | None = None
    children: tuple[Node, ...] = ()

    def to_json(self) -> dict[str, Any]:
        out = {"kind": self.kind, "text": self.text, "value": self.value, "at": self.at, "have": self.have}
        return {**out, "children": [c.to_json() for c in self.children]}


def explain(compiled: CompiledRule, view: View, outcome: Outcome | None) -> Node:
    """The tree of one rule: what ``match`` says, then each exception that could excuse it."""
    rule = compiled.rule
    missed = Result.NO_MATCH_SO_FAR if view.open else Result.NO_MATCH
    result = outcome.result if outcome else missed
    value = {Result.MATCH: True, Result.UNDETERMINED: None}.get(result, False)
    children = list(_match(rule.match, view)) if rule.match is not None else []
    if rule.rate is not None:
        text = f"more than {rule.rate.more_than} {rule.rate.field or rule.rate.count} by {', '.join(rule.rate.by)}"
        children.append(Node("leaf", f"{text} within {rule.rate.within_s:g}s", value, rule.rate.at, _key(view, rule)))
    if rule.sequence is not None:
        text = " then ".join(rule.sequence.steps) + f" within {rule.sequence.within_s:g}s"
        children.append(Node("leaf", text, value, rule.sequence.at, _key(view, rule)))
    for exception in rule.exceptions:
        over = exception.until <= view.subject.at
        name = f"exception {exception.id} until {exception.until:%Y-%m-%d}" + (" (ran out)" if over else "")
        inner = tuple(_match(exception.match, view, excuse=True))
        children.append(Node("none", name, _not(_all(inner)) if not over else True, exception.at, None, inner))
    return Node("rule", f"{rule.id}: {result}", value, rule.at, None, tuple(children))


def _key(view: View, rule: Rule) -> str:
    timed = rule.rate or rule.sequence
    assert timed is not None
    return ", ".join(f"{n}={_show(view.get(n))}" for n in (*timed.by, "session.strength"))


def _match(match: All, view: View, *, excuse: bool = False) -> Iterator[Node]:
    for condition in match.conditions:
        if isinstance(condition, Effects):
            inner = tuple(_effect(condition, view, e, excuse=excuse) for e in view.effects)
            none = Node("leaf", "no effect was read", False, condition.at)
            yield Node(
                "any", "one effect matches", _any(inner) if inner else False, condition.at, None, inner or (none,)
            )
        else:
            yield _condition(condition, view)


def _effect(condition: Effects, view: View, effect: EffectView, *, excuse: bool) -> Node:
    entries = tuple(_entry(e, view, effect, excuse=excuse) for e in condition.entries)
    evidence = effect.effect.evidence
    span = f"{evidence.path}[{evidence.start}:{evidence.end}]" if evidence else None
    text = f"effect {effect.index}: {show_effect(effect.effect)}"
    if len(entries) == 1:
        only = entries[0]
        return Node("all", text, only.value, only.at, span, only.children)
    return Node("any", text, _any(entries), condition.at, span, entries)


def _entry(entry: Entry, view: View, effect: EffectView, *, excuse: bool) -> Node:
    leaves = []
    for leaf in entry.leaves:
        value = compile_condition(leaf)(view, effect)
        leaves.append(_leaf(leaf, value, getattr(effect.effect, leaf.field.removeprefix("effect."))))
    for targets in entry.targets:
        part = Entry((), (targets,), None, None, entry.at)
        value = compile_entry(part, scope=excuse, sure=True)(view, effect)
        leaves.append(Node("leaf", _patterns(targets), value, targets.at, _show(effect.effect.target)))
    if effect.possible and not entry.names_certainty and not excuse:
        leaves.append(Node("leaf", "certainty is more than possible", None, entry.at, "possible"))
    return Node("all", "an entry of effects", _all(leaves), entry.at, None, tuple(leaves))


def show_effect(effect: Effect) -> str:
    """Like the one-line notation, for effects that were read back or are only partly known too."""
    target = effect.target if effect.target is not None else f"? ({effect.target_raw})" if effect.target_raw else "?"
    words = [f"{effect.action or '?'} {effect.domain or '?'}:{target}"]
    words += [str(w) for w in (effect.breadth, effect.reversibility) if w not in {None, "one", "unknown"}]
    words += {True: ["destructive"], None: ["maybe_destructive"]}.get(effect.destructive, [])
    words += [str(effect.privilege)] if effect.privilege not in {None, "none"} else []
    return " ".join([*words, *map(str, effect.tags or ())])


def _patterns(targets: Targets) -> str:
    shown = [p.text if p.operator == "glob" else f"{p.operator} {p.text}" for p in targets.patterns]
    more = f" and {len(shown) - 4} more" if len(shown) > 4 else ""
    return f"target {'is not' if targets.negated else 'is'} {' | '.join(shown[:4])}{more}"


def _condition(condition: Condition, view: View) -> Node:
    value = compile_condition(condition)(view, None)
    if isinstance(condition, Leaf):
        return _leaf(condition, value, view.get(condition.field))
    if isinstance(condition, Effects):
        return Node("leaf", "some effect matches", value, condition.at)
    kind = {All: "all", Any_: "any", None_: "none"}[type(condition)]
    children = tuple(_group(c, view) for c in condition.conditions)
    return Node(kind, {"all": "all of", "any": "any of", "none": "none of"}[kind], value, condition.at, None, children)


def _group(condition: Condition, view: View) -> Node:
    """An ``All`` of one condition is just that condition."""
    if isinstance(condition, All) and len(condition.conditions) == 1:
        return _group(condition.conditions[0], view)
    return _condition(condition, view)


def _leaf(leaf: Leaf, value: bool | None, have: Any) -> Node:
    name = leaf.field.removeprefix("effect.")
    wanted = " | ".join(map(str, leaf.value)) if isinstance(leaf.value, tuple) else str(leaf.value)
    return Node("leaf", f"{name} {_WORDS.get(leaf.op, leaf.op)} {wanted}", value, leaf.at, _show(have))


_WORDS = {"eq": "is", "not": "is not", "lt": "<", "lte": "<=", "gt": ">", "gte": ">=", "glob": "is"}


def _show(value: Any) -> str:
    if value is None:
        return "not known"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list | tuple) else str(value)


def _all(nodes: Any) -> bool | None:
    values = [n.value for n in nodes]
    return False if False in values else None if None in values else True


def _any(nodes: Any) -> bool | None:
    values = [n.value for n in nodes]
    return True if True in values else None if None in values else False


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def turns(node: Node) -> list[Node]:
    """Leaves any one of which, turned over (or made known), would change this node's answer."""
    if not node.children:
        return [node]
    wants_any = node.kind in {"any", "none"}
    inner_value = _not(node.value) if node.kind == "none" else node.value
    deciding: bool | None = wants_any  # an any is held up by one true child, an all is held down by one false child
    if inner_value is deciding:
        held = [c for c in node.children if c.value is deciding]
        return turns(held[0]) if len(held) == 1 else []
    chosen = node.children if inner_value is not None else [c for c in node.children if c.value is None]
    return [leaf for c in chosen for leaf in turns(c)]


def lines(node: Node, depth: int = 0) -> Iterator[str]:
    """The tree as text, one node a line: mark, what was asked, what it was, where it is written."""
    mark = {True: "+", False: "-", None: "?"}[node.value]
    have = f"  [{node.have}]" if node.have is not None else ""
    yield f"{'  ' * depth}{mark} {node.text}: {_MARK[node.value]}{have}  ({node.at})"
    for child in node.children:
        yield from lines(child, depth + 1)


def advice(node: Node) -> list[str]:
    """What would change the answer, in sentences; nothing when no single field would."""
    said = []
    for leaf in turns(node):
        if leaf is node:
            continue
        how = {True: "were not so", False: "were so", None: "were known"}[leaf.value]
        said.append(f"it would change if '{leaf.text}' {how} ({leaf.at})")
    return list(dict.fromkeys(said))
