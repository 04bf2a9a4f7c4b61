"""What command-line programs do, as data. ``lookup(program)`` gives a node, ``interpret`` what a call of it means."""

from classifiers.knowledge.index import knowledge, lookup
from classifiers.knowledge.interpret import interpret

__all__ = ["interpret", "knowledge", "lookup"]
