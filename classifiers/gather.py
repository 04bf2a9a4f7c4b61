"""Collect effects while a call is read, then make the one Action.

In: effects, opaque parts, notes and whole inner actions, in reading order. Out: ``Gather.action()``.
Positions are code points of the text being read; ``at`` says which argument that text is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from classifiers.clock import READING, spent
from classifiers.effects import (
    Action,
    Certainty,
    Condition,
    Domain,
    Effect,
    Evidence,
    Flow,
    FlowKind,
    Opaque,
    OpaqueReason,
    Reversibility,
    Surface,
    Tag,
    Verb,
)

MAX_EFFECTS = 400  # a list longer than this says nothing more to a reader

# How well each verb can be taken back when nothing more specific is known (OWASP AISVS's scale).
_REVERSIBILITY = {
    Verb.READ: Reversibility.READ_ONLY,
    Verb.RECEIVE: Reversibility.READ_ONLY,
    Verb.CREATE: Reversibility.REVERSIBLE,
    Verb.DELETE: Reversibility.IRREVERSIBLE,
    Verb.GRANT: Reversibility.REVERSIBLE,
}


@dataclass(slots=True)
class Gather:
    surface: Surface
    at: str = ""
    effects: list[Effect] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    opaque: list[Opaque] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    parsers: list[str] = field(default_factory=list)
    claimed: dict[str, Any] = field(default_factory=dict)
    deadline: float | None = None
    seen: dict[Effect, int] = field(default_factory=dict)  # as first put, to say nothing twice

    def add(
        self,
        domain: Domain | str,
        verb: Verb | str,
        target: str | None = None,
        *,
        span: tuple[int, int] | None = None,
        **more: Any,
    ) -> int:
        """Append one effect and return its index. ``target`` None with ``target_raw`` is an unknown target."""
        verb = Verb(verb)
        values: dict[str, Any] = {"reversibility": _REVERSIBILITY.get(verb, Reversibility.UNKNOWN), **more}
        if verb is Verb.DELETE and "destructive" not in more:
            values["destructive"] = True
        return self.put(Effect(domain=Domain(domain), action=verb, target=target, **values), span)

    def put(self, effect: Effect, span: tuple[int, int] | None = None) -> int:
        if effect.evidence is None:
            effect = replace(effect, evidence=Evidence(self.at, *(span or (0, 0))))
        known = self.seen.get(effect)
        if known is not None:
            return known
        if len(self.effects) >= MAX_EFFECTS:
            if not any(o.reason is OpaqueReason.SIZE_CAP for o in self.opaque):
                self.hide(OpaqueReason.SIZE_CAP, span, f"more than {MAX_EFFECTS} effects")
            return len(self.effects) - 1
        self.effects.append(effect)
        self.seen[effect] = len(self.effects) - 1
        return len(self.effects) - 1

    def hide(self, reason: OpaqueReason, span: tuple[int, int] | None = None, text: str = "") -> None:
        """Note a part whose operation could not be read."""
        item = Opaque(reason, span, text[:200])
        if item not in self.opaque and len(self.opaque) < MAX_EFFECTS:
            self.opaque.append(item)

    def flow(self, kind: FlowKind, source: int | None, sink: int | None) -> None:
        self.flows.append(Flow(kind, source, sink))

    def absorb(
        self,
        inner: Action,
        *,
        via: Iterable[str] = (),
        span: tuple[int, int] | None = None,
        certainty: Certainty | None = None,
        condition: Condition | None = None,
    ) -> list[int]:
        """Take an inner action's effects, flows and opaque parts as this one's; returns the effects' new indexes.

        The inner text is a part of this one, decoded, so its positions are replaced by the part's own.
        """
        chain = tuple(via)
        index: list[int] = []
        for e in inner.effects:
            more: dict[str, Any] = {"via": chain + e.via}
            if span is not None:
                more["evidence"] = Evidence(self.at, *span)
            if certainty is not None and e.certainty is Certainty.DEFINITE:
                more["certainty"] = certainty
            if condition is not None and e.condition is Condition.ALWAYS:
                more["condition"] = condition
            index.append(self.put(replace(e, **more)))
        for f in inner.flows:
            self.flow(f.kind, *(None if i is None else index[i] for i in (f.source, f.sink)))
        for o in inner.opaque:
            self.hide(o.reason, span or o.span, o.text)
        self.notes += [n for n in inner.notes if n not in self.notes]
        self.parsers += [p for p in inner.parsers if p not in self.parsers]
        return index

    def under(self, first: int, condition: Condition) -> None:
        """What was told from ``first`` on happens under a condition; what has its own keeps that."""
        for i in range(first, len(self.effects)):
            if self.effects[i].condition is Condition.ALWAYS:
                self.effects[i] = replace(self.effects[i], condition=condition)

    def start_clock(self, max_ms: float) -> None:
        """Give the reading ``max_ms`` of processor time (a busy machine or a collection changes no answer)."""
        self.deadline = spent() + READING * max_ms / 1000

    def half_time(self, max_ms: float) -> float | None:
        """When parsing should be done, so that reading has its share."""
        return None if self.deadline is None else self.deadline - max_ms / 2000

    def out_of_time(self) -> bool:
        return self.deadline is not None and spent() > self.deadline

    def pipe_secrets_out(self) -> None:
        """Whatever secret is read and whatever is sent out of this machine in one program: an exfiltration flow."""
        reads = [i for i, e in enumerate(self.effects) if e.domain is Domain.SECRETS and e.action is Verb.READ]
        sends = [i for i, e in enumerate(self.effects) if e.domain is Domain.NETWORK and e.action is Verb.SEND]
        for sink in sends if reads else ():
            self.effects[sink] = tagged(self.effects[sink], Tag.EXFILTRATION)
            self.flow(FlowKind.EXFILTRATION, reads[0], sink)

    def action(self) -> Action:
        return Action(
            surface=self.surface,
            effects=tuple(self.effects),
            flows=tuple(dict.fromkeys(self.flows)),
            opaque=tuple(self.opaque),
            parsers=tuple(self.parsers),
            notes=tuple(self.notes),
            claimed=self.claimed,
        )


def tagged(effect: Effect, *tags: Tag) -> Effect:
    """The effect with ``tags`` added once each."""
    return replace(effect, tags=tuple(dict.fromkeys((*effect.tags, *tags))))


def decoded(out: Gather, sink: int) -> None:
    """What is run by the effect at ``sink`` came out of a decoder."""
    out.effects[sink] = tagged(out.effects[sink], Tag.DECODED_CODE)
    out.flow(FlowKind.DECODED_CODE, None, sink)
