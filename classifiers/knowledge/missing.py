"""Operands a change needs and that are not there: a command's node in, whether its text is cut short out.

``chmod -R .`` names no file: run like that it is refused, so the text is not all of what will run. The answer is then
"not known", never "harmless".
"""

from __future__ import annotations

from classifiers.effects import Verb
from classifiers.knowledge.model import Node

_READS = frozenset({Verb.READ, Verb.RECEIVE})
_ONLY_TAGS = frozenset({"rights"})  # grammars in Python that tell of nothing themselves


def operands_missing(node: Node) -> bool:
    """For a reading that told of nothing: whether the command's only effects are changes to operands nobody gave."""
    if (node.says and not node.effects) or node.no_operands is not None or node.subcommands:
        return False
    if (node.special and node.special not in _ONLY_TAGS) or node.stdin or node.keyed:
        return False
    first = next((s for s in node.slots if s.meaning.effects), None)
    if first is not None and first.at == "first" and first.meaning.effects[0].action is Verb.READ:
        return False  # a filter: standard input takes the place of the file it reads
    meanings = [m for s in node.slots for m in (s.meaning, *(special for _, special in s.meaning.by_value))]
    effects = [t for m in meanings for t in m.effects]
    return any(t.action not in _READS for t in effects)
