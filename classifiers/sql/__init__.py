"""What SQL text could do. ``classify_sql`` reads it, ``looks_like_sql`` says whether it is worth reading.

In: statements, and where they run as far as the call says. Out: one Action; positions are those of the text.
A statement that does not parse is opaque (``parse_error``), and what its words say is still reported as possible.
"""

from __future__ import annotations

import re

from classifiers.context import NOWHERE, Context
from classifiers.effects import Action, OpaqueReason, Surface
from classifiers.gather import Gather
from classifiers.sql.dialect import dialect_of, dialects, engine_of
from classifiers.sql.place import Place, Site
from classifiers.sql.split import MAX_STATEMENTS, MAX_TEXT, looks_like_sql, run_on, starts_like_sql, statements
from classifiers.sql.statement import read_statement, warm

__all__ = ["classify_sql", "looks_like_sql", "starts_like_sql"]


_CONDITIONAL = re.compile(r"(/\*M?!\d*)|\*/")  # MySQL and MariaDB run what stands in such a comment
_FENCE = re.compile(r"\A\s*```\w*|```\s*\Z")  # models wrap statements in Markdown fences


def classify_sql(  # noqa: PLR0917 - the shell and the surfaces call it by these names
    text: str,
    engine: str | None = None,
    host: str | None = None,
    database: str | None = None,
    context: Context = NOWHERE,
    path: str = "arguments.sql",
) -> Action:
    """``engine`` is postgres, mysql, sqlite, …; ``path`` the JSON path of ``text`` for evidence. Never raises."""
    out = Gather(Surface.SQL, at=path, parsers=["sqlglot"])
    text = _FENCE.sub(lambda fence: " " * len(fence.group()), text)
    if dialect_of(engine) in {None, "mysql"}:
        text = _opened(text[:MAX_TEXT]) + text[MAX_TEXT:]
    grammars = dialects(text[:4096], engine)
    warm(grammars)
    out.start_clock(context.max_ms)
    place = Place(engine_of(engine), host, database)
    if len(text) > MAX_TEXT:
        out.hide(OpaqueReason.SIZE_CAP, (MAX_TEXT, len(text)), "SQL text over the size cap")
    spans = statements(text[:MAX_TEXT])
    if grammars[0] == "tsql":
        spans = (part for span in spans for part in run_on(text, *span))
    for i, (start, end) in enumerate(spans):
        if i >= MAX_STATEMENTS or out.out_of_time():
            out.hide(OpaqueReason.SIZE_CAP, (start, len(text)), "statements beyond the cap")
            break
        read_statement(text[start:end], grammars, Site(place, context, out, (start, end)))
    return out.action()


def _opened(text: str) -> str:
    """The text without the marks of such comments, at the same positions."""
    out: list[str] = []
    at, inside = 0, False
    for mark in _CONDITIONAL.finditer(text):
        if mark.group(1) or inside:
            out += [text[at : mark.start()], " " * len(mark.group())]
            at, inside = mark.end(), bool(mark.group(1))
    return "".join(out) + text[at:]
