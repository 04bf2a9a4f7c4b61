"""Quoting rules of the shell's words: text between quotes in, the text it stands for out (bash(1) QUOTING)."""

from __future__ import annotations

import re

from classifiers.shell.ir import Lit, Part

_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "v": "\v"}


def ansi_c(text: str) -> str:
    r"""The inside of ``$'…'``: ``\x72m`` is ``rm``."""
    return _ANSI.sub(_decode, text) if "\\" in text else text


def _decode(match: re.Match[str]) -> str:
    for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if match.group(group):
            code = int(match.group(group), base)
            return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else "\ufffd"
    if match.group(5):
        return chr(ord(match.group(5)[0]) & 0x1F)
    return _NAMED.get(match.group(6), match.group(6))


def double_quoted(text: str) -> str:
    r"""The inside of ``"…"``: a backslash keeps its meaning before ``$ ` " \\`` and newline only."""
    return re.sub(r'\\([$`"\\]|\n)', lambda m: "" if m.group(1) == "\n" else m.group(1), text) if "\\" in text else text


def unquoted(text: str) -> list[Part]:
    r"""Bare text: a backslash quotes the next character, so ``\\*`` is no pattern."""
    if "\\" not in text:
        return [Lit(text)]
    out: list[Part] = []
    at = 0
    for match in re.finditer(r"\\(.|\n|$)", text, re.DOTALL):
        if match.start() > at:
            out.append(Lit(text[at : match.start()]))
        if match.group(1) != "\n":
            out.append(Lit(match.group(1), quoted=True))
        at = match.end()
    if at < len(text):
        out.append(Lit(text[at:]))
    return out or [Lit("")]
