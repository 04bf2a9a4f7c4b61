"""Whether a command only prints its help: its words split by option in, yes or no out."""

from __future__ import annotations

from classifiers.knowledge.arguments import Parsed
from classifiers.knowledge.words import Word


def asks_help(parsed: Parsed) -> bool:
    """Whether it only prints its help. Code given before that word is never taken for unread: interpreters differ."""
    wanted = parsed.node.help
    for hit in parsed.hits:
        if hit.option and hit.option.meaning.delegate and hit.option.meaning.delegate.kind in {"code", "shell"}:
            return False
        if hit.spelling in wanted and hit.value is None:
            return parsed.node.late_help == "help" or not _follows(hit.word, parsed)
    return False


def _follows(word: Word, parsed: Parsed) -> bool:
    return any(operand.span[1] <= word.span[0] for operand in parsed.operands if operand.span[1])
