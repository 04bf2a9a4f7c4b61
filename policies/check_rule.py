"""The checker's part for one rule: its keys, conditions, sequence, rate, exceptions, tests and tags, to a ``Rule``.

In: a rule's mapping and its place in a strict document, the policy's lists and defaults. Out: ``model.Rule``; every
mistake goes to ``Notes``.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from classifiers.strict_yaml import Path
from policies.check_match import MatchChecker
from policies.check_tests import read_tests
from policies.diagnostic import Notes
from policies.lint import lint_rule
from policies.model import Exception_, Rate, Rule, Sequence
from policies.tags import known_tag
from policies.verdict import Severity
from policies.vocab import FIELDS
from policies.words import duration_s, instant, suggest, unknown_key, unknown_value

RULE_KEYS = (
    "id", "description", "severity", "status", "on_unknown", "owner", "tags", "match", "sequence", "rate", "message",
    "falsepositives", "references", "exceptions", "tests",
)  # fmt: skip
OVERRIDE_KEYS = ("id", "severity", "status", "on_unknown", "owner", "enabled", "exceptions")
SEVERITIES = tuple(str(s) for s in Severity)
STATUSES = ("experimental", "test", "stable", "deprecated")
ON_UNKNOWN = ("report", "flag", "ignore")
_ID = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-")


class RuleReader:
    """Reads rules with the policy's lists and defaults."""

    def __init__(
        self, notes: Notes, lists: dict[str, tuple[str, ...]], defaults: dict[str, Any], now: datetime
    ) -> None:
        self.notes, self.now, self.defaults = notes, now, defaults
        self.matcher = MatchChecker(notes, lists)

    def rule(self, value: dict[str, Any], path: Path) -> Rule:
        for key in value:
            if key not in RULE_KEYS:
                self.notes.error(unknown_key(key, RULE_KEYS), *path, key, key=True, code="key")
        notes = self.notes
        rule = Rule(
            id=read_id(notes, value.get("id"), (*path, "id"), "a rule"),
            at=notes.doc.at(*path, "id"),
            description=text(notes, value, "description", path),
            severity=Severity(choice(notes, self._or(value, "severity", "medium"), SEVERITIES, (*path, "severity"))),
            status=choice(notes, value.get("status", "stable"), STATUSES, (*path, "status")),
            on_unknown=choice(notes, self._or(value, "on_unknown", "report"), ON_UNKNOWN, (*path, "on_unknown")),
            owner=text(notes, value, "owner", path) or None,
            tags=self.tags(value.get("tags", []), (*path, "tags")),
            match=self.matcher.match(value["match"], (*path, "match")) if "match" in value else None,
            sequence=self.sequence(value["sequence"], (*path, "sequence")) if "sequence" in value else None,
            rate=self.rate(value["rate"], (*path, "rate")) if "rate" in value else None,
            message=self.message(value, path),
            falsepositives=self._texts(value.get("falsepositives", []), (*path, "falsepositives")),
            exceptions=self.exceptions(value.get("exceptions", []), (*path, "exceptions")),
            tests=tuple(read_tests(notes, value.get("tests", []), (*path, "tests"))),
        )
        self._shape(rule, path)
        lint_rule(notes, rule, path, self.now)
        return rule

    def _shape(self, rule: Rule, path: Path) -> None:
        if rule.match is None and rule.sequence is None:
            self.notes.error(f"rule '{rule.id}' has neither 'match' nor 'sequence'", *path)
        if rule.sequence is not None and (rule.match is not None or rule.rate is not None):
            self.notes.error(
                "a sequence names rules; put 'match' and 'rate' into rules of their own", *path, "sequence"
            )
        if rule.rate is not None and rule.match is None and rule.sequence is None:
            self.notes.error("'rate' counts what 'match' finds, and there is no 'match'", *path, "rate")

    def _or(self, value: dict[str, Any], key: str, fallback: str) -> Any:
        return value.get(key, self.defaults.get(key, fallback))

    def override(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        """The settings that change, as ``dataclasses.replace`` takes them."""
        out: dict[str, Any] = {}
        readers: dict[str, Callable[[Any, Path], Any]] = {
            "severity": lambda v, p: Severity(choice(self.notes, v, SEVERITIES, p)),
            "status": lambda v, p: choice(self.notes, v, STATUSES, p),
            "on_unknown": lambda v, p: choice(self.notes, v, ON_UNKNOWN, p),
            "owner": lambda v, _: str(v),
            "enabled": self._enabled,
            "exceptions": self.exceptions,
        }
        for key, inner in value.items():
            if key in readers:
                out[key] = readers[key](inner, (*path, key))
            elif key != "id":
                self.notes.error(unknown_key(key, OVERRIDE_KEYS), *path, key, key=True, code="key")
        return out

    def _enabled(self, value: Any, path: Path) -> bool:
        if not isinstance(value, bool):
            self.notes.error(f"'enabled' is true or false, not '{value}'", *path)
        return value is not False

    def tags(self, value: Any, path: Path) -> tuple[str, ...]:
        out = self._texts(value, path)
        for i, tag in enumerate(out):
            problem = known_tag(tag)
            if problem:
                self.notes.error(problem, *path, i, code="tag")
        return out

    def _texts(self, value: Any, path: Path) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            self.notes.error(f"'{path[-1]}' is a list of text", *path)
            return ()
        return tuple(value)

    def message(self, value: dict[str, Any], path: Path) -> str:
        said = text(self.notes, value, "message", path)
        for part in said.split("{")[1:]:
            name = part.partition("}")[0]
            if name not in FIELDS:
                what = f"message: unknown field '{{{name}}}'{suggest(name, FIELDS)}"
                self.notes.error(what, *path, "message", code="field")
        return said

    def by(self, value: Any, path: Path) -> tuple[str, ...]:
        names = tuple(value) if isinstance(value, list) else (value,)
        for name in names:
            if not isinstance(name, str) or name not in FIELDS or name.startswith("effect."):
                what = f"'by' names vocabulary fields, for example session.id, not '{name}'"
                self.notes.error(what + suggest(str(name), FIELDS), *path, code="field")
        return tuple(str(n) for n in names)

    def within(self, value: Any, path: Path) -> float:
        seconds = duration_s(value)
        if seconds is None:
            self.notes.error(f"'within' is a duration such as 90s, 10m or 1h, not '{value}'", *path)
        return seconds or 0.0

    def _mapping(self, value: Any, path: Path, keys: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.notes.error(f"'{path[-1]}' is a mapping with {', '.join(keys)}", *path)
            return {}
        for key in value:
            if key not in keys:
                self.notes.error(unknown_key(key, keys), *path, key, key=True, code="key")
        for key in keys:
            if key not in value:
                self.notes.error(f"'{path[-1]}' needs '{key}'", *path, code="missing")
        return value

    def sequence(self, value: Any, path: Path) -> Sequence:
        value = self._mapping(value, path, ("by", "within", "steps"))
        steps = self._texts(value.get("steps", []), (*path, "steps"))
        if value and len(steps) < 2:
            self.notes.error("a sequence has at least two steps, each the id of a rule", *path, "steps")
        by = self.by(value.get("by", "session.id"), (*path, "by"))
        within = self.within(value.get("within", "10m"), (*path, "within"))
        return Sequence(by, within, steps, self.notes.doc.at(*path))

    def rate(self, value: Any, path: Path) -> Rate:
        value = self._mapping(value, path, ("by", "count", "more_than", "within"))
        count, field_name = _count(value.get("count", "calls"))
        if not count:
            what = f"'count' is calls, effects or distinct(a field), not '{value.get('count')}'"
            self.notes.error(what, *path, "count")
        more = value.get("more_than", 0)
        if isinstance(more, bool) or not isinstance(more, int) or more < 0:
            self.notes.error(f"'more_than' is a whole number, not '{more}'", *path, "more_than")
            more = 0
        by = self.by(value.get("by", "session.id"), (*path, "by"))
        within = self.within(value.get("within", "10m"), (*path, "within"))
        return Rate(by, count, field_name, more, within, self.notes.doc.at(*path))

    def exceptions(self, value: Any, path: Path) -> tuple[Exception_, ...]:
        if not isinstance(value, list):
            self.notes.error("'exceptions' is a list", *path)
            return ()
        return tuple(self.exception(v, (*path, i)) for i, v in enumerate(value))

    def exception(self, value: Any, path: Path) -> Exception_:
        keys = ("id", "reason", "approved_by", "until", "match")
        if not isinstance(value, dict):
            self.notes.error(f"an exception is a mapping with {', '.join(keys)}", *path)
            value = {}
        for key in value:
            if key not in keys:
                self.notes.error(unknown_key(key, keys), *path, key, key=True, code="key")
        for key in ("id", "reason", "until", "match"):
            if key not in value:
                why = {"until": " (an exception ends)", "match": " (what it excuses)"}.get(key, "")
                self.notes.error(f"an exception needs '{key}'{why}", *path, code="missing")
        until = instant(value.get("until"))
        if "until" in value and until is None:
            what = f"'until' is a time with its offset, for example 2026-12-15T00:00:00Z, not '{value['until']}'"
            self.notes.error(what, *path, "until")
        match = self.matcher.match(value.get("match", {"tools": "none"}), (*path, "match"))
        return Exception_(
            str(value.get("id", "")),
            str(value.get("reason", "")),
            str(value.get("approved_by", "")),
            until or datetime.max.replace(tzinfo=UTC),
            match,
            self.notes.doc.at(*path),
        )


def _count(value: Any) -> tuple[str, str | None]:
    if value in ("calls", "effects"):
        return value, None
    name = value.removeprefix("distinct(").removesuffix(")") if isinstance(value, str) else ""
    return ("distinct", name) if value == f"distinct({name})" and name in FIELDS else ("", None)


def read_id(notes: Notes, value: Any, path: Path, what: str) -> str:
    if value is None:
        notes.error(f"{what} needs an 'id'", *path[:-1], code="missing")
        return ""
    if not isinstance(value, str) or not value or not set(value) <= _ID:
        notes.error(f"an id is made of a-z, 0-9, dots and dashes, not '{value}'", *path, code="id")
        return str(value)
    return value


def text(notes: Notes, value: dict[str, Any], key: str, path: Path) -> str:
    found = value.get(key, "")
    if not isinstance(found, str):
        notes.error(f"'{key}' is text; write \"{found}\" in quotes", *path, key)
        return ""
    return found


def choice(notes: Notes, value: Any, options: tuple[str, ...], path: Path) -> str:
    if value not in options:
        notes.error(unknown_value(value, options, f"'{path[-1]}'"), *path)
        return options[0]
    return str(value)
