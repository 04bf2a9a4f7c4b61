r"""Spell PowerShell so that the grammar reads it: what it allows and the grammar does not know gets another spelling.

In: text. Out: the text to parse and where characters were put in, so that positions can be given in the original.
Mended are: ``iex(…)`` (no space before the parenthesis), ``$env:TEMP\x`` and lists such as ``Name, Id`` as bare
arguments, ``1GB``, a command on the line of its ``param(…)``, clauses of a ``switch`` on one line, digits in the name
of a parameter (``-IPv4Address``), methods called as keywords are (``.ForEach({ … })``).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter

from classifiers.clock import spent

_CALLED = frozenset({"iex", "invoke-expression", "echo", "write-host", "write-output", "cmd", "start-process"})
_PATH = re.compile(r"\$(?:\{[\w:()]+\}[\\/:\w.]|(?:\w+:)?\w+[\\/])[^\s;|)}{(,\"'`<>&]*")
_PLAIN = re.compile(r"(?:[\w:\\/.*?~@+-]|\$\w)+")
_COMMA = re.compile(r"[ \t]{1,40},")
_WORD = re.compile(r"[\w-]+")
_BARE = re.compile(r"[A-Za-z_*?.~\\/\d][\w*?.:\\/~@+-]*")
_NUMBER = re.compile(r"(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e\d+)?)[lud]?(?:[kmgtp]b)?", re.IGNORECASE)
_SIZE = re.compile(r"(?<![\w.-])(\d+(?:\.\d+)?)([kmgtp]b)\b", re.IGNORECASE)
_BEFORE_ARGUMENT = frozenset(" \t=,")
_CLAUSE = re.compile(r"[ \t]+(?=['\"$\d]|default\b)", re.IGNORECASE)
_LONG = 400  # of a word
_LOOK = 512  # steps between two looks at the clock
_KEYWORD = re.compile(
    r"\.(?:foreach|for|while|if|do|switch|data|process|begin|end|exit|throw|in|filter)(?=\()", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"--?(?!(?:[ci]?(?:eq|ne|gt|ge|lt|le|like|match|split|replace|join|contains|in)|f|is|as|b?(?:and|or|xor)|sh[lr])\d)"
    r"[A-Za-z_][\w-]*?\d[\w-]*",
    re.IGNORECASE,
)
_TEXT = r"\"[^\"`]{0,400}\"|'[^'`]{0,400}'"
_AT_END = r"(?=[\s;|)}]|$)"
_SETTING = re.compile(rf"[A-Za-z][\w.-]{{0,60}}=(?:{_TEXT}){_AT_END}")  # docker's ``-e A='x y'``
_OPTION = re.compile(  # of a native program: the bare ``--``, with a drive, with its value, with dots in its name
    r"--(?=\s)|-[a-z][A-Z]:\\[^\s\"'`;|&(){}<>@]{0,400}"
    rf"|--?[A-Za-z][\w.:-]{{0,60}}=(?:{_TEXT}|[^\s\"'`;|&(){{}}<>@]){{0,400}}{_AT_END}"
    rf"|--\w[\w-]{{0,60}}\.[\w.-]{{0,60}}{_AT_END}"
)
_DIGIT = re.compile(r"\?([a-j])")
_NATIVE_SWITCH = re.compile(r"(?<=\s)[-/](?:split|join|f|replace|match)(?=\s)", re.IGNORECASE)


def mended(text: str, deadline: float | None = None) -> tuple[str, list[int]]:
    """(text, places): each place is an offset in the mended text where one character was put in.

    Raises TimeoutError past ``deadline`` (of ``classifiers.clock``).
    """
    speller = _Speller(_SIZE.sub(lambda m: m[1] + "0" * len(m[2]), text))
    speller.run(deadline)
    return "".join(speller.out), [place + i for i, place in enumerate(speller.places)]


class _Speller:
    """One pass over the text; ``out`` is the new spelling, ``places`` where it is longer, in the original."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out: list[str] = []
        self.places: list[int] = []
        self.inside: Counter[str] = Counter()  # of those open
        self.open: list[str] = []  # brackets not closed yet; "param(" and "switch{" are those of these words
        self.word = ""  # the last bare word
        self.switch = False  # a switch whose body has not begun

    def run(self, deadline: float | None) -> None:
        i = steps = 0
        while i < len(self.text):
            i = self.step(i)
            steps += 1
            if deadline is not None and not steps % _LOOK and spent() > deadline:
                raise TimeoutError

    def step(self, i: int) -> int:
        text, char = self.text, self.text[i]
        if char in "'\"":
            return self.copy(i, _string_end(text, i))
        if text.startswith(("@'", '@"'), i):
            end = text.find(f"\n{text[i + 1]}@", i)
            return self.copy(i, len(text) if end < 0 else end + 3)
        if char == "#" and (i == 0 or text[i - 1] in " \t\n;"):
            end = text.find("\n", i)
            return self.copy(i, len(text) if end < 0 else end)
        if (
            char == "."
            and i
            and (found := _KEYWORD.match(text, i))
            and (text[i - 1].isalnum() or text[i - 1] in ")]}_")
        ):
            self.copy(i, i + 1)
            return self.quoted(i + 1, found.end(), '"')
        if char == "$" and i and text[i - 1] in _BEFORE_ARGUMENT and (found := _PATH.match(text, i)):
            return self.quoted(i, found.end(), '"')
        if char in " \t" and self.word and (found := _COMMA.match(text, i)):  # ``a , b`` as ``a,  b``
            self.out.append("," + found[0][:-1])
            return found.end()
        if i and text[i - 1] in " \t" and self.word and (end := _with_parts(text, i)):
            return self.quoted(i, end, '"')
        starts = i == 0 or text[i - 1] in " \t\n,(="
        if starts and not self.inside["["] and (bare := _BARE.match(text, i)) and self.is_listed(i, bare.end()):
            return self.quoted(i, bare.end(), "'")
        if char == "-" and starts and (found := _OPTION.match(text, i)):
            return self.whole(i, found.end())
        native = starts and self.word and not self.inside["{"] and not self.inside["["]
        if native and text[i - 1] != "(" and (found := _SETTING.match(text, i)):
            return self.whole(i, found.end())
        if char == "-" and starts and (found := _NUMBERED.match(text, i)):
            return self.lettered(i, found.end())
        if char in "-/" and self.word in {"certutil", "certutil.exe"} and (found := _NATIVE_SWITCH.match(text, i)):
            return self.quoted(i, found.end(), '"')
        if (char.isalnum() or char == "_") and (word := _WORD.match(text, i)):
            return self.bare(i, word.end())
        return self.bracket(i, char)

    def bare(self, start: int, end: int) -> int:
        word = self.text[start:end].lower()
        self.copy(start, end)
        self.switch = self.switch or word == "switch"
        before = self.text[start - 1] if start else " "
        self.word = word if before in " \t\n;|&({=" else self.word
        if self.text[end : end + 1] == "(" and word in _CALLED:
            self.put(" ", end)
        return end

    def bracket(self, i: int, char: str) -> int:
        end = self.copy(i, i + 1)
        if char in "([{":
            kind = f"{self.word}(" if char == "(" and self.word == "param" else char
            if char == "{" and self.switch and not self.inside["("]:
                kind, self.switch = "switch{", False
            self.open.append(kind)
            self.inside[kind] += 1
        elif char in ")]}" and self.open:
            closed = self.open.pop()
            self.inside[closed] -= 1
            self.word = "" if closed == "param(" else self.word
            rest = self.text[end : end + 40].lstrip(" \t")
            if closed == "param(" and rest and rest[0] not in "\r\n;})":
                self.put("\n", end)
            if char == "}" and self.open[-1:] == ["switch{"] and _CLAUSE.match(self.text, end):
                self.put(";", end)
        elif char in ";|\n":
            self.word = ""
        return end

    def is_listed(self, start: int, end: int) -> bool:
        """A bare word beside a comma that is no number."""
        if _NUMBER.fullmatch(self.text, start, end) or self.text[end : end + 1] in {"(", "="}:
            return False
        after = self.text[end : end + 20].lstrip(" \t")[:1]
        return after == "," or self.text[max(0, start - 40) : start].rstrip()[-1:] == ","

    def copy(self, start: int, end: int) -> int:
        self.out.append(self.text[start:end])
        return end

    def put(self, char: str, place: int) -> None:
        self.out.append(char)
        self.places.append(place)

    def lettered(self, start: int, end: int) -> int:
        """A question mark and a letter for each digit, which the grammar takes for part of a parameter's name."""
        for i in range(start, end):
            digit = self.text[i].isdigit() and self.text[i].isascii()
            self.out.append("?" if digit else self.text[i])
            if digit:
                self.put(chr(ord("a") + int(self.text[i])), i + 1)
        return end

    def whole(self, start: int, end: int) -> int:
        """One text in double quotes, the quotes in it and what stands in single ones kept as they are."""
        single = False
        self.put('"', start)
        for i in range(start, end):
            char = self.text[i]
            single = single != (char == "'")
            if char == '"' or (char == "$" and single):
                self.put("`", i)
            self.out.append(char)
        self.put('"', end)
        return end

    def quoted(self, start: int, end: int, mark: str) -> int:
        self.put(mark, start)
        self.copy(start, end)
        self.put(mark, end)
        return end


def numbered(parameter: str) -> str:
    """A parameter's name as it was written: ``-IPv?eAddress`` → ``-IPv4Address``."""
    return _DIGIT.sub(lambda m: str(ord(m[1]) - ord("a")), parameter) if "?" in parameter else parameter


def original(places: list[int], point: int) -> int:
    """A position in the mended text, in the original."""
    return point - bisect_left(places, point) if places else point


def _with_parts(text: str, start: int) -> int:
    r"""The end of a bare word with ``$(…)`` in it (``C:\x\$($a.b)\y``), 0 when none begins here."""
    end, plain, parts = start, False, False
    while end - start < _LONG:
        if text.startswith("$(", end):
            depth = 0
            for j in range(end + 1, min(len(text), end + _LONG)):
                depth += {"(": 1, ")": -1}.get(text[j], 0)
                if not depth:
                    break
            else:
                return 0
            end, parts = j + 1, True
        elif found := _PLAIN.match(text, end):
            end, plain = found.end(), True
        else:
            break
    whole = end == len(text) or text[end] in " \t\r\n;|)}"
    return end if plain and parts and whole and "`" not in text[start:end] else 0


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
