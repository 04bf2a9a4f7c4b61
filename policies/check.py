"""The checker: a policy document, or a bare rule file, to ``model`` values, with every mistake of the file in one run.

In: a strict YAML document, the lists it inherits, the time (for exceptions that ran out). Out: ``Checked``: the rules
and settings that could be read and the diagnostics. A file with an error is never used; ``policies.load`` decides that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

from classifiers.strict_yaml import Mapped, Path
from policies.check_match import Lists, MatchChecker
from policies.check_rule import ON_UNKNOWN, SEVERITIES, RuleReader, choice, read_id, text
from policies.diagnostic import Notes
from policies.model import Rule
from policies.words import unknown_key

POLICY_KEYS = (
    "policy", "id", "version", "owner", "description", "timezone", "defaults", "lists", "extends", "overrides", "rules",
)  # fmt: skip


@dataclass(slots=True)
class Checked:
    """What one file says. ``overrides``: rule id → (its settings, its place)."""

    id: str = ""
    version: str | None = None
    timezone: str = "UTC"
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    extends: list[tuple[str, str]] = field(default_factory=list)
    overrides: dict[str, tuple[dict[str, Any], str]] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    notes: Notes = field(default_factory=lambda: Notes(Mapped(None, "")))


def check_policy(doc: Mapped, now: datetime, inherited: Lists | None = None) -> Checked:
    """Check a policy file, or a file that holds one bare rule (``rule: 1``).

    ``inherited``: lists of the files around this one; they win over the file's own, so that a policy's list replaces
    the one of the library it extends.
    """
    out = Checked(notes=Notes(doc))
    value = doc.value
    if not isinstance(value, dict):
        out.notes.error("a policy file is a mapping that starts with 'policy: 1'")
        return out
    if "objective" in value and "policy" not in value:
        out.notes.error("this is an objective file: onlooker objective check", "objective", key=True, code="version")
        return out
    if "rule" in value:
        _version(out.notes, value, "rule")
        reader = RuleReader(out.notes, inherited or {}, {}, now)
        out.used = reader.matcher.used
        out.rules.append(reader.rule({k: v for k, v in value.items() if k != "rule"}, ()))
        out.id = out.rules[0].id
        return out
    return _Reader(out, value, now, inherited or {}).read()


class _Reader:
    def __init__(
        self, out: Checked, value: dict[str, Any], now: datetime, inherited: dict[str, tuple[str, ...]]
    ) -> None:
        self.out, self.value, self.now, self.notes = out, value, now, out.notes
        self.inherited = inherited

    def read(self) -> Checked:
        out, value = self.out, self.value
        _version(self.notes, value, "policy")
        for key in value:
            if key not in POLICY_KEYS:
                self.notes.error(unknown_key(key, POLICY_KEYS), key, key=True, code="key")
        out.id = read_id(self.notes, value.get("id"), ("id",), "a policy")
        out.version = text(self.notes, value, "version", ()) or None
        out.timezone = self.timezone(value.get("timezone", "UTC"))
        out.extends = self.extends(value.get("extends", []))
        out.lists = self.lists(value.get("lists", {}))
        reader = RuleReader(
            self.notes, {**self.inherited, **out.lists}, self.defaults(value.get("defaults", {})), self.now
        )
        out.rules = self.rules(reader, value.get("rules", []))
        out.overrides = self.overrides(reader, value.get("overrides", []))
        out.used = reader.matcher.used
        return out

    def timezone(self, name: Any) -> str:
        if not isinstance(name, str) or name not in available_timezones():
            self.notes.error(f"'{name}' is no timezone; for example Europe/Berlin", "timezone")
            return "UTC"
        return str(ZoneInfo(name))

    def extends(self, value: Any) -> list[tuple[str, str]]:
        items = value if isinstance(value, list) else [value]
        out = []
        for i, item in enumerate(items):
            if isinstance(item, str) and item:
                out.append((item, self.notes.doc.at("extends", i)))
            else:
                self.notes.error("a file's path or 'onlooker:starter' is expected", "extends", i)
        return out

    def lists(self, value: Any) -> dict[str, tuple[str, ...]]:
        if not isinstance(value, dict):
            self.notes.error("'lists' is a mapping from names to lists of text", "lists")
            return {}
        plain = MatchChecker(self.notes, {})
        return {name: plain.words(words, ("lists", name)) for name, words in value.items()}

    def defaults(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.notes.error("'defaults' is a mapping with severity and on_unknown", "defaults")
            return {}
        for key, inner in value.items():
            options = {"severity": SEVERITIES, "on_unknown": ON_UNKNOWN}.get(key)
            if options is None:
                self.notes.error(unknown_key(key, ("severity", "on_unknown")), "defaults", key, key=True, code="key")
            else:
                choice(self.notes, inner, options, ("defaults", key))
        return value

    def rules(self, reader: RuleReader, value: Any) -> list[Rule]:
        if not isinstance(value, list):
            self.notes.error("'rules' is a list", "rules")
            return []
        out: list[Rule] = []
        seen: dict[str, str] = {}
        for i, item in enumerate(value):
            if not isinstance(item, dict):
                self.notes.error("a rule is a mapping that starts with an id", "rules", i)
                continue
            rule = reader.rule(item, ("rules", i))
            if rule.id in seen:
                self.notes.error(
                    f"duplicate rule id '{rule.id}'; the first is at {seen[rule.id]}", "rules", i, "id", code="id"
                )
            seen.setdefault(rule.id, rule.at)
            out.append(rule)
        return out

    def overrides(self, reader: RuleReader, value: Any) -> dict[str, tuple[dict[str, Any], str]]:
        if not isinstance(value, list):
            self.notes.error("'overrides' is a list of {id, …}", "overrides")
            return {}
        out: dict[str, tuple[dict[str, Any], str]] = {}
        for i, item in enumerate(value):
            path: Path = ("overrides", i)
            if not isinstance(item, dict) or not isinstance(item.get("id"), str):
                self.notes.error("an override names the rule's id and what changes", *path)
                continue
            out[item["id"]] = (reader.override(item, path), self.notes.doc.at(*path, "id"))
        return out


def _version(notes: Notes, value: dict[str, Any], key: str) -> None:
    if value.get(key) != 1:
        notes.error(f"'{key}: 1' is expected: the version of this format", key, code="version")
