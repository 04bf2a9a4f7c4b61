"""A shell text that is no command: what else it reads as. Text and what was read of it in, possible effects out.

A database's statement typed into a shell (``DROP TABLE t;``, ``FLUSHALL``, ``db.dropDatabase()``), or a script whose
line ends were escaped once too often. The text stays incomplete: the shell would not understand it. What the other
reading says is added as possible, with ``guessed:…`` in the chain.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from classifiers.effects import Certainty, OpaqueReason
from classifiers.knowledge import lookup
from classifiers.knowledge.words import Word
from classifiers.shell.payloads.elsewhere import read_as
from classifiers.shell.payloads.scripts import run_text
from classifiers.shell.state import Scope, State
from classifiers.sql.split import looks_like_sql

if TYPE_CHECKING:
    from classifiers.shell.evaluate import Evaluator

MAX_TEXT = 2_000
_UNREAD = frozenset(
    {
        OpaqueReason.UNKNOWN_EXECUTABLE,
        OpaqueReason.PARSE_ERROR,
        OpaqueReason.DYNAMIC_COMMAND,
        OpaqueReason.PAYLOAD_UNREADABLE,
    }
)
_FIRST = re.compile(r"\s*([^\s;|&(]+)")
_REDIS = re.compile(r"\s*(?:flushall|flushdb)(?:\s+(?:async|sync))?\s*;?\s*", re.IGNORECASE)
_MONGO = re.compile(r"\s*db\.[\w.]+\(.*\)\s*;?\s*", re.DOTALL)
# Words that begin statements which lose, give or change something (SQL-92 and later, statement pages).
_SQL = re.compile(r"\s*(?:drop|delete|truncate|alter|update|grant|merge|replace)\s", re.IGNORECASE)
_ESCAPED = re.compile(r"<<-?\s*(?:['\"][^'\"\n]{1,40}?['\"]|\w{1,40}?)\\n")


def guess(ev: Evaluator, text: str, state: State, scope: Scope) -> None:
    """Add what ``text`` could mean elsewhere, when the shell does not know its first word."""
    if len(text) > MAX_TEXT or not any(o.reason in _UNREAD for o in ev.out.opaque):
        return
    for reason, reads, read in _READINGS:
        if reads(text):
            read(ev, text, state, _possible(scope, reason, text))
            return


def _possible(scope: Scope, reason: str, text: str) -> Scope:
    span = (0, len(text))
    return replace(scope, certainty=Certainty.POSSIBLE, via=(*scope.via, f"guessed:{reason}"), fixed=span, depth=1)


def _unknown_first(text: str) -> bool:
    first = _FIRST.match(text)
    return first is not None and lookup(first[1]) is None


def _is_sql(text: str) -> bool:
    return _SQL.match(text) is not None and _unknown_first(text) and looks_like_sql(text)


def _read_sql(ev: Evaluator, text: str, state: State, scope: Scope) -> None:
    read_as(ev, "sql", text, state, scope)


def _is_redis(text: str) -> bool:
    return _REDIS.fullmatch(text) is not None


def _read_redis(ev: Evaluator, text: str, state: State, scope: Scope) -> None:
    _run(ev, ["redis-cli", *text.strip().rstrip(";").upper().split()], state, scope)


def _is_mongo(text: str) -> bool:
    return _MONGO.fullmatch(text) is not None


def _read_mongo(ev: Evaluator, text: str, state: State, scope: Scope) -> None:
    _run(ev, ["mongosh", "--eval", text.strip()], state, scope)


def _run(ev: Evaluator, words: list[str], state: State, scope: Scope) -> None:
    ev.run_argv([Word(w) for w in words], state.copy(), scope)


def _is_escaped(text: str) -> bool:
    return "\n" not in text and _ESCAPED.search(text) is not None


def _read_escaped(ev: Evaluator, text: str, state: State, scope: Scope) -> None:
    run_text(ev, text.replace("\\n", "\n").replace("\\t", "\t"), State(state.context), scope, [], (0, len(text)))


_Reads = Callable[[str], bool]
_Read = Callable[["Evaluator", str, State, Scope], None]
_READINGS: tuple[tuple[str, _Reads, _Read], ...] = (
    ("escaped_newlines", _is_escaped, _read_escaped),
    ("sql", _is_sql, _read_sql),
    ("redis", _is_redis, _read_redis),
    ("mongodb", _is_mongo, _read_mongo),
)
