"""Tree-sitter trees to the program form, for languages whose grammars name their parts alike.

In: a text, its parser, and a table from node type to the name of the method that reads it (``texts.py``,
``expressions.py``, ``statements.py``; a language may add its own). Out: program nodes. Node types that are in no table
are read for their parts.
"""

from classifiers.code.grammar.statements import Statements as GrammarFront

__all__ = ["GrammarFront"]
