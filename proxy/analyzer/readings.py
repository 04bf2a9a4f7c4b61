"""A call whose name is told in two ways is read in both: the effects of each reading are on the record.

In: a call and the classifier. Out: one action; where the readings agree it is the plain one. Judging it gives the worse
of the verdicts, because a rule matches when any effect does (09-contracts 19).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from classifiers.call import ObservedAt, ToolCall
from classifiers.effects import Action, Certainty, Surface

MAX_READINGS = 4


def read_in_all_ways(call: ToolCall, classify: Callable[[ToolCall], Action]) -> Action:
    """``call.extra["other_names"]``: further names of the same call, as the protocol told them."""
    action = classify(call)
    others = call.extra.get("other_names")
    for name in dict.fromkeys(others[:MAX_READINGS]) if isinstance(others, list) else ():
        if name != call.name:
            action = _both(action, classify(replace(call, name=name)), name)
    return as_read_from_text(action) if call.observed_at is ObservedAt.TEXT else action


def as_read_from_text(action: Action) -> Action:
    """What stands in the model's text may be acted on: its effects are possible, whatever they are."""
    effects = tuple(replace(effect, certainty=Certainty.POSSIBLE) for effect in action.effects)
    return replace(action, surface=Surface.TEXT_ACTION, effects=effects)


def _both(first: Action, other: Action, name: str) -> Action:
    if (first.effects, first.opaque) == (other.effects, other.opaque):
        return first
    offset = len(first.effects)
    moved = (
        replace(
            flow,
            source=None if flow.source is None else flow.source + offset,
            sink=None if flow.sink is None else flow.sink + offset,
        )
        for flow in other.flows
    )
    return replace(
        first,
        effects=(*first.effects, *other.effects),
        flows=(*first.flows, *moved),
        opaque=(*first.opaque, *other.opaque),
        parsers=tuple(dict.fromkeys((*first.parsers, *other.parsers))),
        notes=(*first.notes, f"also read as {name}", *other.notes),
    )
