"""Secrets out of text: cheap fragments first, then linear-time patterns, then one inert placeholder per secret.

In: a string. Out: the string without its secrets, and where it changed. Patterns are data (``audit/patterns/*.yaml``),
run by RE2, which cannot backtrack; a string over the cap, or reached after the time cap, is replaced whole.
"""

from __future__ import annotations

import hmac
import math
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import re2

from classifiers.strict_yaml import load

FOLDER = Path(__file__).with_name("patterns")
PREFIX = "REDACTED_"
MAX_STRING_BYTES = 256 << 10
MIN_REMEMBERED = 6  # a shorter secret is not looked for elsewhere: it would be found in ordinary words


@dataclass(frozen=True, slots=True)
class Pattern:
    """``name`` tells entries of one kind apart; ``rank``: on an overlap the lower one keeps its bounds."""

    name: str
    kind: str
    starts: Any  # compiled, bytes
    regexp: Any
    ignore: Any
    min_entropy: float
    rank: int


@dataclass(frozen=True, slots=True)
class TokenKeys:
    """``keys`` by id; the newest (``current``) makes tokens, older ones stay to recognise what they made."""

    current: str
    keys: dict[str, bytes]

    def mac(self, text: bytes, key_id: str | None = None) -> str:
        return hmac.new(self.keys[key_id or self.current], text, "sha256").hexdigest()

    def token(self, kind: str, secret: bytes) -> str:
        """``REDACTED_aws_key_k1_ab12cd34``: letters, digits and _ only, so it is inert in shell, URL, JSON and SQL."""
        return f"{PREFIX}{kind}_{self.current}_{self.mac(secret)[:8]}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret at bytes [start, end) of the UTF-8 text."""

    start: int
    end: int
    kind: str
    rank: int


@dataclass(frozen=True, slots=True)
class Edit:
    """Code points [start, end) of the old text became ``size`` code points."""

    start: int
    end: int
    size: int


@cache
def load_patterns() -> tuple[Pattern, ...]:
    out: list[Pattern] = []
    for path in sorted(FOLDER.glob("*.yaml"), reverse=True):  # providers before forms: the more exact kind wins
        for entry in load(path.read_text(encoding="utf-8"), path.name).value:
            out.append(_pattern(entry, len(out)))
    return tuple(out)


class Redactor:
    """``budget_s`` is spent per record: see ``start``."""

    def __init__(self, keys: TokenKeys, *, budget_s: float = 0.5) -> None:
        self.keys, self.budget_s = keys, budget_s
        self._patterns = load_patterns()
        self._any = _compile("|".join(f"(?:{p.starts.pattern.decode()})" for p in self._patterns))
        self._deadline = math.inf

    def start(self) -> None:
        """A new record: the time cap begins."""
        self._deadline = time.monotonic() + self.budget_s

    def suspects(self, data: bytes) -> bool:
        """Could anything in here be a secret? One pass, about 3 us per kB."""
        return self._any.search(data) is not None

    def has_secret(self, text: str) -> bool:
        """For the vocabulary's ``call.arguments_secret``."""
        return bool(self.find(text.encode("utf-8", "replace")[:MAX_STRING_BYTES]))

    def find(self, data: bytes) -> list[Hit]:
        """Non-overlapping, in order; where two overlap the union is taken under the more exact kind."""
        if not self.suspects(data):
            return []
        hits = [h for p in self._patterns if p.starts.search(data) is not None for h in _matches(p, data)]
        return _merge(hits)

    def redact(self, text: str) -> tuple[str, list[Edit], dict[str, str]]:
        """The text without its secrets, where it changed, and each secret with its token."""
        data = text.encode("utf-8", "replace")
        if len(data) > MAX_STRING_BYTES or time.monotonic() > self._deadline:
            token = f"{self.keys.token('unscanned', data)}_{len(data)}b"
            return token, [Edit(0, len(text), len(token))], {}
        return self._replace(text, data, self.find(data))

    def _replace(self, text: str, data: bytes, hits: list[Hit]) -> tuple[str, list[Edit], dict[str, str]]:
        if not hits:
            return text, [], {}
        parts: list[str] = []
        edits: list[Edit] = []
        found: dict[str, str] = {}
        at = points = 0
        for hit in hits:
            kept = data[at : hit.start].decode("utf-8", "replace")
            secret = data[hit.start : hit.end].decode("utf-8", "replace")
            token = found.get(secret) or self.keys.token(hit.kind, data[hit.start : hit.end])
            points += len(kept)
            edits.append(Edit(points, points + len(secret), len(token)))
            points += len(secret)
            parts += [kept, token]
            found[secret] = token
            at = hit.end
        parts.append(data[at:].decode("utf-8", "replace"))
        return "".join(parts), edits, found


def replace_known(text: str, known: dict[str, str]) -> tuple[str, list[Edit]]:
    """Secrets found elsewhere in the record, wherever they stand in this text."""
    edits: list[Edit] = []
    for secret, token in known.items():
        at = text.find(secret)
        while at >= 0:
            edits.append(Edit(at, at + len(secret), len(token)))
            text = text[:at] + token + text[at + len(secret) :]
            at = text.find(secret, at + len(token))
    return text, edits


def move(position: int, edits: Iterable[Edit], *, end: bool = False) -> int:
    """Where a position of the old text stands in the new one; inside a replaced part: at its nearer outer edge."""
    shift = 0
    for edit in edits:
        if position >= edit.end:
            shift += edit.size - (edit.end - edit.start)
        elif position > edit.start:
            return edit.start + shift + (edit.size if end else 0)
    return position + shift


def entropy(data: bytes) -> float:
    """Shannon bits per byte."""
    total = len(data)
    return -sum(n / total * math.log2(n / total) for n in Counter(data).values()) if total else 0.0


def _matches(pattern: Pattern, data: bytes) -> Iterable[Hit]:
    for match in pattern.regexp.finditer(data):
        group = next((g for g in range(1, pattern.regexp.groups + 1) if match.span(g)[0] >= 0), 0)
        start, end = match.span(group)
        value = data[start:end]
        if value.startswith(b"REDACTED_") or (pattern.ignore is not None and pattern.ignore.search(value)):
            continue
        if not pattern.min_entropy or entropy(value) >= pattern.min_entropy:
            yield Hit(start, end, pattern.kind, pattern.rank)


def _merge(hits: list[Hit]) -> list[Hit]:
    """An exact kind within a looser one keeps its own bounds, so the same secret has the same token everywhere."""
    taken: list[Hit] = []  # by start, never overlapping
    for hit in sorted(hits, key=lambda h: (h.rank, h.start)):
        at = bisect_left(taken, hit.start, key=lambda h: h.end)  # the first that ends at or after our start
        start = hit.start
        while start < hit.end:
            other = taken[at] if at < len(taken) else None
            if other is not None and other.end <= start:
                at += 1
            elif other is None or other.start >= hit.end:
                taken.insert(at, Hit(start, hit.end, hit.kind, hit.rank))
                break
            else:
                if other.start > start:
                    taken.insert(at, Hit(start, other.start, hit.kind, hit.rank))
                    at += 1
                start, at = other.end, at + 1
    return taken


def _pattern(entry: dict[str, Any], rank: int) -> Pattern:
    starts = _compile("|".join(f"(?:{s})" for s in entry["starts"]))
    ignore = _compile(entry["ignore"]) if "ignore" in entry else None
    name = entry.get("name", entry["kind"])
    return Pattern(name, entry["kind"], starts, _compile(entry["pattern"]), ignore, entry.get("min_entropy", 0.0), rank)


def _compile(text: str) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 << 20
    return re2.compile(text.encode(), options)
