"""The SQL surface: role ``sql`` (text or a list of statements), with ``dialect``, ``host``, ``database`` when given."""

from __future__ import annotations

from classifiers.context import Context
from classifiers.effects import Action
from classifiers.sql import classify_sql
from classifiers.surface import CallParts


class SqlSurface:
    name = "sql"

    def classify(self, call_parts: CallParts, context: Context) -> Action | None:
        text = call_parts.values.get("sql")
        if isinstance(text, list) and all(isinstance(line, str) for line in text):
            text = ";\n".join(text)
        if not isinstance(text, str):
            return None
        engine, host, database = (_word(call_parts.values.get(role)) for role in ("dialect", "host", "database"))
        return classify_sql(text, engine, host, database, context, call_parts.path_of("sql"))


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


SURFACE = SqlSurface()
