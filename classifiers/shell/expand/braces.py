"""Brace expansion (bash(1), Brace Expansion): a word's parts in, one list of parts for each word it becomes out."""

from __future__ import annotations

import itertools
import re

from classifiers.shell import ir

MAX_BRACES = 64
MAX_GROUPS = 400
_MAX_NESTING = 8
_Item = ir.Part | str  # one character of text that is not quoted, or a part


def braces(parts: tuple[ir.Part, ...]) -> list[tuple[ir.Part, ...]]:
    """Brace expansion over the word's parts; unquoted braces with a comma or a range only."""
    items: list[_Item] = []
    for part in parts:
        if isinstance(part, ir.Lit) and not part.quoted:
            items += list(part.text)
        else:
            items.append(part)
    if items.count("{") > MAX_GROUPS:  # that many side by side make more words than anyone reads
        return [parts] * (MAX_BRACES + 1)
    variants = _expand_items(items, 0)
    return [_joined(v) for v in itertools.islice(variants, MAX_BRACES + 1)]


def _expand_items(items: list[_Item], depth: int) -> list[list[_Item]]:
    for start, item in enumerate(items):
        if item != "{" or depth > _MAX_NESTING:
            continue
        found = _matching(items, start)
        if found is None:
            continue
        end, commas = found
        choices = _choices(items, start, end, commas)
        if choices is None:
            continue
        tails = _expand_items(items[end + 1 :], depth)
        out: list[list[_Item]] = []
        for choice in choices:
            for middle in _expand_items(choice, depth + 1):
                for tail in tails:
                    out.append(items[:start] + middle + tail)
                    if len(out) > MAX_BRACES:
                        return out
        return out
    return [items]


def _choices(items: list[_Item], start: int, end: int, commas: list[int]) -> list[list[_Item]] | None:
    """What stands between the braces, one after the other; None when they are plain text."""
    if commas:
        return [items[a + 1 : b] for a, b in itertools.pairwise([start, *commas, end])]
    inside = items[start + 1 : end]
    sequence = _sequence("".join(map(str, inside))) if all(isinstance(c, str) for c in inside) else None
    return None if sequence is None else [list(s) for s in sequence]


def _matching(items: list[_Item], start: int) -> tuple[int, list[int]] | None:
    level = 0
    commas: list[int] = []
    for i in range(start, len(items)):
        if items[i] == "{":
            level += 1
        elif items[i] == "}":
            level -= 1
            if level == 0:
                return i, commas
        elif items[i] == "," and level == 1:
            commas.append(i)
    return None


def _sequence(text: str) -> list[str] | None:
    match = re.fullmatch(r"(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(-?\d{1,9}))?", text)
    if match:
        a, b, step = int(match[1]), int(match[2]), abs(int(match[3] or 1)) or 1
        count = abs(b - a) // step + 1
        sign = 1 if b >= a else -1
        width = max(len(match[1]), len(match[2])) if match[1].startswith("0") and len(match[1]) > 1 else 0
        return [str(a + sign * step * i).zfill(width) for i in range(min(count, MAX_BRACES + 1))]
    match = re.fullmatch(r"([A-Za-z])\.\.([A-Za-z])", text)
    if match:
        a, b = ord(match[1]), ord(match[2])
        return [chr(c) for c in (range(a, b + 1) if b >= a else range(a, b - 1, -1))]
    return None


def _joined(items: list[_Item]) -> tuple[ir.Part, ...]:
    out: list[ir.Part] = []
    for is_text, group in itertools.groupby(items, key=lambda i: isinstance(i, str)):
        if is_text:
            out.append(ir.Lit("".join(str(c) for c in group)))
        else:
            out += [p for p in group if not isinstance(p, str)]
    return tuple(out) or (ir.Lit(""),)
