"""PowerShell's front end: text in, program form out, by tree-sitter-powershell.

Commands become calls of their lower-case name (aliases resolved) with parameters as named arguments; the words in
order stay on the call for native programs. Members and types are lower-case dotted names. What does not parse is
kept aside as ``Reading.broken`` spans; the rest is still read.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from classifiers.code import ir
from classifiers.code.treesitter import Source, parser_of
from classifiers.powershell.front import commands, expressions, statements, texts
from classifiers.powershell.front.tree import Front
from classifiers.powershell.repair import mended, original

_READERS = {**commands.READERS, **texts.READERS, **expressions.READERS, **statements.READERS}


@dataclass(slots=True)
class Reading:
    nodes: list[ir.Node] = field(default_factory=list)
    broken: list[ir.Span] = field(default_factory=list)


def read(text: str, deadline: float | None = None) -> Reading:
    """Positions are code points. Raises TimeoutError past ``deadline`` (of ``classifiers.clock``)."""
    import tree_sitter_powershell  # noqa: PLC0415 - loaded when the first script comes

    spelled, places = mended(text, deadline)
    source = Source(
        spelled, parser_of("powershell", tree_sitter_powershell.language()), lambda p: original(places, p), deadline
    )
    front = Front(source, _READERS)
    out = Reading(front.block(source.root))
    out.broken = front.broken
    if source.root.has_error and not out.broken:  # the root itself, or a part no reader looks into
        out.broken.append(source.span(source.root))
    return out
