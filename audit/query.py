"""Questions to a log in SQL (DuckDB, extra ``query``): one view ``records`` over JSON lines, or over Parquet.

In: a log's directory or a Parquet folder, filters. Out: rows. The columns are those of ``audit/columns.py`` in both
cases; with ``since`` only the files that can hold it are opened. Values are bound, never pasted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.columns import COLUMNS
from audit.escape import sql
from audit.read import segments_since
from audit.summary import SEVERITIES

NEEDS_EXTRA = "query needs DuckDB: uv tool install '.[query]' (or pipx install) from the checkout brings it"


class QueryExtraMissingError(ImportError):
    """DuckDB is not installed."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty: not asked. Effect, domain and target must hold of one effect; globs are ``*`` and ``?``."""

    since: str | None = None
    until: str | None = None
    equal: Mapping[str, str] = field(default_factory=dict)  # column → value
    glob: Mapping[str, str] = field(default_factory=dict)  # column → glob
    action: str | None = None
    domain: str | None = None
    target: str | None = None
    rule: str | None = None
    least_severity: str | None = None


def open_records(source: Path, *, parquet: bool = False, since: str | None = None) -> Any:
    """A DuckDB connection with the view. Raises FileNotFoundError, QueryExtraMissingError."""
    try:
        import duckdb  # noqa: PLC0415 - the extra `query`
    except ImportError:
        raise QueryExtraMissingError(NEEDS_EXTRA) from None
    connection = duckdb.connect(":memory:")
    if parquet:
        _parquet_view(connection, source)
    else:
        _lines_view(connection, [str(p) for p in segments_since(source, since)])
    return connection


def find(connection: Any, filters: Filters, limit: int, *, newest: bool = True) -> list[str]:
    """The JSON of the records that pass, oldest first; the ``limit`` newest of them."""
    where, values = _where(filters)
    order = "DESC" if newest else "ASC"
    text = f"SELECT record FROM records WHERE {where} ORDER BY ts {order}, seq {order} LIMIT ?"  # noqa: S608 - names from tables here, values bound
    rows = [str(r[0]) for r in connection.execute(text, [*values, limit]).fetchall()]
    return rows[::-1] if newest else rows


def run(connection: Any, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """A statement of the user's: column names and rows. Raises ValueError with the engine's sentence."""
    try:
        done = connection.execute(text)
        return [d[0] for d in done.description or []], done.fetchall()
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in {"duckdb", "_duckdb"}:
            raise
        raise ValueError(f"query: {str(error).splitlines()[0]}") from error


_SEVERITY_LIST = "[" + ", ".join(f"'{s}'" for s in SEVERITIES) + "]"
_MATCHES = (
    "list_filter(json_extract(j, '$.policy[*].findings[*]'), "
    "lambda f: f->>'$.result' = 'match' AND f->>'$.status' = 'stable')"
)
_OBJECTIVE = (
    "CASE WHEN j->>'$.objective.verdict' IN ('outside_scope', 'contradicts') THEN j->>'$.objective.severity' END"
)
_RANKS = (
    f"list_transform(list_append(list_transform(m, lambda f: f->>'$.severity'), {_OBJECTIVE}), "
    f"lambda s: list_position({_SEVERITY_LIST}, s))"
)

# Columns a path alone does not give, as SQL over j (the line) and m (its matches).
_WORKED_OUT = {
    "verdict": "j->>'$.objective.verdict'",
    "severity": f"{_SEVERITY_LIST}[list_max({_RANKS})]",
    "rules": "list_transform(m, lambda f: f->>'$.rule')",
    "domains": "json_extract_string(j, '$.classification.effects[*].domain')",
    "actions": "json_extract_string(j, '$.classification.effects[*].action')",
    "targets": (
        "list_transform(json_extract(j, '$.classification.effects[*]'), "
        "lambda e: coalesce(e->>'$.target', e->>'$.target_raw', ''))"
    ),
    "effect": "concat_ws(' ', j->>'$.classification.effects[0].action', j->>'$.classification.effects[0].domain')",
    "what": "j->>'$.kind'",
    "record": "CAST(j AS VARCHAR)",
}
_CASTS = {
    "text": "{}",
    "number": "TRY_CAST({} AS BIGINT)",
    "flag": "TRY_CAST({} AS BOOLEAN)",
    "time": "TRY_CAST({} AS TIMESTAMP)",
}


def _lines_view(connection: Any, files: Sequence[str]) -> None:
    columns = [
        (_CASTS[kind].format(f"j->>'$.{path}'") if path is not None else _WORKED_OUT[name]) + f' AS "{name}"'
        for name, (kind, path) in COLUMNS.items()
    ]
    # ndjson_objects reads plain and zstd files alike; a line still being written is no object and is left out
    listed = "[" + ", ".join(sql(f) for f in files) + "]"
    source = f"read_ndjson_objects({listed}, ignore_errors=true, maximum_object_size=67108864)"
    inner = f"SELECT json AS j, {_MATCHES.replace('(j,', '(json,')} AS m FROM {source} WHERE json IS NOT NULL"  # noqa: S608 - file names escaped above
    connection.execute(f"CREATE VIEW records AS SELECT {', '.join(columns)} FROM ({inner})")  # noqa: S608


def _parquet_view(connection: Any, folder: Path) -> None:
    if not any(folder.glob("**/*.parquet")):
        raise FileNotFoundError(f"{folder}: no Parquet files are here")
    pattern = sql(str(folder / "**" / "*.parquet"))
    connection.execute(f"CREATE VIEW records AS SELECT * FROM read_parquet({pattern}, hive_partitioning=false)")  # noqa: S608 - escaped above


def _where(filters: Filters) -> tuple[str, list[Any]]:
    parts: list[str] = ["true"]
    values: list[Any] = []

    def add(part: str, *bound: Any) -> None:
        parts.append(part)
        values.extend(bound)

    if filters.since:
        add("ts >= CAST(? AS TIMESTAMP)", filters.since)
    if filters.until:
        add("ts <= CAST(? AS TIMESTAMP)", filters.until)
    for column, value in filters.equal.items():
        add(f'"{_known(column)}" = ?', value)
    for column, value in filters.glob.items():
        add(f'"{_known(column)}" GLOB ?', value)
    if filters.rule:
        add("len(list_filter(rules, lambda r: r GLOB ?)) > 0", filters.rule)
    if filters.least_severity:
        add(f"list_position({_SEVERITY_LIST}, severity) >= ?", SEVERITIES.index(filters.least_severity) + 1)
    effect = [("e[1] = ?", filters.action), ("e[2] = ?", filters.domain), ("e[3] GLOB ?", filters.target)]
    asked = [(test, value) for test, value in effect if value]
    if asked:
        tests = " AND ".join(test for test, _ in asked)
        add(f"len(list_filter(list_zip(actions, domains, targets), lambda e: {tests})) > 0", *(v for _, v in asked))
    return " AND ".join(parts), values


def _known(column: str) -> str:
    if column not in COLUMNS:
        raise ValueError(f"query: no column {column!r}")
    return column
