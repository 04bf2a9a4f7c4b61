"""The SQL surface: role ``sql`` (text or a list of statements), with ``dialect``, ``host``, ``database`` when given.

MongoDB's orders are read here too: its dialect is mongosh's JavaScript, or one ``operation`` with its ``collection``
and ``argument``.
"""

from __future__ import annotations

from typing import Any

from classifiers.code import classify_code
from classifiers.context import Context
from classifiers.effects import Action, Surface
from classifiers.mongodb import Place, told
from classifiers.sql import classify_sql
from classifiers.surface import CallParts


class SqlSurface:
    name = "sql"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        text = call_parts.values.get("sql")
        given = {role: _word(call_parts.values.get(role)) for role in ("host", "database", "collection", "operation")}
        if call_parts.values.get("dialect") == "mongodb" and given["operation"]:
            return _operation(given, call_parts.values.get("argument"))
        if isinstance(text, list) and all(isinstance(line, str) for line in text):
            text = ";\n".join(text)
        if not isinstance(text, str):
            return None
        engine, host, database = (_word(call_parts.values.get(role)) for role in ("dialect", "host", "database"))
        if engine == "mongodb":
            where = (host, database)
            return classify_code(text, "mongosh", context, call_parts.path_of("sql"), call_parts.depth, server=where)
        return classify_sql(text, engine, host, database, context, call_parts.path_of("sql"))


def _operation(given: dict[str, str | None], argument: Any) -> Action | None:
    """One operation by its name."""
    place = Place(*(given[role] or "" for role in ("host", "database", "collection")))
    effects = told(given["operation"] or "", place, argument)
    return None if effects is None else Action(Surface.SQL, tuple(effects))


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


SURFACE = SqlSurface()
