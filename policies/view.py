"""An action made ready to be looked at: its effects' targets read once, derived fields filled in.

In: a ``Subject``. Out: a ``View`` whose ``get(name)`` answers any vocabulary field (None: not known), and whose
``effects`` pair each ``Effect`` with its ``Target``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, tzinfo
from typing import Any

from classifiers.effects import Effect, Sensitivity, Verb
from policies.target import Target
from policies.verdict import Subject

TIMELESS = "time"
_READS = {Verb.READ, Verb.RECEIVE}


class EffectView:
    """One effect and its target. ``possible``: it was not read from the call with certainty."""

    __slots__ = ("_home", "_target", "effect", "index", "possible")

    def __init__(self, effect: Effect, index: int, home: str | None) -> None:
        self.effect, self.index, self._home = effect, index, home
        self._target: Target | None = None
        self.possible = effect.certainty == "possible"

    @property
    def target(self) -> Target:
        if self._target is None:
            self._target = Target(self.effect, self._home)
        return self._target

    def alone(self) -> EffectView:
        """The same effect on its target alone, without what lies below it."""
        made = EffectView(self.effect, self.index, self._home)
        made.target.deep = False
        return made


class View:
    """What conditions are evaluated over. ``open``: the action is incomplete, more effects may exist."""

    __slots__ = ("_memo", "effects", "fields", "open", "subject", "zone")

    def __init__(self, subject: Subject, zone: tzinfo) -> None:
        self.subject, self.fields, self.zone = subject, subject.fields, zone
        action = subject.action
        home = subject.fields.get("session.home")
        self.effects = [EffectView(e, i, home) for i, e in enumerate(action.effects)]
        self.open = bool(action.opaque)
        self._memo: dict[str, Any] = {}

    def get(self, name: str) -> Any:
        """The field's value, or None: not known. What the caller handed in wins over what is derived."""
        value = self.fields.get(name)
        if value is None and name in DERIVED:
            if name not in self._memo:
                self._memo[name] = DERIVED[name](self)
            value = self._memo[name]
        return value


def _canonical(view: View) -> str | None:
    name, server = view.fields.get("call.name"), view.fields.get("call.server")
    return canonical_tool(name, server)


def canonical_tool(name: Any, server: Any) -> str | None:
    """``mcp:<server>/<tool>`` for an MCP tool, by its server or by the ``mcp__server__tool`` name; else the name."""
    if not isinstance(name, str):
        return None
    if name.startswith("mcp__") and name.count("__") >= 2:
        _, server, tool = name.split("__", 2)
        return f"mcp:{server}/{tool}"
    return f"mcp:{server}/{name}" if server else name


def _sensitivity(view: View) -> list[str] | None:
    kinds = [v.effect.sensitivity for v in view.effects if v.effect.action in _READS]
    found = [str(k) for k in kinds if k and k != Sensitivity.NONE]
    return found if found or not view.open else None


def _claim_contradicted(view: View) -> bool | None:
    """A tool says it only reads, or destroys nothing, and its effects say more."""
    claimed = view.subject.action.claimed
    reads = claimed.get("readOnlyHint") is True
    harmless = claimed.get("destructiveHint") is False
    if any(reads and e.action not in _READS and e.action != Verb.UNKNOWN for e in view.subject.action.effects):
        return True
    if harmless and view.subject.action.destructive:
        return True
    return None if view.open and (reads or harmless) else False


def _local(view: View) -> datetime | None:
    """Record time in the policy's timezone; an inline test that gives no time of day has none (``TIMELESS``)."""
    return None if TIMELESS in view.fields else view.subject.at.astimezone(view.zone)


DERIVED: dict[str, Callable[[View], Any]] = {
    "call.canonical": _canonical,
    "classification.surface": lambda v: str(v.subject.action.surface),
    "classification.complete": lambda v: not v.open,
    "classification.destructive": lambda v: v.subject.action.destructive,
    "classification.reversibility": lambda v: str(v.subject.action.reversibility),
    "classification.opaque": lambda v: [str(o.reason) for o in v.subject.action.opaque],
    "classification.flows": lambda v: [str(f.kind) for f in v.subject.action.flows] or (None if v.open else []),
    "classification.claim_contradicted": _claim_contradicted,
    "data.sensitivity": _sensitivity,
    "time.hour": lambda v: (at := _local(v)) and at.hour,
    "time.minute": lambda v: (at := _local(v)) and at.minute,
    "time.weekday": lambda v: (at := _local(v)) and at.strftime("%a").lower(),
    "time.date": lambda v: (at := _local(v)) and at.strftime("%Y-%m-%d"),
}
