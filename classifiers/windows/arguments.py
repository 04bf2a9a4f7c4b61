"""The words of a command of Windows: switches with their values, and the rest.

In: the words after the program's name (None: not known before it runs). Out: what a rule's hole asks for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from classifiers.templates import Given

Words = Sequence[str | None]
_START_VALUES = frozenset({"/d", "/node", "/affinity", "/machine"})  # of ``start``; others stand alone
_WSL_VALUES = frozenset({"-d", "--distribution", "-u", "--user", "--cd", "--distribution-id", "--shell-type"})


class Arguments:
    """A command's words, told apart into switches and the rest."""

    def __init__(
        self,
        words: Words,
        program: str = "",
        valued: frozenset[str] = frozenset(),
        captured: Mapping[str, str | None] | None = None,
    ) -> None:
        """``valued``: switches whose value is the next word. ``captured``: what the rule's pattern found, by name."""
        self.program = program
        self.words = list(words)
        self.captured = captured or {}
        before = ["", *self.words]
        rest = [w for i, w in enumerate(self.words) if (before[i] or "").lower() not in valued]
        self.plain = [w for w in rest if w is None or not _is_switch(w)]

    def lookup(self, key: str) -> Given | None:
        for name in key.split("|"):
            found = self._one(name)
            if found is not None:
                return found
        return None

    def _one(self, name: str) -> Given | None:
        """``0``, ``-1``: an operand; ``0<``: before its ``=``; ``@x``: a group of the pattern; else a switch."""
        if name.startswith("@"):
            text = self.captured.get(name[1:])
            return Given(text, text) if text else None
        if name.endswith("<"):
            given = self._one(name[:-1])
            return given if given is None or given.text is None else Given(given.text.partition("=")[0], given.raw)
        return self._nth(int(name)) if re.fullmatch(r"-?\d+", name) else self._named(name)

    def _named(self, name: str) -> Given | None:
        """``program``: as it was called; ``host``: the first word that is no number; else a switch's value."""
        if name == "program":
            return Given(self.program, self.program)
        if name != "host":
            return self.switch(name)
        return next((Given(w, w) for w in self.plain if w and not w.isdigit()), None)

    def _nth(self, index: int) -> Given | None:
        if -len(self.plain) <= index < len(self.plain):
            word = self.plain[index]
            return Given(word, word or "?")
        return None

    def each(self, key: str) -> list[Given]:
        """Every value of a switch by any of its names."""
        names = key.split("|")
        found = (self._value_at(i, name) for i in range(len(self.words)) for name in names)
        return [given for given in found if given is not None]

    def switch(self, name: str) -> Given | None:
        """The value of ``/name``: after ``:`` or ``=`` in the same word (``/name:``: only there), else the next."""
        found = (self._value_at(i, name) for i in range(len(self.words)))
        return next((given for given in found if given is not None), None)

    def _value_at(self, i: int, name: str) -> Given | None:
        """The value of the switch ``name`` when it is this word; None when it is not."""
        word = self.words[i]
        if word is None:
            return None
        head, mark, value = _cut(word)
        if head.lower() != name.rstrip(":") or (name.endswith(":") and not value):
            return None
        following = self.words[i + 1] if i + 1 < len(self.words) else ""
        empty = bool(mark) and head[:1] in "/-" and following is not None
        if value or (empty and (not following or _is_switch(following))):
            return Given(value, value)
        return Given(following, following or "?")

    def rest(self, key: str) -> list[str | None]:
        """The words that are the inner command: after a switch, from an index, or all."""
        if key == "rest":
            return self.words
        if key == "last":
            return self.plain[-1:]
        if key == "linux":
            return _without_options(self.words)
        if key == "plain":
            start = 0
            while start < len(self.words) and _is_switch(self.words[start] or "?"):
                start += 1 + ((self.words[start] or "").lower() in _START_VALUES)
            return self.words[start:]
        for i, word in enumerate(self.words):
            head, mark, value = _cut(word or "")
            if head.lower() in key.split("|"):
                return [value, *self.words[i + 1 :]] if mark and value else self.words[i + 1 :]
        return []


def _without_options(words: Words) -> list[str | None]:
    """What follows the options of ``wsl``: the command, and its words."""
    at = 0
    while at < len(words):
        word = (words[at] or "").lower()
        if word in {"--", "-e", "--exec"}:
            return [*words[at + 1 :]]
        if word not in _WSL_VALUES and word not in {"--system", "~"}:
            break
        at += 1 + (word in _WSL_VALUES)
    return [*words[at:]]


def joined(words: Words) -> list[str | None]:
    """``a.txt + b.txt`` as ``a.txt+b.txt``; with nothing behind it the sum is the first of them."""
    out: list[str | None] = []
    for word in words:
        before = out[-1] if out else None
        if before is not None and word is not None and (word.startswith("+") or before.endswith("+")):
            out[-1] = before + word
        else:
            out.append(word)
    out = [w if w is None else w.rstrip(",") or w for w in out]
    plain = [w for w in out if w is None or not _is_switch(w)]
    return [*out, plain[0].partition("+")[0]] if len(plain) == 1 and plain[0] and "+" in plain[0] else out


def _is_switch(word: str) -> bool:
    if re.match(r"^(/[A-Za-z?](:[^/]*)?){2,}$", word):  # "/s/q"
        return True
    if re.fullmatch(r"/?\+\d+|[-/][46]", word):  # more +5, sort /+5, ping -6
        return True
    return bool(re.match(r"^(//?|-)[A-Za-z?][\w?+-]*([:=].*)?$", word)) and not re.match(r"^/\w+/", word)


def _cut(word: str) -> tuple[str, str, str]:
    found = re.match(r"^([/-][\w?+-]+|\w+)([:=])(.*)$", word)
    return (found.group(1), found.group(2), found.group(3)) if found else (word, "", "")
