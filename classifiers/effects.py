"""What one call could do, as values: Effect, Flow, Opaque, Action. The closed sets they use are in ``vocabulary.py``.

In: nothing. Out: frozen values with a JSON form and a one-line notation that round-trips
(``delete filesystem:/srv/app recursive irreversible``). The closed sets are the product's vocabulary;
``policies/vocab.py`` builds the policy checker, the schemas and the docs from them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from classifiers.vocabulary import (
    Breadth,
    Certainty,
    Condition,
    Domain,
    FlowKind,
    OpaqueReason,
    PathScope,
    Privilege,
    Reversibility,
    Sensitivity,
    Surface,
    Tag,
    Verb,
)

__all__ = [
    "Action",
    "Breadth",
    "Certainty",
    "Condition",
    "Domain",
    "Effect",
    "Evidence",
    "Flow",
    "FlowKind",
    "Opaque",
    "OpaqueReason",
    "PathScope",
    "Privilege",
    "Reversibility",
    "Sensitivity",
    "Surface",
    "Tag",
    "Verb",
    "format_effect",
    "parse_effect",
]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where in the call's arguments an effect was read: JSON path, code points [start, end) of the decoded string."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Effect:
    """One potential effect. ``destructive`` is True, False or None (cannot be known from the request)."""

    domain: Domain
    action: Verb
    target: str | None = None
    target_raw: str | None = None
    destructive: bool | None = False
    reversibility: Reversibility = Reversibility.UNKNOWN
    breadth: Breadth = Breadth.ONE
    where: str = "local"
    privilege: Privilege = Privilege.NONE
    certainty: Certainty = Certainty.DEFINITE
    condition: Condition = Condition.ALWAYS
    dry_run: bool = False
    path_scope: PathScope | None = None
    sensitivity: Sensitivity = Sensitivity.NONE
    tags: tuple[Tag, ...] = ()
    via: tuple[str, ...] = ()
    evidence: Evidence | None = None
    filtered: bool = False  # a filter decides which of a recursive target's members are meant (find -name)

    def __str__(self) -> str:
        return format_effect(self)

    @classmethod
    def parse(cls, text: str) -> Effect:
        return parse_effect(text)

    def to_json(self) -> dict[str, Any]:
        out = {f.name: getattr(self, f.name) for f in fields(self)}
        out["tags"], out["via"] = list(self.tags), list(self.via)
        e = self.evidence
        out["evidence"] = None if e is None else {"path": e.path, "start": e.start, "end": e.end}
        return out


@dataclass(frozen=True, slots=True)
class Flow:
    """Effect ``source`` feeds effect ``sink`` (indexes into Action.effects)."""

    kind: FlowKind
    source: int | None
    sink: int | None

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "from": self.source, "to": self.sink}


@dataclass(frozen=True, slots=True)
class Opaque:
    """A part of the call whose operation could not be read, and why."""

    reason: OpaqueReason
    span: tuple[int, int] | None = None
    text: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"reason": self.reason, "span": None if self.span is None else list(self.span), "text": self.text}


@dataclass(frozen=True, slots=True)
class Action:
    """A call with its effects. ``complete`` is derived: false iff something is opaque."""

    surface: Surface
    effects: tuple[Effect, ...] = ()
    flows: tuple[Flow, ...] = ()
    opaque: tuple[Opaque, ...] = ()
    parsers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # why-notes for people: guessed mappings, parser readings, knowledge file:line
    cwd_after: str | None = None  # where a shell that keeps state stands afterwards; None: unknown or unchanged
    claimed: dict[str, Any] = field(default_factory=dict)  # MCP annotations and the like: claims, never effects

    @property
    def complete(self) -> bool:
        return not self.opaque

    @property
    def destructive(self) -> bool | None:
        marks = {e.destructive for e in self.effects}
        if True in marks:
            return True
        return None if None in marks or self.opaque else False

    @property
    def reversibility(self) -> Reversibility:
        """The worst of the effects; unknown ranks between externally_reversible and irreversible."""
        if not self.effects:
            return Reversibility.UNKNOWN if self.opaque else Reversibility.READ_ONLY
        worst = max((_WORSE[e.reversibility] for e in self.effects), default=0)
        return max(_BY_RANK[worst], Reversibility.UNKNOWN, key=_WORSE.__getitem__) if self.opaque else _BY_RANK[worst]

    def to_json(self) -> dict[str, Any]:
        return {
            "surface": self.surface,
            "complete": self.complete,
            "destructive": self.destructive,
            "reversibility": self.reversibility,
            "parsers": list(self.parsers),
            "effects": [e.to_json() for e in self.effects],
            "flows": [f.to_json() for f in self.flows],
            "opaque": [o.to_json() for o in self.opaque],
        }


_WORSE = {
    Reversibility.READ_ONLY: 0,
    Reversibility.REVERSIBLE: 1,
    Reversibility.EXTERNALLY_REVERSIBLE: 2,
    Reversibility.UNKNOWN: 3,
    Reversibility.IRREVERSIBLE: 4,
}
_BY_RANK = {rank: value for value, rank in _WORSE.items()}

# Bare words of the notation after `action domain:target`, by the field they set.
_WORDS: dict[str, tuple[str, Any]] = {
    **{b.value: ("breadth", b) for b in Breadth if b not in {Breadth.ONE, Breadth.UNKNOWN}},
    **{r.value: ("reversibility", r) for r in Reversibility if r is not Reversibility.UNKNOWN},
    **{p.value: ("privilege", p) for p in Privilege if p is not Privilege.NONE},
    **{t.value: ("tags", t) for t in Tag},
    "destructive": ("destructive", True),
    "maybe_destructive": ("destructive", None),
    "dry_run": ("dry_run", True),
    "filtered": ("filtered", True),
}
_KEYED: dict[str, type[StrEnum]] = {
    "certainty": Certainty,
    "condition": Condition,
    "path_scope": PathScope,
    "sensitivity": Sensitivity,
}


def format_effect(e: Effect) -> str:
    """The one-line notation. Unknown targets show as ``?`` with ``raw=`` kept; defaults are left out."""
    target = "" if e.target is None and e.target_raw is None else ":" + ("?" if e.target is None else _quote(e.target))
    words = [f"{e.action} {e.domain}{target}"]
    if e.breadth not in {Breadth.ONE, Breadth.UNKNOWN}:
        words.append(e.breadth)
    if e.reversibility is not Reversibility.UNKNOWN:
        words.append(e.reversibility)
    if e.destructive is not False:
        words.append("destructive" if e.destructive else "maybe_destructive")
    if e.privilege is not Privilege.NONE:
        words.append(e.privilege)
    words += [t.value for t in e.tags]
    words += [w for w in ("dry_run", "filtered") if getattr(e, w)]
    words += [f"{k}={getattr(e, k)}" for k in _KEYED if getattr(e, k) not in {None, _DEFAULTS[k]}]
    if e.where != "local":
        words.append(f"where={_quote(e.where)}")
    if e.target_raw not in {None, e.target, "?"}:
        words.append(f"raw={_quote(e.target_raw)}")
    if e.via:
        words.append("via=" + json.dumps(list(e.via), ensure_ascii=False, separators=(",", ":")))
    return " ".join(words)


def parse_effect(text: str) -> Effect:
    """Read the notation back. Raises ValueError naming the word that is not of the vocabulary."""
    words = _split(text)
    if len(words) < 2:
        raise ValueError(f"an effect is 'action domain[:target] …', not {text!r}")
    domain, _, target = words[1].partition(":")
    values: dict[str, Any] = {"action": Verb(words[0]), "domain": Domain(domain)}
    if target:
        values["target"] = None if target == "?" else _unquote(target)
    for word in words[2:]:
        key, eq, value = word.partition("=")
        if eq and key in _KEYED:
            values[key] = _KEYED[key](value)
        elif eq and key in {"where", "raw"}:
            values["target_raw" if key == "raw" else key] = _unquote(value)
        elif eq and key == "via":
            values["via"] = tuple(json.loads(value))
        elif word in _WORDS:
            name, parsed = _WORDS[word]
            values[name] = (*values.get("tags", ()), parsed) if name == "tags" else parsed
        else:
            raise ValueError(f"unknown word {word!r} in effect {text!r}")
    if values.get("target", "") is None and "target_raw" not in values:
        values["target_raw"] = "?"
    return Effect(**values)


_DEFAULTS = {
    "certainty": Certainty.DEFINITE,
    "condition": Condition.ALWAYS,
    "path_scope": None,
    "sensitivity": Sensitivity.NONE,
}


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text in {"", "?"} or any(c in text for c in " \"'\\\n\t") else text


def _unquote(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text


def _split(text: str) -> list[str]:
    """Words at spaces; a JSON string or list keeps its spaces."""
    words: list[str] = []
    for part in text.split(" "):
        open_before = bool(words) and _is_open(words[-1])
        if open_before:
            words[-1] += " " + part
        elif part:
            words.append(part)
    return words


def _is_open(word: str) -> bool:
    quoted = False
    skip = False
    for char in word:
        if skip:
            skip = False
        elif char == "\\" and quoted:
            skip = True
        elif char == '"':
            quoted = not quoted
    return quoted
