"""What a walk over one statement's tree shares: where its effects go and what its tables are called.

In: a sqlglot expression's parts. Out: names, targets, and database effects added to the site's ``out``.
"""

from __future__ import annotations

from typing import Any

from classifiers.effects import Domain, Verb
from classifiers.sql.place import Site


class Walk:
    """One statement's walk; adds to ``out``."""

    def __init__(self, exp: Any, site: Site) -> None:
        self.exp, self.span, self.place, self.context, self.out = exp, site.span, site.place, site.context, site.out
        self.variables = site.variables
        self.written: set[int] = set()  # id() of Table nodes that are the object of a write
        self.changed: set[str] = set()  # targets of the writes: looking where to change is no reading of its own

    def add(self, verb: Verb, target: str, **more: Any) -> None:
        self.out.add(Domain.DATABASE, verb, target, span=self.span, where=self.place.where, **more)

    def tables_in(self, part: Any) -> list[Any]:
        nodes = part if isinstance(part, list) else [part]
        return [t for n in nodes if isinstance(n, self.exp.Expression) for t in n.find_all(self.exp.Table)]

    def literal(self, node: Any) -> str | None:
        node = node.expression if isinstance(node, self.exp.EQ) else node
        return str(node.this) if isinstance(node, self.exp.Literal | self.exp.National) else None

    def name_of(self, node: Any) -> str:
        return ".".join(p.name for p in node.parts) if isinstance(node, self.exp.Table) else ""

    def table(self, table: Any) -> str:
        return self.place.table(*[temporary_mark(p) + p.name for p in table.parts])


def temporary_mark(part: Any) -> str:
    """The mark of SQL Server's temporary tables, which the parser takes off."""
    return "##" if part.args.get("global_") else "#" if part.args.get("temporary") else ""
