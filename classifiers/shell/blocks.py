"""Text blocks of a harness's own orders (``edit 3:7 … end_of_edit``): script in, the same with blank blocks out.

Such a block is data for its harness, but a plain shell would run its lines. So it is only blanked where that would
do no harm: lines that would delete, send, start, grant or lose something stay, and the reading stays open.
Positions are kept. The table is ``blocks.yaml``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from classifiers.datafile import table
from classifiers.effects import Action, Domain, Verb

_HARMFUL = frozenset({Verb.DELETE, Verb.SEND, Verb.EXECUTE, Verb.CONTROL, Verb.GRANT})
_LETTER = re.compile(r"[^\n]")


@cache
def forms() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Each end word, and where its order's block is: from the line after the order to the end word's line."""
    form = r"(?ms)^[ \t]*{order}(?:[ \t]+[\w.:/-]+)*[ \t]*\n(?P<block>.*?^[ \t]*{until})[ \t]*$"
    return tuple(
        (r["until"], re.compile(form.format(order=re.escape(r["order"]), until=re.escape(r["until"]))))
        for r in table("shell/blocks.yaml")["blocks"]
    )


def without_blocks(text: str, read: Callable[[str], Action]) -> str:
    """``text`` with harmless blocks blanked. ``read`` says what a plain shell would do with a block's lines."""
    for until, form in forms():
        if until in text:
            for match in form.finditer(text):
                start, end = match.span("block")
                lines = text[start:end].rpartition(until)[0]
                if not _harms(read(lines)):
                    text = text[:start] + _LETTER.sub(" ", text[start:end]) + text[end:]
    return text


def _harms(action: Action) -> bool:
    if action.destructive is True or action.flows:
        return True
    strangers = {o.span for o in action.opaque}  # a name no program has is how text reads
    return any(
        e.action in _HARMFUL
        and not (
            e.domain is Domain.PROCESS and e.evidence is not None and (e.evidence.start, e.evidence.end) in strangers
        )
        for e in action.effects
    )
