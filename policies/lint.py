"""What is legal in a rule and probably a mistake: warnings beside the checker's errors.

In: a checked rule, its place, the time. Out: warnings in ``Notes``.
"""

from __future__ import annotations

from datetime import datetime

from classifiers.strict_yaml import Path
from policies.diagnostic import Notes
from policies.model import All, Any_, Condition, Effects, Entry, Exception_, Leaf, None_, Rule

# Neighbours that are easily taken for one another (09-contracts, implied effects): pattern start → the domain meant.
_SIBLINGS = {
    "k8s:": ("containers", "cloud"),
    "aws:": ("storage", "cloud"),
    "gcp:": ("storage", "cloud"),
    "azure:": ("storage", "cloud"),
    "cron:": ("services", "scheduler"),
    "service:": ("scheduler", "services"),
    "git:": ("network", "vcs"),
    "db:": ("storage", "database"),
}


def lint_rule(notes: Notes, rule: Rule, path: Path, now: datetime) -> None:
    if not rule.tests and rule.status != "deprecated":
        notes.warn(f"rule '{rule.id}' has no tests", *path, "id", code="no-tests")
    if rule.match is not None:
        _unsatisfiable(notes, rule.match, (*path, "match"))
        for entry in _entries(rule.match):
            _entry(notes, entry)
    for i, exception in enumerate(rule.exceptions):
        _exception(notes, rule, exception, (*path, "exceptions", i), now)


def _entries(condition: Condition) -> list[Entry]:
    if isinstance(condition, Effects):
        return list(condition.entries)
    if isinstance(condition, All | Any_ | None_):
        return [e for c in condition.conditions for e in _entries(c)]
    return []


def _all_leaves(condition: All) -> list[Leaf]:
    """Leaves that must all hold, through ``all:`` groups."""
    inner = [leaf for c in condition.conditions if isinstance(c, All) for leaf in _all_leaves(c)]
    return [c for c in condition.conditions if isinstance(c, Leaf)] + inner


def _unsatisfiable(notes: Notes, match: All, path: Path) -> None:
    """Two tests of one field that cannot both hold: bounds that cross, values that never meet."""
    by_field: dict[str, list[Leaf]] = {}
    for leaf in _all_leaves(match):
        by_field.setdefault(leaf.field, []).append(leaf)
    for name, leaves in by_field.items():
        if _never(leaves):
            notes.warn(f"'{name}': no value can satisfy all of these", *path, code="unsatisfiable")


def _never(leaves: list[Leaf]) -> bool:
    low = [x.value for x in leaves if x.op in {"gt", "gte"} and isinstance(x.value, int | float)]
    high = [x.value for x in leaves if x.op in {"lt", "lte"} and isinstance(x.value, int | float)]
    strict = any(x.op in {"gt", "lt"} for x in leaves)
    if low and high and (max(low) > min(high) or (strict and max(low) == min(high))):
        return True
    sets = [set(x.value) for x in leaves if x.op == "eq"]
    barred = {v for x in leaves if x.op == "not" for v in x.value}
    return bool(sets) and all(sets) and not (set.intersection(*sets) - barred)


def _entry(notes: Notes, entry: Entry) -> None:
    wanted = {p.text for t in entry.targets if not t.negated for p in t.patterns}
    unwanted = {p.text for t in entry.targets if t.negated for p in t.patterns}
    line, col = _mark(entry.at)
    if wanted and wanted <= unwanted:
        notes.place("warning", "'not_target' takes away all of 'target'", line, col, "unsatisfiable")
    for text in sorted(wanted | unwanted):
        start = next((s for s in _SIBLINGS if text.startswith(s)), None)
        if start and entry.domains == frozenset({_SIBLINGS[start][0]}):
            meant = _SIBLINGS[start][1]
            notes.place(
                "warning", f"targets that start with {start} are effects of domain {meant}", line, col, "sibling-domain"
            )


def _exception(notes: Notes, rule: Rule, exception: Exception_, path: Path, now: datetime) -> None:
    if exception.until <= now:
        notes.warn(f"exception '{exception.id}' ran out on {exception.until:%Y-%m-%d}", *path, "until", code="expired")
    narrow = [c for c in exception.match.conditions if not isinstance(c, Effects)]
    targets = [t for e in _entries(exception.match) for t in e.targets]
    if rule.effects is not None and not narrow and not targets:
        what = f"exception '{exception.id}' names neither who nor which target: it is as broad as its rule"
        notes.warn(what, *path, "match", code="broad-exception")


def _mark(at: str) -> tuple[int, int]:
    _, line, col = at.rsplit(":", 2)
    return int(line), int(col)
