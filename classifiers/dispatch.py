"""A closed call in, its Action out: the mappers say which surface reads it, and that surface does.

Mappers are found in ``classifiers/tools`` (``MAP(call, context) -> CallParts | Action | None``), tried in module order:
the first answer stands. A call nobody maps is one unknown effect with the reason. Nothing raises.
"""

from __future__ import annotations

from classifiers.call import ToolCall
from classifiers.context import NOWHERE, Context
from classifiers.discover import discover
from classifiers.effects import Action, Domain, Effect, Opaque, OpaqueReason, Surface, Verb
from classifiers.surface import CallParts, surface_named


def classify(call: ToolCall, context: Context = NOWHERE) -> Action:
    """What ``call`` could do. Structured output has no effects (09-contracts 20)."""
    if call.purpose == "structured_output":
        return Action(Surface.UNKNOWN)
    try:
        return _classify(call, context)
    except Exception as error:  # a surface's own fault is an unread call, never a lost one
        return unread(f"the classifier failed: {type(error).__name__}", call.name)


def unread(why: str, tool: str = "", surface: Surface = Surface.UNKNOWN) -> Action:
    """One unknown effect and the reason nothing better can be said."""
    effect = Effect(Domain.UNKNOWN, Verb.UNKNOWN, target_raw=tool or None, destructive=None)
    return Action(surface, (effect,), opaque=(Opaque(OpaqueReason.PAYLOAD_UNREADABLE, None, why),), notes=(why,))


def _classify(call: ToolCall, context: Context) -> Action:
    for mapper in discover("classifiers.tools", "MAP"):
        mapped: CallParts | Action | None = mapper(call, context)
        if isinstance(mapped, Action):
            return mapped
        if mapped is not None:
            return _by_surface(mapped, context, call.name)
    return unread(f"no surface is known for the tool {call.name}", call.name)


def _by_surface(parts: CallParts, context: Context, tool: str) -> Action:
    surface = surface_named(parts.surface)
    action = None if surface is None else surface.classify(parts, context)
    return action or unread(f"the surface {parts.surface} cannot read this call", tool)
