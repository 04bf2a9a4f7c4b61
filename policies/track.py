"""Sequences and rates: rules whose answer depends on what came before, in record time, in bounded memory.

In: this action's outcomes and the state's tracks. Out: the outcome of the rate or sequence rule, or None (a miss).

Each track is kept twice: ``d`` of what surely matched, ``p`` of what may have. When only ``p`` is enough, or the key is
a weak session key, the answer is undetermined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policies.model import Rate, Rule
from policies.outcome import Outcome
from policies.state import SessionState
from policies.verdict import Result
from policies.view import View

_HITS = {Result.MATCH, Result.UNDETERMINED}


def _key(by: tuple[str, ...], view: View) -> tuple[str, bool]:
    """The value counted by, and whether it is sure."""
    values = [view.get(name) for name in by]
    weak = any(n.startswith("session.") for n in by) and view.get("session.strength") == "weak"
    return "\x1e".join(map(str, values)), not weak and None not in values


def count(policy: str, rule: Rule, outcome: Outcome, view: View, state: SessionState) -> Outcome | None:
    """A rate rule whose ``match`` had ``outcome``: more than so many within the window?"""
    rate = rule.rate
    assert rate is not None
    if outcome.result not in _HITS:
        return outcome
    key, sure = _key(rate.by, view)
    track = state.track(policy, rule.id, key)
    now = view.subject.at.timestamp()
    definite = _events(rate, outcome.effects, view) if outcome.result is Result.MATCH else []
    possible = definite + (_events(rate, outcome.unsure, view) if outcome.unsure or not definite else [])
    over = _push(track, "d", definite, now, rate)
    maybe = _push(track, "p", possible, now, rate)
    if over and sure:
        return outcome
    return _undetermined(outcome, weak=not sure) if over or maybe else None


def _events(rate: Rate, indexes: tuple[int, ...], view: View) -> list[str]:
    """One event per call, per effect, or per different value."""
    if rate.count == "calls":
        return [""]
    if rate.count == "effects":
        return [""] * max(1, len(indexes))
    assert rate.field is not None
    if not rate.field.startswith("effect."):
        return [str(view.get(rate.field))]
    name = rate.field.removeprefix("effect.")
    chosen = indexes or range(len(view.effects))
    return [str(v) for i in chosen if (v := getattr(view.effects[i].effect, name)) is not None]


def _push(track: dict[str, Any], name: str, events: list[str], now: float, rate: Rate) -> bool:
    """Add events, forget what left the window; never keeps more than it takes to say "more"."""
    kept = [e for e in track.get(name, []) if now - e[0] <= rate.within_s]
    if rate.count == "distinct":
        kept = [e for e in kept if e[1] not in events]
        events = list(dict.fromkeys(events))
    kept += [[now, e] for e in events]
    track[name] = kept[-(rate.more_than + 1) :]
    return len(kept) > rate.more_than


def advance(
    policy: str, rule: Rule, outcomes: Mapping[str, Outcome], view: View, state: SessionState
) -> Outcome | None:
    """A sequence rule: this action's step outcomes move its chains on; the last step decides."""
    sequence = rule.sequence
    assert sequence is not None
    steps = [outcomes.get(s) for s in sequence.steps]
    if not any(o is not None and o.result in _HITS for o in steps):
        return None
    key, sure = _key(sequence.by, view)
    track = state.track(policy, rule.id, key)
    now = view.subject.at.timestamp()
    done = _chain(track, "d", [o if o and o.result is Result.MATCH else None for o in steps], now, sequence.within_s)
    hits = [o if o and o.result in _HITS else None for o in steps]
    maybe = _chain(track, "p", hits, now, sequence.within_s)
    last = steps[-1]
    if last is None or not (done or maybe):
        return None
    outcome = _make(Result.MATCH, last)
    return outcome if done and sure else _undetermined(outcome, weak=not sure)


def _chain(track: dict[str, Any], name: str, steps: list[Outcome | None], now: float, within_s: float) -> bool:
    """``track[name][k]`` is the latest start of a chain that has done step k. One action may do two steps when an
    effect of the later one comes after an effect of the earlier."""
    old: list[float | None] = track.get(name) or [None] * len(steps)
    new = list(old)
    place: list[int | None] = [None] * len(steps)  # first effect of a step done by this very action
    done = False
    for k, outcome in enumerate(steps):
        if outcome is None:
            continue
        indexes = outcome.effects or outcome.unsure or (0,)
        start, where = (now, min(indexes)) if k == 0 else (None, 0)
        if k and old[k - 1] is not None and now - (old[k - 1] or 0.0) <= within_s:
            start, where = old[k - 1], min(indexes)
        elif k and place[k - 1] is not None and max(indexes) > (place[k - 1] or 0):
            start, where = new[k - 1], min(i for i in indexes if i > (place[k - 1] or 0))
        if start is not None:
            new[k], place[k] = start, where
            done = k == len(steps) - 1
    track[name] = new
    return done


def _make(result: Result, like: Outcome) -> Outcome:
    return Outcome(result, like.effects or like.unsure)


def _undetermined(outcome: Outcome, *, weak: bool) -> Outcome:
    return Outcome(Result.UNDETERMINED, (), outcome.effects + outcome.unsure, outcome.excepted_by, weak)
