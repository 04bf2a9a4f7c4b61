r"""Spell PowerShell so that the grammar reads it: what it allows and the grammar does not know gets quotes or a space.

In: text. Out: the text to parse and where characters were put in, so that positions can be given in the original.
Two things are mended: ``iex(…)`` (no space before the parenthesis) and ``$env:TEMP\x`` as a bare argument.
"""

from __future__ import annotations

import re
from bisect import bisect_left

_CALLED = frozenset({"iex", "invoke-expression", "echo", "write-host", "write-output", "cmd", "start-process"})
_PATH = re.compile(r"\$(?:\{[\w:()]+\}|(?:\w+:)?\w+)[\\/][^\s;|)}{(,\"'`<>&]*")
_WORD = re.compile(r"[\w-]+")
_BEFORE_ARGUMENT = frozenset(" \t=,")


def mended(text: str) -> tuple[str, list[int]]:
    """(text, places): each place is an offset in the mended text where one character was put in."""
    out: list[str] = []
    places: list[int] = []
    i = 0
    while i < len(text):
        char = text[i]
        if char in "'\"":
            end = _string_end(text, i)
            out.append(text[i:end])
        elif char == "#" and (i == 0 or text[i - 1] in " \t\n;"):
            end = text.find("\n", i)
            end = len(text) if end < 0 else end
            out.append(text[i:end])
        elif char == "$" and i and text[i - 1] in _BEFORE_ARGUMENT and (found := _PATH.match(text, i)):
            end = found.end()
            out += ['"', text[i:end], '"']
            places += [i, end]
        elif (char.isalnum() or char == "_") and (word := _WORD.match(text, i)):
            end = word.end()
            out.append(word.group())
            if text[end : end + 1] == "(" and word.group().lower() in _CALLED:
                out.append(" ")
                places.append(end)
        else:
            end = i + 1
            out.append(char)
        i = end
    return "".join(out), [place + i for i, place in enumerate(places)]


def original(places: list[int], point: int) -> int:
    """A position in the mended text, in the original."""
    return point - bisect_left(places, point) if places else point


def _string_end(text: str, start: int) -> int:
    quote, i = text[start], start + 1
    while i < len(text):
        if text[i] == "`" and quote == '"':
            i += 2
            continue
        if text[i] == quote:
            return i + 1
        i += 1
    return len(text)
