"""Collect what a script does: effects, flows and opaque parts in, the Action out. Duplicates fold, caps hold."""

from __future__ import annotations

from dataclasses import replace

from classifiers.clock import READING, spent
from classifiers.effects import (
    Action,
    Effect,
    Flow,
    FlowKind,
    Opaque,
    OpaqueReason,
    Reversibility,
    Surface,
    Tag,
)

MAX_EFFECTS = 400
MAX_OPAQUE = 100


class OutOfTimeError(Exception):
    """The budget for this call is spent."""


class Collector:
    def __init__(self, max_ms: float) -> None:
        self.effects: list[Effect] = []
        self.flows: list[Flow] = []
        self.opaque: list[Opaque] = []
        self.notes: dict[str, None] = {}
        self.index: dict[Effect, int] = {}
        self.deadline = spent() + READING * max_ms / 1000  # our own work, not the wait for a processor
        self.steps = 0

    def tick(self, ahead: float = 0.0) -> None:
        """Called once per command. Raises OutOfTimeError when the budget will be spent in ``ahead`` seconds."""
        self.steps += 1
        if spent() + ahead > self.deadline:
            raise OutOfTimeError

    def add(self, effect: Effect) -> int:
        found = self.index.get(effect)
        if found is not None:
            return found
        if len(self.effects) >= MAX_EFFECTS:
            self.hide(OpaqueReason.SIZE_CAP, None, f"more than {MAX_EFFECTS} effects")
            return len(self.effects) - 1
        self.index[effect] = len(self.effects)
        self.effects.append(effect)
        return len(self.effects) - 1

    def hide(self, reason: OpaqueReason, span: tuple[int, int] | None, text: str = "") -> None:
        item = Opaque(reason, span, text[:200])
        if item not in self.opaque and len(self.opaque) < MAX_OPAQUE:
            self.opaque.append(item)

    def flow(self, kind: FlowKind, source: int | None, sink: int | None) -> None:
        flow = Flow(kind, source, sink)
        if flow not in self.flows and len(self.flows) < MAX_OPAQUE:
            self.flows.append(flow)

    def tag(self, index: int, *tags: Tag) -> None:
        effect = self.effects[index]
        new = tuple(t for t in tags if t not in effect.tags)
        if new:
            changed = replace(effect, tags=effect.tags + new)
            self.effects[index] = changed
            self.index[changed] = index

    def change(self, index: int, *, destructive: bool | None, reversibility: Reversibility | None = None) -> None:
        """An effect told earlier turns out to lose more, or less."""
        effect = self.effects[index]
        changed = replace(effect, destructive=destructive, reversibility=reversibility or effect.reversibility)
        self.effects[index] = changed
        self.index[changed] = index

    def note(self, text: str) -> None:
        self.notes[text] = None

    def action(self, parsers: tuple[str, ...], cwd_after: str | None) -> Action:
        return Action(
            Surface.SHELL,
            tuple(self.effects),
            tuple(self.flows),
            tuple(self.opaque),
            parsers,
            tuple(self.notes),
            cwd_after,
        )
