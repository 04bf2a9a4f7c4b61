"""Which fields an undetermined answer depends on.

In: a condition, a view, one effect or None. Out: the names of the leaves that are unknown and could change the answer.
Only asked when something was undetermined, so it may walk the tree.
"""

from __future__ import annotations

from policies.compile import compile_condition, compile_entry
from policies.model import All, Any_, Condition, Effects, Entry, Leaf, None_
from policies.view import EffectView, View


def unknown_fields(condition: Condition, view: View, effects: list[EffectView]) -> list[str]:
    """Names in file order, each once. ``effects``: the effects a top-level ``effects:`` was unsure of."""
    out: list[str] = []
    _walk(condition, view, effects, out)
    return list(dict.fromkeys(out))


def _walk(condition: Condition, view: View, effects: list[EffectView], out: list[str]) -> None:
    if isinstance(condition, Leaf):
        if compile_condition(condition)(view, None) is None:
            out.append(condition.field)
    elif isinstance(condition, Effects):
        for entry in condition.entries:
            for effect in effects or view.effects:
                out += entry_unknowns(entry, view, effect)
        if view.open and not out:
            out.append("classification.complete")
    elif isinstance(condition, All | Any_ | None_):
        for inner in condition.conditions:
            unsure = isinstance(inner, Effects) or compile_condition(inner)(view, None) is None
            if unsure:
                _walk(inner, view, effects, out)


def entry_unknowns(entry: Entry, view: View, effect: EffectView) -> list[str]:
    """What keeps one entry from an answer on one effect; nothing when it has one."""
    if compile_entry(entry)(view, effect) is not None:
        return []
    out = [leaf.field for leaf in entry.leaves if compile_condition(leaf)(view, effect) is None]
    for targets in entry.targets:
        part = Entry((), (targets,), None, None, entry.at)
        if compile_entry(part, scope=False)(view, effect) is None and not effect.possible:
            out.append("effect.target")
    return out or ["effect.certainty" if effect.possible else "effect.target"]
