"""An objective file: what was asked, by whom, until when, and the scope it is allowed to mean. Checked like a policy.

In: a strict YAML document. Out: an ``Objective`` and the diagnostics. ``statement`` is recorded, never interpreted:
verdicts come from ``scope``, ``forbidden`` and ``budget`` alone. Sugar (``run``, ``repos``, ``hosts``, ``cloud``)
becomes effect entries here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from classifiers.strict_yaml import Mapped, Path
from policies.check_match import MatchChecker
from policies.check_rule import read_id, text
from policies.check_tests import VERDICTS, read_tests
from policies.diagnostic import Notes
from policies.model import Entry, Leaf, Targets, Test
from policies.pattern import Pattern
from policies.words import instant, size_bytes, suggest, unknown_key

KEYS = (
    "objective", "id", "statement", "declared_by", "valid", "bind", "scope", "forbidden", "budget", "delegation",
    "tests", "lists",
)  # fmt: skip
SCOPE_KEYS = ("tools", "effects", "run", "repos", "hosts", "cloud")
BINDS = ("path_segment", "header", "api_key_hmac", "session", "agent", "listener", "unix_socket")
BUDGETS = ("calls", "effects", "creates", "modifies", "deletes", "executes", "sends", "hosts", "bytes_out")
RUNS = ("tests", "build", "lint", "format")
CLOUD_KEYS = ("provider", "accounts", "regions", "namespaces", "actions")
PROVIDERS = ("aws", "gcp", "azure", "k8s")


@dataclass(frozen=True, slots=True)
class Forbidden:
    id: str
    because: str
    tools: tuple[str, ...]
    entries: tuple[Entry, ...]
    at: str


@dataclass(frozen=True, slots=True)
class Objective:
    """``tools`` None: any tool. ``entries`` None: the scope says nothing about effects, so any effect of its tools."""

    id: str
    hash: str
    name: str
    statement: str = ""
    declared_by: dict[str, Any] = field(default_factory=dict)
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    bind: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] | None = None
    entries: tuple[Entry, ...] | None = None
    forbidden: tuple[Forbidden, ...] = ()
    budget: dict[str, int] = field(default_factory=dict)
    delegation: str = "narrow"
    tests: tuple[Test, ...] = ()
    scope_at: str = ""
    delegation_at: str = ""


def check_objective(doc: Mapped, digest: str) -> tuple[Objective | None, Notes]:
    """The objective (None when the document is no mapping) and every mistake; use it only when there is no error."""
    notes = Notes(doc)
    if not isinstance(doc.value, dict):
        notes.error("an objective file is a mapping that starts with 'objective: 1'")
        return None, notes
    if "policy" in doc.value and "objective" not in doc.value:
        notes.error("this is a policy file: onlooker policy check", "policy", key=True, code="version")
        return None, notes
    return _Reader(notes, doc.value).read(digest), notes


class _Reader:
    def __init__(self, notes: Notes, value: dict[str, Any]) -> None:
        self.notes, self.value = notes, value
        self.matcher = MatchChecker(notes, self._lists(value.get("lists", {})))

    def read(self, digest: str) -> Objective:
        notes, value = self.notes, self.value
        if value.get("objective") != 1:
            notes.error("'objective: 1' is expected: the version of this format", "objective", code="version")
        for key in value:
            if key not in KEYS:
                notes.error(unknown_key(key, KEYS), key, key=True, code="key")
        scope = self._mapping("scope", SCOPE_KEYS)
        if "scope" not in value:
            notes.error("an objective needs a 'scope': what may be done for it", code="missing")
        valid = self._mapping("valid", ("from", "until"))
        return Objective(
            id=read_id(notes, value.get("id"), ("id",), "an objective"),
            hash=digest,
            name=notes.doc.name,
            statement=text(notes, value, "statement", ()),
            declared_by=self._mapping("declared_by", ("kind", "id", "via", "at")),
            valid_from=self._instant(valid, "from"),
            valid_until=self._instant(valid, "until"),
            bind=self._bind(value.get("bind", [])),
            tools=self.matcher.words(scope["tools"], ("scope", "tools")) if "tools" in scope else None,
            entries=self._entries(scope),
            forbidden=self._forbidden(value.get("forbidden", [])),
            budget=self._budget(self._mapping("budget", BUDGETS)),
            delegation=self._delegation(value.get("delegation", "narrow")),
            tests=tuple(read_tests(notes, value.get("tests", []), ("tests",), VERDICTS)),
            scope_at=notes.doc.at_key("scope"),
            delegation_at=notes.doc.at_key("delegation"),
        )

    def _lists(self, value: Any) -> dict[str, tuple[str, ...]]:
        if not isinstance(value, dict):
            self.notes.error("'lists' is a mapping from names to lists of text", "lists")
            return {}
        plain = MatchChecker(self.notes, {})
        return {name: plain.words(words, ("lists", name)) for name, words in value.items()}

    def _mapping(self, key: str, keys: tuple[str, ...]) -> dict[str, Any]:
        value = self.value.get(key, {})
        if not isinstance(value, dict):
            self.notes.error(f"'{key}' is a mapping with {', '.join(keys)}", key)
            return {}
        for inner in value:
            if inner not in keys:
                self.notes.error(unknown_key(inner, keys), key, inner, key=True, code="key")
        return value

    def _instant(self, valid: dict[str, Any], key: str) -> datetime | None:
        if key not in valid:
            return None
        value = instant(valid[key])
        if value is None:
            what = f"'{key}' is a time with its offset, for example 2026-11-30T08:00:00Z, not '{valid[key]}'"
            self.notes.error(what, "valid", key)
        return value

    def _bind(self, value: Any) -> tuple[tuple[str, str], ...]:
        if not isinstance(value, list):
            self.notes.error("'bind' is a list, for example [{path_segment: my-id}]", "bind")
            return ()
        out = []
        for i, item in enumerate(value):
            if not isinstance(item, dict) or len(item) != 1:
                self.notes.error(f"a binding is one of: {', '.join(BINDS)}", "bind", i)
                continue
            ((kind, wanted),) = item.items()
            if kind not in BINDS:
                self.notes.error(unknown_key(kind, BINDS), "bind", i, kind, key=True, code="key")
            elif not isinstance(wanted, str) or not wanted:
                self.notes.error(f"'{kind}' is text, not '{wanted}'", "bind", i, kind)
            else:
                out.append((kind, wanted))
        return tuple(out)

    def _entries(self, scope: dict[str, Any]) -> tuple[Entry, ...] | None:
        if not set(scope) & {"effects", "run", "repos", "hosts", "cloud"}:
            return None
        out: list[Entry] = []
        if "effects" in scope:
            out += self.matcher.effects(scope["effects"], ("scope", "effects")).entries
        sugar: dict[str, Callable[[Any, Path], list[Entry]]] = {
            "run": self._run, "repos": self._repos, "hosts": self._hosts, "cloud": self._cloud,
        }  # fmt: skip
        for key, make in sugar.items():
            if key in scope:
                out += make(scope[key], ("scope", key))
        return tuple(out)

    def _entry(self, path: Path, domain: str, actions: tuple[str, ...], targets: list[str]) -> Entry:
        at = self.notes.doc.at(*path)
        leaves = (Leaf("effect.domain", "eq", (domain,), at), Leaf("effect.action", "eq", actions, at))
        patterns = (Targets(tuple(Pattern("glob", t) for t in targets), False, at),) if targets else ()
        return Entry(leaves, patterns, frozenset({domain}), frozenset(actions), at)

    def _run(self, value: Any, path: Path) -> list[Entry]:
        """Known runners: one ``code execute`` of the project (09-contracts: implied effects)."""
        for i, word in enumerate(value if isinstance(value, list) else [value]):
            if word not in RUNS:
                self.notes.error(f"'run' cannot be '{word}'{suggest(str(word), RUNS)}", *path, i)
        return [self._entry(path, "code", ("execute",), ["project"])]

    def _repos(self, value: Any, path: Path) -> list[Entry]:
        targets = [f"git:{w.removeprefix('https://').removesuffix('.git')}#*" for w in self.matcher.words(value, path)]
        return [self._entry(path, "vcs", ("read", "receive", "create", "modify", "send"), targets)]

    def _hosts(self, value: Any, path: Path) -> list[Entry]:
        return [self._entry(path, "network", ("send", "receive"), list(self.matcher.words(value, path)))]

    def _cloud(self, value: Any, path: Path) -> list[Entry]:
        if not isinstance(value, dict) or value.get("provider") not in PROVIDERS:
            self.notes.error(f"'cloud' is a mapping with a provider: {', '.join(PROVIDERS)}", *path)
            return []
        for key in value:
            if key not in CLOUD_KEYS:
                self.notes.error(unknown_key(key, CLOUD_KEYS), *path, key, key=True, code="key")
        words = {k: self.matcher.words(v, (*path, k)) for k, v in value.items() if k != "provider" and k in CLOUD_KEYS}
        accounts, regions = words.get("accounts", ("*",)), words.get("regions", ("*",))
        if value["provider"] == "k8s":
            targets = [f"k8s:{a}:{n}:*" for a in accounts for n in words.get("namespaces", ("*",))]
        else:
            targets = [f"{value['provider']}:{a}:{r}:*:*" for a in accounts for r in regions]
        return [self._entry(path, "cloud", words.get("actions", ("read", "create", "modify")), targets)]

    def _forbidden(self, value: Any) -> tuple[Forbidden, ...]:
        if not isinstance(value, list):
            self.notes.error("'forbidden' is a list", "forbidden")
            return ()
        out = []
        keys = ("id", "because", "effects", "tools")
        for i, item in enumerate(value):
            path: Path = ("forbidden", i)
            if not isinstance(item, dict):
                self.notes.error(f"a forbidden entry is a mapping with {', '.join(keys)}", *path)
                continue
            for key in item:
                if key not in keys:
                    self.notes.error(unknown_key(key, keys), *path, key, key=True, code="key")
            if "effects" not in item and "tools" not in item:
                self.notes.error("a forbidden entry names 'effects' or 'tools'", *path, code="missing")
            entries = self.matcher.effects(item["effects"], (*path, "effects")).entries if "effects" in item else ()
            tools = self.matcher.words(item["tools"], (*path, "tools")) if "tools" in item else ()
            name = read_id(self.notes, item.get("id"), (*path, "id"), "a forbidden entry")
            because = text(self.notes, item, "because", path)
            out.append(Forbidden(name, because, tools, entries, self.notes.doc.at(*path)))
        return tuple(out)

    def _budget(self, value: dict[str, Any]) -> dict[str, int]:
        out = {}
        for key, limit in value.items():
            number = size_bytes(limit) if key == "bytes_out" or not isinstance(limit, str) else None
            if number is None:
                size = " or a size such as 50MB" if key == "bytes_out" else ""
                self.notes.error(f"'{key}' is a number{size}, not '{limit}'", "budget", key)
            else:
                out[key] = number
        return out

    def _delegation(self, value: Any) -> str:
        if value not in ("narrow", "none"):
            self.notes.error(f"'delegation' is narrow or none, not '{value}'", "delegation")
        return str(value)
