"""What a statement defines: CREATE, DROP and ALTER of tables, views, indexes, schemas and databases.

In: such a tree. Out: effects on what is made, removed or altered; False where the phrase table knows better.
"""

from __future__ import annotations

from typing import Any

from classifiers.effects import Breadth, Verb
from classifiers.sql.walk import Walk

_ADDING = frozenset({
    "ColumnDef", "AddConstraint", "AlterRename", "RenameColumn", "AddPartition", "AlterSet", "AlterSession",
    "AlterIndex", "AlterSortKey", "AlterDistStyle", "ColumnPosition", "AddIndex",
})  # fmt: skip


class Definitions(Walk):
    """The part of a walk that reads definitions."""

    def definition(self, tree: Any) -> bool:
        """CREATE, DROP or ALTER of a table-like thing. False: leave it to the phrase table."""
        exp, kind = self.exp, str(tree.args.get("kind") or "").upper()
        names = [n for n in (tree.args.get("tables") or [tree.this]) if n is not None]
        if kind not in {"TABLE", "VIEW", "INDEX", "DATABASE", "SCHEMA", "SEQUENCE", "TYPE", "MATERIALIZED VIEW"}:
            return False
        for name in names:
            inner = name.find(exp.Table)
            target = self.defined(inner, kind)
            if inner is not None:
                self.written.add(id(inner))
            if isinstance(tree, exp.Create):
                replaces = bool(tree.args.get("replace"))
                self.cloned(tree)
                self.add(Verb.MODIFY if replaces else Verb.CREATE, target, destructive=None if replaces else False)
            elif isinstance(tree, exp.Drop):
                self.add(Verb.DELETE, target, breadth=Breadth.ALL if kind in {"DATABASE", "SCHEMA"} else Breadth.ONE)
            else:
                actions = tree.args.get("actions") or ()
                if actions and type(actions[0]).__name__ == "Delete":  # ClickHouse's ALTER … DELETE WHERE
                    self.add(Verb.DELETE, target, breadth=Breadth.MANY)
                    continue
                erases = any(type(a).__name__ in {"Drop", "DropPartition"} for a in actions)
                adds = bool(actions) and all(_keeps_values(a) for a in actions)
                self.add(Verb.MODIFY, target, destructive=True if erases else False if adds else None)
        return bool(names)

    def cloned(self, tree: Any) -> None:
        """CREATE TABLE … CLONE | LIKE other: the other is read."""
        clone = tree.args.get("clone") or tree.find(self.exp.LikeProperty)
        for table in self.tables_in(clone):
            self.written.add(id(table))
            self.add(Verb.READ, self.table(table))

    def defined(self, table: Any, kind: str) -> str:
        if table is None:
            return self.place.target()
        if kind in {"DATABASE", "SCHEMA"}:
            return self.place.target(database=table.name or table.args["db"].name)
        return self.table(table)


def _keeps_values(action: Any) -> bool:
    """A part of ALTER TABLE that touches no stored value; a new column type may cut them off."""
    name = type(action).__name__
    return name in _ADDING or (name == "AlterColumn" and action.args.get("dtype") is None)
