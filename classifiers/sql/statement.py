"""Read one SQL statement: the parser's tree where there is one, the table of phrases where there is not."""

from __future__ import annotations

import logging
import re
from typing import Any

from classifiers.clock import loading
from classifiers.effects import Certainty, OpaqueReason
from classifiers.gather import Gather
from classifiers.sql.phrases import read_phrase
from classifiers.sql.place import Site
from classifiers.sql.split import run_on
from classifiers.sql.tree import is_statement, read_tree

_ROWS = re.compile(r"insert\s+into\s+[\w.\"`\[\]]+\s*(?:\([^()]*\)\s*)?values\s*\(", re.IGNORECASE)
_STRING = re.compile(r"'(?:[^']|'')*'")
_CALLED = re.compile(r"\w\s*\(|\bselect\b|\bconflict\b|\bduplicate\b|;", re.IGNORECASE)
MAX_PARSED = 5_000  # characters; sqlglot takes up to 20 us for one


def read_statement(text: str, grammars: tuple[str | None, ...], site: Site) -> None:
    """Add the statement's effects to the site's collection."""
    if len(text) > MAX_PARSED:
        read_long(text, site)
        return

    def again(inner: str, where: Site) -> None:
        for start, end in run_on(inner, 0, len(inner)) if grammars[0] == "tsql" else ((0, len(inner)),):
            read_statement(inner[start:end], grammars, where)

    if read_phrase(text, site, again, early=True):
        return
    tree = _parse(text, grammars, site.out)
    try:
        if tree is not None and read_tree(tree, site, again):
            return
    except (AttributeError, TypeError, ValueError, LookupError):
        # the parser recovers from odd characters with a plain value where a node should be
        site.out.hide(OpaqueReason.PARSE_ERROR, site.span, text[:80])
    if read_phrase(text, site, again):
        return
    site.out.hide(OpaqueReason.PARSE_ERROR, site.span, text[:80])


def read_long(text: str, site: Site) -> None:
    """A statement too long to parse: rows of literal values say nothing more than their first words do."""
    rows = _ROWS.match(text)
    is_rows = rows is not None and _CALLED.search(_STRING.sub("", text[rows.end() :])) is None
    if not is_rows:
        site.out.hide(OpaqueReason.SIZE_CAP, site.span, "a statement over the size cap")
    certainty = Certainty.DEFINITE if is_rows else Certainty.POSSIBLE
    read_phrase(text[:MAX_PARSED], site, lambda _inner, _site: None, certainty)


def parser() -> Any:
    """sqlglot, imported when the first SQL comes: it takes 130 ms, and most calls hold none."""
    import sqlglot  # noqa: PLC0415 - see above

    return sqlglot


@loading()
def warm(grammars: tuple[str | None, ...]) -> None:
    """Load the grammars before the clock starts: each is a module of its own, imported once."""
    for grammar in grammars:
        parser().Dialect.get_or_raise(grammar)


def _parse(text: str, grammars: tuple[str | None, ...], out: Gather) -> Any:
    """The first tree that is a statement, in the order of ``grammars``; None when there is none."""
    sqlglot = parser()
    logging.getLogger("sqlglot").disabled = True  # it warns of statements kept as words
    for grammar in grammars:
        if out.out_of_time():
            return None
        try:
            trees = [t for t in sqlglot.parse(text, dialect=grammar) if t is not None]
        except (
            sqlglot.errors.SqlglotError,
            RecursionError,
            ValueError,
            AttributeError,
            TypeError,
            KeyError,
            IndexError,
        ):
            continue
        if len(trees) == 1 and is_statement(trees[0]):
            return trees[0]
    return None
