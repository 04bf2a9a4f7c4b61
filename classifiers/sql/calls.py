"""What the functions a statement calls do: files, processes and networks reached from inside a database.

In: a statement's tree. Out: the effects ``functions.yaml`` tells of them; a function nobody knows is run unread.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from classifiers.datafile import alternatives
from classifiers.datafile import table as rows_of
from classifiers.effects import Domain, OpaqueReason, Verb
from classifiers.sql.split import starts_like_sql
from classifiers.sql.walk import Walk
from classifiers.templates import Given, fill_all

_FILE = "read filesystem:{path:0} read_only"
# By the scheme of an address, DuckDB documentation, "HTTP(S) Support", "S3 API Support", "Azure Extension".
_SOURCES = dict.fromkeys(("http", "https", "ftp"), "receive network:{host:0} read_only") | dict.fromkeys(
    ("s3", "s3a", "s3n", "gs", "gcs", "r2", "az", "azure", "abfs", "abfss"), "read cloud:{text:0} read_only"
)
_EMBEDDED = frozenset({"sqlite", "duckdb", None})


class Calls(Walk):
    """The part of a walk that reads calls."""

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
                    lines = [source_line(arguments[0] if arguments else None)]
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


def source_line(name: str | None) -> str:
    """How a file that a query names is read: by its address, from an object store, from the disk."""
    scheme = (name or "").partition("://")[0].lower() if "://" in (name or "") else ""
    return _SOURCES.get(scheme, _FILE)


def _host_in(text: str | None) -> str | None:
    """The host of a libpq connection string (``host=db1 dbname=x`` or a URL)."""
    named = re.search(r"\bhost(?:addr)?\s*=\s*'?([\w.-]+)", text or "")
    return named.group(1) if named else text
