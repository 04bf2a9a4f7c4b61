"""Words people write, checked against the words meant: suggestions, banned vocabulary, durations, sizes, times.

In: text from a policy or objective. Out: a value, or the sentence to show. Nothing here knows positions.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from datetime import UTC, datetime

from policies.synonyms import SYNONYMS

# A proxy that never stops anything has no use for these; a file that holds them was written for something else.
BANNED = {
    "allow", "allowed", "allowlist", "approve", "block", "blocked", "blocklist", "deny", "denied", "denylist",
    "enforce", "enforcement", "permit", "prevent", "prompt", "quarantine", "reject", "forbid", "ask",
}  # fmt: skip
ONLY_FLAGS = "onlooker only flags: '{}' has no meaning here"

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZES = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMG]?I?B)?", re.IGNORECASE)


def suggest(word: str, options: Iterable[str]) -> str:
    """``; did you mean 'x'?``, or the whole list when it is short, or nothing."""
    known = list(options)
    folded = {o.casefold(): o for o in known}
    synonym = SYNONYMS.get(word.casefold())
    if synonym in known:
        return f"; did you mean '{synonym}'?"
    close = difflib.get_close_matches(word.casefold().replace("-", "_"), folded, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{folded[close[0]]}'?"
    part = [o for o in known if word.casefold() in re.split(r"[._-]", o)]
    if len(part) == 1:
        return f"; did you mean '{part[0]}'?"
    return f"; one of: {', '.join(known)}" if len(known) <= 12 else ""


def unknown_key(word: str, options: Iterable[str]) -> str:
    if word.casefold() in BANNED:
        return ONLY_FLAGS.format(word) + "; say how bad it is with severity"
    return f"unknown key '{word}'{suggest(word, options)}"


# Operators of other languages, and how the same is said here.
_OPERATORS = {
    **dict.fromkeys(("regex", "regexp", "re", "matches", "pattern"), "there are no regular expressions; use a glob"),
    **dict.fromkeys(("eq", "equals", "is"), "write the value itself"),
    **dict.fromkeys(("in", "any", "any_of", "one_of"), "write the values as a list"),
    **dict.fromkeys(("ne", "neq", "not_in", "notin"), "write {not: …}"),
    **dict.fromkeys(("exists", "known", "present"), "an absent field is unknown; there is no test for it"),
    "startswith": "write {prefix: …}",
    "endswith": "write {suffix: …}",
}


def unknown_operator(word: str, options: Iterable[str]) -> str:
    options = tuple(options)
    if "not" not in options and word in {"not", *(w for w, said in _OPERATORS.items() if said == "write {not: …}")}:
        return f"unknown operator '{word}': name what is left out under 'not_target', beside 'target'"
    if word in _OPERATORS:
        return f"unknown operator '{word}': {_OPERATORS[word]}"
    return unknown_key(word, options).replace("unknown key", "unknown operator")


def unknown_value(word: object, options: Iterable[str], what: str) -> str:
    if isinstance(word, str) and word.casefold() in BANNED:
        return ONLY_FLAGS.format(word)
    return f"{what} cannot be '{word}'{suggest(str(word), options)}"


def duration_s(text: object) -> float | None:
    """``90s``, ``10m``, ``1.5h``, ``2d`` in seconds; None when it is no duration."""
    found = _DURATION.fullmatch(text) if isinstance(text, str) else None
    return float(found[1]) * _UNITS[found[2]] if found else None


def size_bytes(value: object) -> int | None:
    """``50MB`` (decimal), ``1GiB`` (binary) or a plain number, in bytes; None when it is no size."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if value >= 0 else None
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    return int(float(found[1]) * _SIZES[(found[2] or "").upper()]) if found else None


def instant(text: object) -> datetime | None:
    """An RFC 3339 time with its offset; None when it is none (a date alone does not say when)."""
    if not isinstance(text, str):
        return None
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        return None
    return value.astimezone(UTC) if value.tzinfo else None
