"""Whether a command only prints its help: its words split by option in, yes or no out."""

from __future__ import annotations

import re

from classifiers.knowledge.arguments import Hit, Parsed
from classifiers.knowledge.words import Word

_NUMBER = re.compile(r"v?\d+(?:\.[\w.+-]*)?")


def asks_help(parsed: Parsed) -> bool:
    """Whether it only prints its help. Code given before that word is never taken for unread: interpreters differ."""
    wanted = parsed.node.help
    for hit in parsed.hits:
        if hit.option and hit.option.meaning.delegate and hit.option.meaning.delegate.kind in {"code", "shell"}:
            return False
        if hit.spelling in wanted and hit.value is None and not _chooses(hit):
            return parsed.node.late_help == "help" or not _follows(hit.word, parsed)
    return False


def _follows(word: Word, parsed: Parsed) -> bool:
    return any(operand.span[1] <= word.span[0] for operand in parsed.operands if operand.span[1])


def _chooses(hit: Hit) -> bool:
    """``--version 2.1``: which one is wanted, and no question for the program's own."""
    following = hit.following
    return hit.spelling == "--version" and following is not None and _NUMBER.fullmatch(following.text) is not None
