"""Read the parser's tree of one statement: which tables it reads, makes, changes or deletes, and what its calls do.

In: a sqlglot expression. Out: True when the tree says it all; False hands the statement to the phrase table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from classifiers.datafile import alternatives
from classifiers.datafile import table as rows_of
from classifiers.effects import Breadth, Domain, OpaqueReason, Verb
from classifiers.sql.phrases import MAX_DEPTH, Again, run_procedure
from classifiers.sql.place import Site
from classifiers.sql.split import starts_like_sql
from classifiers.templates import Given, fill_all

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
_FILE = "read filesystem:{path:0} read_only"
# By the scheme of an address, DuckDB documentation, "HTTP(S) Support", "S3 API Support", "Azure Extension".
_SOURCES = dict.fromkeys(("http", "https", "ftp"), "receive network:{host:0} read_only") | dict.fromkeys(
    ("s3", "s3a", "s3n", "gs", "gcs", "r2", "az", "azure", "abfs", "abfss"), "read cloud:{text:0} read_only"
)
_EMBEDDED = frozenset({"sqlite", "duckdb", None})
_ADDING = frozenset({
    "ColumnDef", "AddConstraint", "AlterRename", "RenameColumn", "AddPartition", "AlterSet", "AlterSession",
    "AlterIndex", "AlterSortKey", "AlterDistStyle", "ColumnPosition", "AddIndex",
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


class _Reader:
    """One statement's walk; adds to ``out``."""

    def __init__(self, exp: Any, site: Site) -> None:
        self.exp, self.span, self.place, self.context, self.out = exp, site.span, site.place, site.context, site.out
        self.variables = site.variables
        self.written: set[int] = set()  # id() of Table nodes that are the object of a write
        self.changed: set[str] = set()  # targets of the writes: looking where to change is no reading of its own

    def add(self, verb: Verb, target: str, **more: Any) -> None:
        self.out.add(Domain.DATABASE, verb, target, span=self.span, where=self.place.where, **more)

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
        if named is not None and (marked or (self.variables and not _temporary(named.this))):
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

    def tables_in(self, part: Any) -> list[Any]:
        nodes = part if isinstance(part, list) else [part]
        return [t for n in nodes if isinstance(n, self.exp.Expression) for t in n.find_all(self.exp.Table)]

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
                self.put_lines([_source(name)], [name])
            elif self.table(table) not in self.changed:
                self.add(Verb.READ, self.table(table))
            found = True
        if not found and not wrote:
            found = self.run_own(self.own_functions(tree))
        if not found and not wrote and tree.find(self.exp.Select, self.exp.Values) is not None:
            self.add(Verb.READ, self.place.target())

    def own_functions(self, tree: Any) -> list[str]:
        """Functions a query selects that are none of the engines' own: ``SELECT tidy_up(30)`` runs what it holds."""
        selected = tree.expressions if isinstance(tree, self.exp.Select) else []
        called = [s.unalias() for s in selected]
        names = [str(c.this) for c in called if self.is_called(c)]
        return self.named_own([*names, *(c.sql().partition("(")[0] for c in called if isinstance(c, self.exp.Dot))])

    def is_called(self, node: Any) -> bool:
        return isinstance(node, self.exp.Anonymous)

    def named_own(self, names: list[str]) -> list[str]:
        builtin = re.compile(rows_of("sql/functions.yaml")["builtin"])
        known = alternatives("sql/functions.yaml", "functions")
        plain = {n: n.lower().removeprefix("pg_catalog.") for n in names}
        return [n for n, flat in plain.items() if flat not in known and builtin.fullmatch(flat) is None]

    def run_own(self, names: list[str]) -> bool:
        """Functions of the database's own, which nobody has read; whether there are any."""
        for name in names:
            self.add(Verb.EXECUTE, self.place.target(name), destructive=None)
            self.out.hide(OpaqueReason.PAYLOAD_UNREADABLE, self.span, f"function {name}")
        return bool(names)

    def calls(self, tree: Any) -> list[str]:
        """Functions the table knows: files, processes, networks reached from inside. Given back: what they run."""
        known = alternatives("sql/functions.yaml", "functions")
        runs = rows_of("sql/functions.yaml")["runs"]
        inner: list[str] = []
        for name, arguments in self.functions(tree):
            told = known.get(name) or known.get(name.rpartition(".")[2])
            if isinstance(told, dict):  # something it does is not read
                self.out.hide(OpaqueReason(told["open"]), self.span, name)
            if told is not None:
                lines = told["effects"] if isinstance(told, dict) else told
                if lines == [_FILE]:  # DuckDB's readers take addresses too
                    lines = [_source(arguments[0] if arguments else None)]
                self.put_lines(lines, [_host_in(a) if name.startswith("dblink") else a for a in arguments])
            if name in runs:
                inner += [a for a in arguments if a is not None and starts_like_sql(a)]
        return inner

    def functions(self, tree: Any) -> Iterator[tuple[str, list[str | None]]]:
        for call in tree.find_all(self.exp.Func):
            anonymous = isinstance(call, self.exp.Anonymous | self.exp.AnonymousAggFunc)
            name = str(call.this) if anonymous else call.sql_name()
            parent = call.parent
            if isinstance(parent, self.exp.Dot):
                name = f"{parent.this.sql()}.{name}"
            own = [v for v in call.args.values() if isinstance(v, self.exp.Expression)]
            values = call.expressions if anonymous or not own else own
            several = values[0].expressions if values and isinstance(values[0], self.exp.Array) else values[:1]
            for first in several or [None]:  # a list of files is one call for each
                yield name.lower(), [self.literal(v) for v in (first, *values[1:]) if v is not None]

    def put_lines(self, lines: list[str], arguments: list[str | None]) -> None:
        def lookup(key: str) -> Given | None:
            index = int(key)
            return Given(arguments[index], "?") if index < len(arguments) else None

        # a server resolves a relative path in its own folder; an embedded engine in the caller's
        context = self.context if self.place.engine in _EMBEDDED else replace(self.context, cwd=None)
        for effect in fill_all(lines, lookup, context):
            database = effect.domain is Domain.DATABASE and effect.target is None
            target = self.place.target() if database else effect.target
            self.out.put(replace(effect, where=self.place.where, target=target), self.span)

    def literal(self, node: Any) -> str | None:
        node = node.expression if isinstance(node, self.exp.EQ) else node
        return str(node.this) if isinstance(node, self.exp.Literal | self.exp.National) else None

    def name_of(self, node: Any) -> str:
        return ".".join(p.name for p in node.parts) if isinstance(node, self.exp.Table) else ""

    def table(self, table: Any) -> str:
        return self.place.table(*[_temporary(p) + p.name for p in table.parts])


def _temporary(part: Any) -> str:
    """The mark of SQL Server's temporary tables, which the parser takes off."""
    return "##" if part.args.get("global_") else "#" if part.args.get("temporary") else ""


def _keeps_values(action: Any) -> bool:
    """A part of ALTER TABLE that touches no stored value; a new column type may cut them off."""
    name = type(action).__name__
    return name in _ADDING or (name == "AlterColumn" and action.args.get("dtype") is None)


def _source(name: str | None) -> str:
    """How a file that a query names is read: by its address, from an object store, from the disk."""
    scheme = (name or "").partition("://")[0].lower() if "://" in (name or "") else ""
    return _SOURCES.get(scheme, _FILE)


def _host_in(text: str | None) -> str | None:
    """The host of a libpq connection string (``host=db1 dbname=x`` or a URL)."""
    named = re.search(r"\bhost(?:addr)?\s*=\s*'?([\w.-]+)", text or "")
    return named.group(1) if named else text
