"""A script as tree-sitter-bash can read it: a skeleton in, ASCII bytes of the same length out.

What the grammar does not know, or crashes on, is written there as plain characters; words are read from the real text.
"""

from __future__ import annotations

import re

# The grammar's scanner hands code points to isdigit(3), which reads outside its table above 255: a crash of the whole
# process. Every character that is not plain ASCII is a full stop there (a word character, never part of a name).
_ODD = re.compile(r"[^\t\n\r -~]")
# bash's extended globs within a word (Bash manual, "Pattern Matching"), which the grammar knows in `case` only.
_EXTGLOB = re.compile(r"(?<![\w$])(?:[\w./*~-]*)[!@?*+](\([^()\s;&<>$`'\"]*\))")
# ``{name}<`` and ``3<<<``: the grammar knows neither form, so the descriptor is blanked there and kept beside.
_NAMED = re.compile(r"(?<![^\s;|&(){}])(?:\{([A-Za-z_]\w*)\}(?=[<>])|(\d{1,9})(?=<<<))")
# An escaped blank begins no word and ends one for the grammar; written as another escape it is part of one.
_BLANK = re.compile(r"(?<!\\)((?:\\\\)*\\)[ \t]")
# The grammar goes on with a word when the next line begins with a backslash (``ls⏎\\rm x``), and takes a ``$`` before
# ``;`` or ``)`` for an error. Both are written as plain characters there.
_BEGUN = re.compile(r"(?<!\\)((?:\\\\)*\n)\\(?=[\w./~-])")
_BARE_DOLLAR = re.compile(r"(?<=[\w./~:+=%@-])\$(?=[;)])")


# ``time`` and ``coproc NAME`` are reserved words before a compound command (Bash manual, "Pipelines", "Coprocesses");
# the grammar takes them for programs, and what follows for their words.
_RESERVED = re.compile(
    r"((?:\A|[;&|(\n`]|\{[ \t]|![ \t]|\b(?:do|then|else)[ \t])[ \t]*)"
    r"(time(?:[ \t]+-p)?(?:[ \t]+--)?|coproc(?:[ \t]+[A-Za-z_]\w*)?)"
    r"(?=[ \t]+(?:\(|\{[ \t\n]|\[\[[ \t]|![ \t]|(?:for|while|until|if|case|select)[ \t\n]))"
)


def legible(skeleton: str) -> tuple[bytes, dict[int, str]]:
    """The bytes to parse (one a code point), and by its operator's position each descriptor that was blanked."""
    named: dict[int, str] = {}

    def blank(match: re.Match[str]) -> str:
        named[match.end()] = match[1] or match[2]
        return " " * len(match[0])

    plain = _NAMED.sub(blank, skeleton) if "{" in skeleton or "<<<" in skeleton else skeleton
    if "time" in plain or "coproc" in plain:
        plain = _RESERVED.sub(lambda m: m[1] + " " * len(m[2]), plain)
    if "\n\\" in plain:
        plain = _BEGUN.sub(r"\1 ", plain)
    if "\\ " in plain or "\\\t" in plain:
        plain = _BLANK.sub(r"\1_", plain)
    if "$;" in plain or "$)" in plain:
        plain = _BARE_DOLLAR.sub("_", plain)
    return _ODD.sub(".", plain).replace("<>", ">>").encode("ascii"), named  # the grammar does not know <>


def without_extended_globs(data: bytes) -> bytes | None:
    """For a text that does not parse: its extended globs as plain words; None when it holds none."""
    text = data.decode()
    if not _EXTGLOB.search(text):
        return None
    return _EXTGLOB.sub(lambda m: m[0][: m.start(1) - m.start()] + "_" * len(m[1]), text).encode()
