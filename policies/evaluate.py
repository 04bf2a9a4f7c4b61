"""One policy over one action: every rule is asked, no rule hides another.

In: a checked ``Policy`` (``Compiled``), a ``View`` and the ``SessionState``. Out: an ``Outcome`` for each rule that did
not plainly miss. Rules about effects are found by domain and action, so most are never looked at; closures are made
when a rule is first needed. An exception excuses only the effects it matches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from zoneinfo import ZoneInfo

from policies.compile import Test, any_of, compile_condition, compile_entry
from policies.model import All, Effects, Leaf, Policy, Rule
from policies.outcome import Outcome
from policies.state import SessionState
from policies.track import advance, count
from policies.verdict import Result, Subject
from policies.view import DERIVED, EffectView, View

Found = list[tuple[EffectView, bool | None]]
ERROR = Outcome(Result.ERROR)


class CompiledRule:
    """A rule with its closures, made when it is first needed."""

    __slots__ = ("_named", "exceptions", "guard", "names_unknown", "order", "ready", "rest", "rule")

    def __init__(self, rule: Rule, order: int) -> None:
        self.rule, self.order, self.ready = rule, order, False
        self.rest: Test | None = None
        self._named: Test | None = None
        self.exceptions: list[tuple[datetime, str, Test | None, Test | None]] = []
        self.guard = _guard(rule)
        self.names_unknown = _names_unknown(rule)

    def prepare(self) -> None:
        match = self.rule.match
        assert match is not None
        self.rest = _rest(match)
        self.exceptions = [(x.until, x.id, *_excusing(x.match)) for x in self.rule.exceptions]
        self.ready = True

    def settle(self, view: View, found: Found) -> Outcome | None:
        """Hold the rest of ``match`` and the exceptions against the effects its entries found."""
        rest = True if self.rest is None else self.rest(view, None)
        if rest is False:
            return None
        matched: list[int] = []
        unsure: list[int] = []
        excused = ""
        any_excused = False
        for effect, value in found:
            if not (value and rest):
                unsure.append(effect.index)
                continue
            name, excepted = self._excuse(view, effect) if self.exceptions else ("", False)
            if excepted:
                excused, any_excused = name, True
            else:
                (matched if excepted is False else unsure).append(effect.index)
        return _outcome(matched, unsure, excused, any_excused=any_excused)

    def settle_call(self, view: View) -> Outcome | None:
        """The same for a rule about the call as a whole."""
        rest = True if self.rest is None else self.rest(view, None)
        if rest is False:
            return None
        name, excepted = self._excuse(view, None) if rest and self.exceptions else ("", False)
        if rest is None or excepted is None:
            return Outcome(Result.UNDETERMINED)
        return Outcome(Result.EXCEPTED, excepted_by=name) if excepted else Outcome(Result.MATCH)

    def below(self, view: View, indexes: tuple[int, ...]) -> bool:
        """Whether the rule matches these effects only by what lies below their targets, which it does not name."""
        found = [view.effects[i] for i in indexes]
        if not found or self.rule.effects is None or not all(f.target.deep for f in found):
            return False
        if self._named is None:
            self._named = any_of([compile_entry(e) for e in self.rule.effects.entries])
        return not any(self._named(view, f.alone()) for f in found)

    def _excuse(self, view: View, effect: EffectView | None) -> tuple[str, bool | None]:
        answer: bool | None = False
        for until, name, entries, rest in self.exceptions:
            if until <= view.subject.at:
                continue
            parts = [t(view, effect) for t in (entries, rest) if t is not None]
            if all(parts):
                return name, True
            if False not in parts:
                answer = None
        return "", answer


def _outcome(matched: list[int], unsure: list[int], excused: str, *, any_excused: bool) -> Outcome | None:
    if matched:
        return Outcome(Result.MATCH, tuple(matched), tuple(unsure), excused or None)
    if unsure:
        return Outcome(Result.UNDETERMINED, (), tuple(unsure), excused or None)
    return Outcome(Result.EXCEPTED, excepted_by=excused) if any_excused else None


def _excusing(match: All) -> tuple[Test | None, Test | None]:
    """An exception's ``effects:``, asked of one effect, which it must cover as a scope must, and everything else."""
    entries = any_of([compile_entry(e, scope=True) for e in top.entries]) if (top := _top(match)) else None
    return entries, _rest(match)


def _top(match: All) -> Effects | None:
    return next((c for c in match.conditions if isinstance(c, Effects)), None)


def _rest(match: All) -> Test | None:
    top = _top(match)
    rest = tuple(c for c in match.conditions if c is not top)
    return compile_condition(All(rest, match.at)) if rest else None


def _guard(rule: Rule) -> str | None:
    """A field without which a rule that ignores the unknown has nothing to say."""
    if rule.on_unknown != "ignore" or rule.match is None or rule.exceptions:
        return None
    return next((c.field for c in rule.match.conditions if isinstance(c, Leaf) and c.field not in DERIVED), None)


def _names_unknown(rule: Rule) -> bool:
    entries = rule.effects.entries if rule.effects else ()
    return any("unknown" in (e.domains or ()) or "unknown" in (e.actions or ()) for e in entries)


Answer = tuple[CompiledRule, Outcome | None]


class Compiled:
    """A policy made ready. Cheap to build: indexes and closures appear as actions ask for them."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.zone = ZoneInfo(policy.timezone)
        self.rules = [CompiledRule(r, i) for i, r in enumerate(policy.rules) if r.enabled]
        self.by_id = {c.rule.id: c for c in self.rules}
        plain = [c for c in self.rules if c.rule.sequence is None]
        self._about_effects = [c for c in plain if c.rule.effects is not None]
        self.always = [c for c in plain if c.rule.effects is None]
        self.sequences = [c for c in self.rules if c.rule.sequence is not None]
        self._index: dict[tuple[str, str, bool], list[tuple[CompiledRule, Test]]] = {}

    def candidates(self, domain: str, action: str, *, open_: bool) -> list[tuple[CompiledRule, Test]]:
        """Rules whose entries could match an effect of this domain and action, in file order, with what is left to ask.

        An unknown domain or action may be any; on an open action only a rule that names ``unknown`` takes it up.
        """
        key = (domain, action, open_)
        found = self._index.get(key)
        if found is None:
            unread = "unknown" in (domain, action)
            rules = [c for c in self._about_effects if c.names_unknown or not (open_ and unread)]
            pairs = ((c, _entries_for(c, domain, action)) for c in rules)
            found = self._index[key] = [(c, test) for c, test in pairs if test is not None]
        return found

    def view(self, subject: Subject) -> View:
        return View(subject, self.zone)

    def outcomes(self, view: View, state: SessionState, only: Collection[str] | None = None) -> dict[str, Outcome]:
        """Every rule's outcome but the plain misses. ``only``: these rule ids (tests)."""
        hits: dict[CompiledRule, Found] = {}
        out: dict[str, Outcome] = {}
        for item in view.effects:
            effect = item.effect
            for rule, test in self.candidates(effect.domain or "unknown", effect.action or "unknown", open_=view.open):
                try:
                    value = test(view, item)
                except Exception:  # one rule's trouble is its own result, never another's silence
                    out[rule.rule.id] = ERROR
                    continue
                if value is not False:
                    hits.setdefault(rule, []).append((item, value))
        about = [(rule, found) for rule, found in hits.items() if rule.rule.id not in out]
        for rule, outcome in (*self._effects(view, about), *self._calls(view, guarded=only is None)):
            if outcome is not None and (only is None or rule.rule.id in only):
                final = outcome if rule.rule.rate is None else count(self.policy.id, rule.rule, outcome, view, state)
                if final is not None:
                    out[rule.rule.id] = final
        for rule in self.sequences if out else ():
            if only is None or rule.rule.id in only:
                chained = advance(self.policy.id, rule.rule, out, view, state)
                if chained is not None:
                    out[rule.rule.id] = chained
        return out

    def _effects(
        self, view: View, hits: list[tuple[CompiledRule, Found]]
    ) -> Iterable[tuple[CompiledRule, Outcome | None]]:
        for rule, found in hits:
            try:
                yield rule, rule.settle(view, found)
            except Exception:  # as above
                yield rule, ERROR

    def _calls(self, view: View, *, guarded: bool) -> Iterable[Answer]:
        fields = view.fields
        for rule in self.always:
            if guarded and rule.guard is not None and fields.get(rule.guard) is None:
                continue
            if not rule.ready:
                rule.prepare()
            try:
                yield rule, rule.settle_call(view)
            except Exception:  # as above
                yield rule, ERROR


def _entries_for(rule: CompiledRule, domain: str, action: str) -> Test | None:
    """The rule's entries that could match this domain and action; None when there are none."""
    effects = rule.rule.effects
    assert effects is not None
    known = "unknown" not in (domain, action)
    fitting = [
        e
        for e in effects.entries
        if (e.domains is None or domain in e.domains or domain == "unknown")
        and (e.actions is None or action in e.actions or action == "unknown")
    ]
    if not fitting:
        return None
    if not rule.ready:
        rule.prepare()
    return any_of([compile_entry(e, known=known) for e in fitting])
