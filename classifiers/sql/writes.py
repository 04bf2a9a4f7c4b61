"""Rows that a statement adds, changes or deletes, and in which tables: INSERT, UPDATE, DELETE, MERGE, TRUNCATE, INTO.

In: one such node of the tree. Out: effects on its targets; ``written`` and ``changed`` remember them for the reads.
"""

from __future__ import annotations

from typing import Any

from classifiers.effects import Breadth, Verb
from classifiers.sql.walk import Walk, temporary_mark


class Writes(Walk):
    """The part of a walk that reads what is written."""

    def write(self, node: Any) -> None:
        """One INSERT, UPDATE, DELETE, MERGE or TRUNCATE, wherever in the statement it stands."""
        exp = self.exp
        targets = self.targets_of(node)
        self.changed.update(targets)
        for target in targets or [self.place.target()]:
            if isinstance(node, exp.Insert):
                upsert = self.replaces(node)
                self.add(Verb.MODIFY if upsert else Verb.CREATE, target, destructive=None if upsert else False)
            elif isinstance(node, exp.Update):
                bounded = self.is_bounded(node)
                breadth = Breadth.MANY if bounded else Breadth.ALL
                self.add(Verb.MODIFY, target, destructive=None if bounded else True, breadth=breadth)
            elif isinstance(node, exp.Delete):
                self.add(Verb.DELETE, target, breadth=Breadth.MANY if self.is_bounded(node) else Breadth.ALL)
            elif isinstance(node, exp.TruncateTable):
                self.add(Verb.DELETE, target, breadth=Breadth.ALL)
            else:
                self.merge(node, target)

    def merge(self, node: Any, target: str) -> None:
        """Each kind of arm a MERGE has, once."""
        arms = {str(when.args.get("then")).upper().split()[0] for when in node.find_all(self.exp.When)}
        if arms & {"UPDATE", "UPDATE*"} or not arms & {"DELETE", "INSERT", "DO"}:
            self.add(Verb.MODIFY, target, destructive=None, breadth=Breadth.MANY)
        if "DELETE" in arms:
            self.add(Verb.DELETE, target, breadth=Breadth.MANY)
        if "INSERT" in arms:
            self.add(Verb.CREATE, target, destructive=False)

    def replaces(self, node: Any) -> bool:
        """An INSERT that may change rows that are there; one that leaves them alone (DO NOTHING, IGNORE) does not."""
        conflict = node.args.get("conflict")
        nothing = conflict is not None and "NOTHING" in str(conflict.args.get("action")).upper()
        alternative = str(node.args.get("alternative") or "IGNORE").upper()
        return (conflict is not None and not nothing) or bool(node.args.get("overwrite")) or alternative != "IGNORE"

    def made(self, node: Any) -> None:
        """SELECT … INTO new_table; inside a block, and where a name is marked as one, it is a variable."""
        named = node.find(self.exp.Table)
        marked = named is not None and isinstance(named.this, self.exp.Parameter | self.exp.SessionParameter)
        if named is not None and (marked or (self.variables and not temporary_mark(named.this))):
            self.written.add(id(named))
            return
        for target in self.targets_of(node):
            self.add(Verb.CREATE, target)

    def targets_of(self, node: Any) -> list[str]:
        exp = self.exp
        truncates = isinstance(node, exp.TruncateTable)
        tables = list(node.expressions) if truncates else [node.this]
        if isinstance(node, exp.Delete) and node.args.get("tables"):
            tables = self.deleted_of(node)
        if isinstance(node, exp.Update):
            tables = [self.updated_of(node)]
            tables += self.also_set(node, tables[0])
        out = []
        for table in tables:
            inner = table.find(exp.Table) if isinstance(table, exp.Expression) else None
            if inner is not None:
                self.written.add(id(inner))
                out.append(self.table(inner))
        return list(dict.fromkeys(out))

    def also_set(self, node: Any, first: Any) -> list[Any]:
        """MySQL's ``UPDATE a, b SET a.x = 1, b.y = 2`` changes both."""
        assigned = [e.this for e in node.expressions if isinstance(e, self.exp.EQ)]
        named = {c.table.lower() for c in assigned if isinstance(c, self.exp.Column) and c.table}
        joined = [t for t in node.find_all(self.exp.Table) if t is not first and t.parent_select is None]
        own = first.alias_or_name.lower() if isinstance(first, self.exp.Table) else ""
        return [t for t in joined if t.alias_or_name.lower() in named - {own}]

    def updated_of(self, node: Any) -> Any:
        """SQL Server's ``UPDATE s SET … FROM dbo.Stock s``: the table behind the name."""
        sources = self.tables_in([node.args.get("from_") or node.args.get("from")])
        named = node.this.name if isinstance(node.this, self.exp.Table) else ""
        found = next((t for t in sources if t.alias and t.alias.lower() == named.lower()), None)
        if found is not None:
            self.written.add(id(node.this))
        return found if found is not None else node.this

    def deleted_of(self, node: Any) -> list[Any]:
        """MySQL's ``DELETE a, b FROM t a JOIN u b``: the tables behind the names; the others are only read."""
        named = node.args["tables"]
        self.written.update(id(name) for name in named)
        behind = {t.alias_or_name: t for part in (node.this, node.args.get("using")) for t in self.tables_in(part)}
        return [behind.get(name.name, node.this or name) for name in named]

    def is_bounded(self, node: Any) -> bool:
        """A WHERE that can be false, or a LIMIT: ``WHERE 1=1`` is no bound."""
        where = node.args.get("where")
        if where is None:
            return node.args.get("limit") is not None
        condition = where.this.unnest()
        if isinstance(condition, self.exp.Boolean):
            return not condition.this
        if isinstance(condition, self.exp.EQ) and condition.this == condition.expression:
            return False
        return not isinstance(condition, self.exp.Literal)
