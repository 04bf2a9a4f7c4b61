"""Name a database object as one target: ``db:<engine>:<host>/<database>/<table>``, ``*`` for what is not said."""

from __future__ import annotations

from dataclasses import dataclass

from classifiers.context import Context
from classifiers.gather import Gather

# Engines whose ``a.b`` names database a, table b; elsewhere a is a schema and stays with the table.
_QUALIFIER_IS_DATABASE = frozenset({"mysql", "mariadb", "clickhouse", "hive", "spark", "databricks"})


@dataclass(frozen=True, slots=True)
class Place:
    engine: str | None = None
    host: str | None = None
    database: str | None = None

    @property
    def where(self) -> str:
        local = self.host in {None, "", "*", "localhost", "127.0.0.1", "::1"} or str(self.host).startswith("/")
        return "local" if local else f"host:{self.host}"

    def target(self, table: str | None = None, database: str | None = None) -> str:
        base = f"db:{self.engine or '*'}:{self.host or '*'}/{database or self.database or '*'}"
        return base if table is None else f"{base}/{table}"

    def table(self, *parts: str) -> str:
        """``parts`` is the qualified name, outermost first."""
        names = [p for p in parts if p]
        if len(names) >= 3 or (len(names) == 2 and self.engine in _QUALIFIER_IS_DATABASE):
            return self.target(".".join(names[1:]), names[0])
        return self.target(".".join(names))


@dataclass(frozen=True, slots=True)
class Site:
    """Where one statement stands: the database, the call's context, its span, and what collects its effects."""

    place: Place
    context: Context
    out: Gather
    span: tuple[int, int] = (0, 0)
    depth: int = 0  # statements this one stands inside
    variables: bool = False  # inside a block of PL/pgSQL or PL/SQL: what is selected goes into variables
