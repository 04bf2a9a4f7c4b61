"""The checker's part for conditions: ``match:``, ``effects:``, ``where:`` and groups, to ``model`` trees.

In: a strict YAML document and a path into it. Out: conditions; each mistake goes to ``Notes`` with line and column.
"""

from __future__ import annotations

from typing import Any

from classifiers.strict_yaml import Path
from policies.compile import RANK
from policies.diagnostic import Notes
from policies.model import All, Any_, Condition, Effects, Entry, Leaf, None_, Targets
from policies.pattern import OPERATORS, Pattern
from policies.vocab import EFFECT_FIELDS, FIELDS, Field
from policies.words import suggest, unknown_key, unknown_operator, unknown_value

Lists = dict[str, tuple[str, ...]]

# Keys of match that are globs over one field; a tool is found by its wire name or its canonical one.
GLOBS: dict[str, tuple[str, ...]] = {
    "tools": ("call.name", "call.canonical"),
    "agents": ("agent.id",),
    "sessions": ("session.id",),
    "models": ("model.name",),
    "protocols": ("exchange.protocol",),
    "environments": ("env.name",),
    "upstream_hosts": ("exchange.upstream",),
}
GROUPS: dict[str, type[Any_ | All | None_]] = {"any": Any_, "all": All, "none": None_}
MATCH_KEYS = ("effects", *GLOBS, "where", *GROUPS)
COMPARISONS = ("lt", "lte", "gt", "gte")
TEXTS = ("glob", "under", "prefix", "suffix", "contains")
VALUE_OPERATORS = ("not", *COMPARISONS, *TEXTS)


class MatchChecker:
    """Reads conditions of one document. ``lists``: name → its words; ``used`` collects the names referred to."""

    def __init__(self, notes: Notes, lists: dict[str, tuple[str, ...]]) -> None:
        self.notes, self.lists = notes, lists
        self.used: set[str] = set()

    def match(self, value: Any, path: Path) -> All:
        """A ``match:`` mapping (or an item of a group): all its keys must hold."""
        at = self.notes.doc.at(*path)
        if not isinstance(value, dict):
            self.notes.error(f"a mapping of conditions is expected, with {', '.join(MATCH_KEYS)}", *path)
            return All((), at)
        conditions: list[Condition] = []
        for key, inner in value.items():
            here = (*path, key)
            if key == "effects":
                conditions.append(self.effects(inner, here))
            elif key in GLOBS:
                conditions.append(self.globs(key, inner, here))
            elif key == "where":
                conditions += self.where(inner, here)
            elif key in GROUPS:
                conditions.append(self.group(key, inner, here))
            elif key in FIELDS or key in EFFECT_FIELDS:
                place = "under 'where:'" if key in FIELDS else "in an entry of 'effects:'"
                self.notes.error(f"'{key}' belongs {place}", *here, key=True, code="key")
            else:
                self.notes.error(unknown_key(key, MATCH_KEYS), *here, key=True, code="key")
        if not value:
            self.notes.error("an empty match would match everything; say what is meant", *path)
        return All(tuple(conditions), at)

    def group(self, key: str, value: Any, path: Path) -> Condition:
        if not isinstance(value, list) or not value:
            self.notes.error(f"'{key}' takes a list of conditions", *path)
            value = []
        parts = tuple(self.match(v, (*path, i)) for i, v in enumerate(value))
        return GROUPS[key](parts, self.notes.doc.at_key(*path))

    def globs(self, key: str, value: Any, path: Path) -> Condition:
        words = self.words(value, path)
        at = self.notes.doc.at_key(*path)
        for i, word in enumerate(words):
            if word in {"*", "**"}:
                self.notes.warn(
                    f"'{word}' under '{key}' matches every one of them", *path, i, code="matches-everything"
                )
        if key == "upstream_hosts":
            words = tuple(w for word in words for w in ((word,) if ":" in word else (word, word + ":*")))
        leaves = tuple(Leaf(field, "glob", words, at) for field in GLOBS[key])
        return leaves[0] if len(leaves) == 1 else Any_(leaves, at)

    def effects(self, value: Any, path: Path) -> Effects:
        if not isinstance(value, list) or not value:
            hint = "; put '- ' before the first key" if isinstance(value, dict) else ""
            self.notes.error(f"'effects' takes a list of entries{hint}", *path)
            value = []
        entries = tuple(self.entry(v, (*path, i)) for i, v in enumerate(value))
        return Effects(entries, self.notes.doc.at_key(*path))

    def entry(self, value: Any, path: Path) -> Entry:
        """One entry of ``effects:``, of a scope or of a forbidden list."""
        leaves: list[Leaf] = []
        targets: list[Targets] = []
        if not isinstance(value, dict) or not value:
            self.notes.error(
                "an entry of 'effects' is a mapping, for example {domain: filesystem, action: delete}", *path
            )
            value = {}
        for key, inner in value.items():
            here = (*path, key)
            if key in {"target", "not_target"}:
                patterns = tuple(self.patterns(inner, here))
                targets.append(Targets(patterns, key == "not_target", self.notes.doc.at_key(*here)))
            elif key in EFFECT_FIELDS:
                leaves += self.leaves(FIELDS["effect." + key], inner, here)
            else:
                self.notes.error(unknown_key(key, (*EFFECT_FIELDS, "not_target")), *here, key=True, code="key")
        at = self.notes.doc.at(*path)
        return Entry(tuple(leaves), tuple(targets), _values(leaves, "domain"), _values(leaves, "action"), at)

    def where(self, value: Any, path: Path) -> list[Leaf]:
        if not isinstance(value, dict) or not value:
            self.notes.error("'where' is a mapping from vocabulary fields to values", *path)
            return []
        out: list[Leaf] = []
        for name, inner in value.items():
            here = (*path, name)
            if name not in FIELDS:
                what = unknown_key(name, FIELDS).replace("unknown key", "unknown field")
                self.notes.error(what, *here, key=True, code="field")
            elif name.startswith("effect."):
                short = name.removeprefix("effect.")
                what = f"'{name}' is about one effect: write '{short}:' in an entry of 'effects:'"
                self.notes.error(what, *here, key=True, code="field")
            else:
                out += self.leaves(FIELDS[name], inner, here)
        return out

    # --- values ---

    def leaves(self, field: Field, value: Any, path: Path) -> list[Leaf]:
        """A value, a list (any of), or operators (all of)."""
        if not isinstance(value, dict):
            return [Leaf(field.name, "eq", self.values(field, value, path), self.notes.doc.at_key(*path))]
        out: list[Leaf] = []
        for op, inner in value.items():
            here = (*path, op)
            at = self.notes.doc.at_key(*path)
            if op == "not":
                out.append(Leaf(field.name, op, self.values(field, inner, here), at))
            elif op in COMPARISONS:
                out.append(Leaf(field.name, op, self.limit(field, inner, here), at))
            elif op in TEXTS:
                if field.type not in {"string", "strings"}:
                    self.notes.error(f"'{op}' compares text, and '{field.name}' is {_a(field)}", *here, key=True)
                out.append(Leaf(field.name, op, self.words(inner, here), at))
            else:
                what = unknown_operator(op, VALUE_OPERATORS)
                self.notes.error(what, *here, key=True, code="operator")
        if not value:
            self.notes.error("no operator given; one of: " + ", ".join(VALUE_OPERATORS), *path)
        return out

    def limit(self, field: Field, value: Any, path: Path) -> Any:
        ranks = RANK.get(field.name)
        if ranks is not None:
            if not isinstance(value, str) or value not in ranks:
                self.notes.error(unknown_value(value, ranks, f"'{field.name}'"), *path)
                return next(iter(ranks))
        elif not field.ordered:
            self.notes.error(f"'{path[-1]}' compares numbers, and '{field.name}' is {_a(field)}", *path, key=True)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            self.notes.error(f"'{path[-1]}' takes a number, not '{value}'", *path)
            return 0
        return value

    def values(self, field: Field, value: Any, path: Path) -> tuple[Any, ...]:
        if isinstance(value, str) and value.startswith("$") and field.type in {"string", "strings"}:
            return self.words(value, path)
        if value == []:
            self.notes.error("an empty list can never match", *path)
        items = value if isinstance(value, list) else [value]
        paths = [(*path, i) for i in range(len(items))] if isinstance(value, list) else [path]
        return tuple(self.one(field, v, p) for v, p in zip(items, paths, strict=True))

    def one(self, field: Field, value: Any, path: Path) -> Any:
        short = field.name.removeprefix("effect.")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is None:
            what = f"'{short}' has no value; an absent field is unknown, so there is no test for null"
        elif field.values and value not in field.values:
            what = unknown_value(value, field.values, f"'{short}'")
        elif field.type == "boolean" and not isinstance(value, bool):
            what = f"'{short}' is true or false, not '{value}'"
        elif field.type in {"integer", "number"} and not number:
            what = f"'{short}' is a number, not '{value}'"
        elif field.type in {"string", "strings"} and not isinstance(value, str):
            what = f"'{short}' is text; write \"{value}\" in quotes"
        else:
            return value
        self.notes.error(what, *path)
        return ""

    # --- words and lists ---

    def words(self, value: Any, path: Path) -> tuple[str, ...]:
        """Text, a list of text, ``$list`` names in either place."""
        items = value if isinstance(value, list) else [value]
        paths = [(*path, i) for i in range(len(items))] if isinstance(value, list) else [path]
        if value == []:
            self.notes.error("an empty list can never match", *path)
        out: list[str] = []
        for item, here in zip(items, paths, strict=True):
            if not isinstance(item, str) or not item:
                self.notes.error(f"text is expected, not '{item}'", *here)
            elif item.startswith("$"):
                out += self.named(item[1:], here)
            else:
                out.append(item)
        return tuple(out)

    def named(self, name: str, path: Path) -> tuple[str, ...]:
        self.used.add(name)
        if name not in self.lists:
            self.notes.error(f"unknown list '${name}'{suggest(name, self.lists)}", *path, code="list")
        return self.lists.get(name, ())

    def patterns(self, value: Any, path: Path) -> list[Pattern]:
        if isinstance(value, list) and value:
            return [p for i, v in enumerate(value) for p in self.patterns(v, (*path, i))]
        if not isinstance(value, dict):
            return [p for word in self.words(value, path) if (p := self.pattern("glob", word, path))]
        out = []
        for op, inner in value.items():
            here = (*path, op)
            if op not in OPERATORS:
                what = unknown_operator(op, OPERATORS)
                self.notes.error(what, *here, key=True, code="operator")
                continue
            out += [p for word in self.words(inner, here) if (p := self.pattern(op, word, here))]
        return out

    def pattern(self, op: str, word: str, path: Path) -> Pattern | None:
        prefix, colon, rest = word.partition(":")
        if op == "glob" and colon and prefix in OPERATORS:
            self.notes.error(f"write {{{prefix}: {rest.strip()}}}, an operator is a key of its own", *path)
        elif op == "glob" and "://" in word:
            self.notes.error(
                f"'{word}' is a URL; a target is a host: '{word.split('://')[1].split('/', maxsplit=1)[0]}'",
                *path,
            )
        elif op == "glob" and any(c in word for c in "[]{}"):
            self.notes.error(f"'{word}': globs know only *, ** and ?; write a list instead of [] or {{}}", *path)
        elif op == "glob" and word == "**":
            self.notes.warn("'**' matches every target; leave 'target' out", *path, code="matches-everything")
        elif op == "glob" and "**" in word.replace("/**", "").removeprefix("**").replace(":**", ""):
            self.notes.warn(f"'{word}': ** is any number of whole segments only between slashes", *path, code="glob")
        try:
            return Pattern(op, word)
        except ValueError:
            self.notes.error(f"'{word}' is no network; for example 10.0.0.0/8", *path)
            return None


def _values(leaves: list[Leaf], name: str) -> frozenset[str] | None:
    found = [frozenset(leaf.value) for leaf in leaves if leaf.field == f"effect.{name}" and leaf.op == "eq"]
    return frozenset.intersection(*found) if found else None


def _a(field: Field) -> str:
    if field.values:
        return "one of " + ", ".join(field.values[:6]) + (", …" if len(field.values) > 6 else "")
    names = {"boolean": "true or false", "integer": "a number", "number": "a number", "strings": "a list of text"}
    return names.get(field.type, "text")
