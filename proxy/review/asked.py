"""What a list of actions was asked for: the address's query and back.

In: a query string's pairs. Out: ``Asked``, and addresses that ask the same again. The address is the whole question:
nothing is kept anywhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

from audit.summary import SEVERITIES
from proxy.review.facts import ASKS

# Filter → property prefix in the index.
FILTERS: Mapping[str, str] = {
    "ask": "ask",
    "did": "did",
    "only": "severity",
    "counted": "counted",
    "rule": "rule",
    "undetermined": "undetermined",
    "domain": "domain",
    "effect": "verb",
    "verdict": "verdict",
    "agent": "agent",
    "session": "session",
    "tool": "tool",
    "surface": "surface",
    "objective": "objective",
    "reversibility": "reversibility",
    "outcome": "outcome",
    "state": "state",
}
GLOBS = frozenset({"rule", "agent", "session", "tool", "objective"})  # here a final '*' stands for anything
MARKS = ("open", "benign", "escalated")
ORDERS = ("worst", "newest")
MAX_TEXT = 300
_WORDS: Mapping[str, tuple[str, ...]] = {  # filters that take one of these only
    "severity": tuple(SEVERITIES),
    "only": tuple(SEVERITIES),
    "marked": MARKS,
    "order": ORDERS,
    "ask": tuple(ASKS),
}
_TIMES = ("since", "until")
_SHOWN = ("q", "severity", "since", "until", "marked", "order")


@dataclass(frozen=True, slots=True)
class Asked:
    """Empty: not asked. ``least``: at least this severity. ``after``: the place of the last row of the page before."""

    filters: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    least: str = ""
    marked: str = ""
    since: str = ""
    until: str = ""
    order: str = "worst"
    after: int | None = None

    def pairs(self) -> list[tuple[str, str]]:
        said = [*self.filters.items(), ("q", self.text), ("severity", self.least), ("marked", self.marked)]
        said += [("since", self.since), ("until", self.until), ("order", "" if self.order == "worst" else self.order)]
        said += [("after", "" if self.after is None else str(self.after))]
        return [(name, value) for name, value in said if value]

    def address(self, **changed: object) -> str:
        """``?…`` of this question with fields changed; a change begins at the first page."""
        asked = replace(self, **{"after": None, **changed})  # type: ignore[arg-type]
        return "?" + urlencode(asked.pairs())

    def without(self, name: str) -> str:
        left = {k: v for k, v in self.filters.items() if k != name}
        plain = {"q": "text", "severity": "least"}.get(name, name)
        return self.address(filters=left, **({} if name in self.filters else {plain: ""}))


def asked(pairs: Iterable[tuple[str, str]]) -> Asked:
    """What cannot be meant is left out; a page never fails on its address."""
    given = {name: value.strip()[:MAX_TEXT] for name, value in pairs if value.strip()}
    after = given.get("after", "")
    return Asked(
        filters={name: given[name] for name in FILTERS if name in given},
        text=given.get("q", ""),
        least=_one_of(given.get("severity", ""), SEVERITIES),
        marked=_one_of(given.get("marked", ""), MARKS),
        since=_time(given.get("since", "")),
        until=_time(given.get("until", "")),
        order=_one_of(given.get("order", ""), ORDERS) or "worst",
        after=int(after) if after.removeprefix("-").isdigit() and len(after) < 19 else None,
    )


def misread(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """What ``asked`` leaves out of a question, one sentence each: on a command line that is a mistake."""
    return [f"{name}={value}: {why}" for name, value in pairs if value.strip() and (why := _wrong(name, value.strip()))]


def _wrong(name: str, value: str) -> str:
    if name not in {*FILTERS, *_WORDS, "q", "since", "until", "after"}:
        return f"no such filter; expected {', '.join(dict.fromkeys((*_SHOWN, *FILTERS)))}"
    if name in _WORDS and value not in _WORDS[name]:
        return f"expected {', '.join(_WORDS[name])}"
    return "expected a time in UTC or its beginning, such as 2026-11-30" if name in _TIMES and not _time(value) else ""


def link(**filters: str) -> str:
    """The address of the actions that have these properties."""
    return "/review/actions?" + urlencode({name: value for name, value in filters.items() if value})


def _one_of(value: str, known: Iterable[str]) -> str:
    return value if value in known else ""


def _time(value: str) -> str:
    """A prefix of an RFC 3339 time in UTC compares as text."""
    return value if value[:4].isdigit() and set(value) <= set("0123456789-:.TZ") else ""


__all__ = ["ASKS", "FILTERS", "MARKS", "ORDERS", "Asked", "asked", "link", "misread"]
