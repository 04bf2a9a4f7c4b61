"""Read the parser's tree of one statement: which tables it reads, makes, changes or deletes, and what its calls do.

In: a sqlglot expression. Out: True when the tree says it all; False hands the statement to the phrase table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from classifiers.datafile import alternatives
from classifiers.effects import Verb
from classifiers.sql.calls import Calls, source_line
from classifiers.sql.definitions import Definitions
from classifiers.sql.phrases import MAX_DEPTH, Again, run_procedure
from classifiers.sql.place import Site
from classifiers.sql.writes import Writes

_STATEMENTS = frozenset({
    "Select", "Union", "Except", "Intersect", "Subquery", "Insert", "Update", "Delete", "Merge", "Create", "Drop",
    "Alter", "TruncateTable", "Copy", "Grant", "Revoke", "Set", "Use", "Show", "Describe", "Pragma", "Attach",
    "Detach", "Command", "Transaction", "Commit", "Rollback", "Kill", "Comment", "Analyze", "Execute", "LoadData",
    "Cache", "Uncache", "Refresh", "Values", "With", "Table", "Export",
})  # fmt: skip
# Trees that say no more than their first words do: the phrase table knows these statements better.
_BY_PHRASE = frozenset({
    "Command", "Copy", "Grant", "Revoke", "Set", "Use", "Show", "Describe", "Pragma", "Attach", "Detach",
    "Transaction", "Commit", "Rollback", "Kill", "Comment", "Analyze", "LoadData", "Cache", "Uncache", "Refresh",
    "Export",
})  # fmt: skip


def is_statement(tree: Any) -> bool:
    return type(tree).__name__ in _STATEMENTS


def read_tree(tree: Any, site: Site, again: Again) -> bool:
    """Add the tree's effects; False when the phrase table should answer (nothing is added then).

    ``again`` reads a statement that a function is given as text.
    """
    from sqlglot import exp  # noqa: PLC0415 - see statement.py

    kind = type(tree).__name__
    if kind in _BY_PHRASE:
        return False
    reader = _Reader(exp, site)
    if kind == "Execute":
        name = reader.name_of(tree.this) or str(tree.this)
        run_procedure(name, [reader.literal(e) or "" for e in tree.expressions], site)
        return True
    if kind in {"Create", "Drop", "Alter"} and not reader.definition(tree):
        return False
    before = len(site.out.effects)
    for node in tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Merge, exp.TruncateTable):
        if not isinstance(node.parent, exp.When | exp.Alter):  # these say what their MERGE or ALTER does
            reader.write(node)
    for node in tree.find_all(exp.Into):
        reader.made(node)
    wrote = len(site.out.effects) > before
    for inner in reader.calls(tree):
        if site.depth < MAX_DEPTH:
            again(inner, replace(site, depth=site.depth + 1))
    if kind not in {"Create", "Drop", "Alter", "TruncateTable"} or tree.find(exp.Select) is not None:
        reader.reads(tree, wrote=wrote)
    return True


class _Reader(Writes, Definitions, Calls):
    """The whole walk: what is written, defined and called, and then what is only read."""

    def reads(self, tree: Any, *, wrote: bool) -> None:
        """Every table that is named and not written; the database itself when a query names none."""
        ctes = {c.alias_or_name.lower() for c in tree.find_all(self.exp.CTE)}
        found = False
        for table in tree.find_all(self.exp.Table):
            name = table.name
            if isinstance(table.this, self.exp.Func):  # a function in FROM: what it reads is told by it
                called = ".".join(filter(None, [table.db, str(table.this.this)]))
                found = not self.is_called(table.this) or self.run_own(self.named_own([called])) or found
                found = found or called.lower() in alternatives("sql/functions.yaml", "functions")
            if id(table) in self.written or not name or (name.lower() in ctes and not table.args.get("db")):
                continue
            if isinstance(table.this, self.exp.Literal) or "/" in name or name.endswith((".csv", ".parquet", ".json")):
                self.put_lines([source_line(name)], [name])
            elif self.table(table) not in self.changed:
                self.add(Verb.READ, self.table(table))
            found = True
        if not found and not wrote:
            found = self.run_own(self.own_functions(tree))
        if not found and not wrote and tree.find(self.exp.Select, self.exp.Values) is not None:
            self.add(Verb.READ, self.place.target())
