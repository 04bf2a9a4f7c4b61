"""Questions to a log in SQL (DuckDB, extra ``query``): one view ``records`` over JSON lines, or over Parquet.

In: a log's directory or a Parquet folder, filters. Out: rows. The columns are those of ``audit/columns.py`` in both
cases; only the files that can hold the time asked for are opened. Filters are answered from the newest file back, and
no further than the limit needs. Values are bound, never pasted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from audit.columns import COLUMNS
from audit.cursor import ts_of
from audit.escape import sql
from audit.needles import Filters, Needles, matching, needles
from audit.read import Span, offset_of, seq_of, spans
from audit.segment_reader import open_segment
from audit.summary import SEVERITIES

NEEDS_EXTRA = "query needs DuckDB: uv tool install '.[query]' (or pipx install) from the checkout brings it"
THREADS = 4
_NONE = "(SELECT NULL AS json WHERE false)"
LARGEST_BATCH = 16  # files of a log, of 32 MiB each


class QueryExtraMissingError(ImportError):
    """DuckDB is not installed."""


def open_records(source: Path, *, parquet: bool = False, since: str | None = None, until: str | None = None) -> Any:
    """A DuckDB connection with the view, of that time only. Raises FileNotFoundError, QueryExtraMissingError."""
    connection = _connect()
    if parquet:
        _parquet_view(connection, source)
    else:
        _lines_view(connection, [str(s.path) for s in spans(source, since, until)])
    bounds = [(f"ts {sign} CAST({sql(at)} AS TIMESTAMP)") for sign, at in ((">=", since), ("<=", until)) if at]
    where = f"WHERE {' AND '.join(bounds)}" if bounds else ""
    connection.execute(f"CREATE VIEW records AS SELECT * FROM every {where}")  # noqa: S608 - times escaped above
    return connection


def find(connection: Any, filters: Filters, limit: int, *, newest: bool = True) -> list[str]:
    """The JSON of the records that pass, oldest first; the ``limit`` newest of them."""
    where, values = _where(filters)
    order = "DESC" if newest else "ASC"
    text = f"SELECT record FROM records WHERE {where} ORDER BY ts {order}, seq {order} LIMIT ?"  # noqa: S608 - names from tables here, values bound
    rows = [str(r[0]) for r in connection.execute(text, [*values, limit]).fetchall()]
    return rows[::-1] if newest else rows


def search(source: Path, filters: Filters, limit: int) -> list[str]:
    """As ``find``, over a log's lines: files from the newest back, lines that can pass, until none can be newer.

    Raises FileNotFoundError, QueryExtraMissingError.
    """
    connection, groups = _connect(), needles(filters)
    found: list[str] = []
    for batch, earlier in _from_the_newest(spans(source, filters.since, filters.until) if limit > 0 else ()):
        with ThreadPoolExecutor(THREADS) as pool:  # decompression and reading leave the interpreter's lock
            read = partial(candidates, groups=groups, since=filters.since)
            lines = [line.decode("utf-8", "replace") for line in chain.from_iterable(pool.map(read, batch))]
        _given_view(connection, lines)
        found = sorted(find(connection, filters, limit) + found, key=_place)[-limit:] if lines else found
        if len(found) >= limit and earlier < _place(found[0])[0]:
            break
    return found


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


_COLUMNS = ", ".join(
    (_CASTS[kind].format(f"j->>'$.{path}'") if path is not None else _WORKED_OUT[name]) + f' AS "{name}"'
    for name, (kind, path) in COLUMNS.items()
)


def _connect() -> Any:
    try:
        import duckdb  # noqa: PLC0415 - the extra `query`
    except ImportError:
        raise QueryExtraMissingError(NEEDS_EXTRA) from None
    return duckdb.connect(":memory:")


def _from_the_newest(found: Sequence[Span]) -> Iterator[tuple[list[Span], str]]:
    """Batches, small at first, and the newest time that can be in what comes after."""
    left = sorted(found, key=lambda s: s.last_ts)
    size = 1
    while left:
        batch, left = left[-size:][::-1], left[:-size]
        yield batch, left[-1].last_ts if left else ""
        size = min(size * 2, LARGEST_BATCH)


def candidates(span: Span, groups: Needles, since: str | None = None) -> list[bytes]:
    """The lines of a file that can pass; it may have been compressed since it was listed."""
    path = span.path if span.path.exists() else span.path.with_name(span.path.name + ".zst")
    offset = offset_of(path, since) if since else 0
    with open_segment(path) as file:
        if offset:
            file.seek(offset)
        return list(matching(file.read(), groups))


def _place(record: str) -> tuple[str, int]:
    line = record.encode()
    return ts_of(line), seq_of(line)


def _given_view(connection: Any, lines: list[str]) -> None:
    """A damaged line is no JSON and is left out, as it is over files."""
    given = "SELECT TRY_CAST(unnest(CAST(? AS VARCHAR[])) AS JSON) AS json"
    connection.execute(f"CREATE OR REPLACE TEMP TABLE given AS {given}", [lines])
    connection.execute(f"CREATE OR REPLACE VIEW records AS {_select('given')}")


def _select(source: str) -> str:
    inner = f"SELECT json AS j, {_MATCHES.replace('(j,', '(json,')} AS m FROM {source} WHERE json IS NOT NULL"  # noqa: S608 - names from here or escaped
    return f"SELECT {_COLUMNS} FROM ({inner})"  # noqa: S608


def _lines_view(connection: Any, files: Sequence[str]) -> None:
    # ndjson_objects reads plain and zstd files alike; a line still being written is no object and is left out
    listed = "[" + ", ".join(sql(f) for f in files) + "]"
    source = f"read_ndjson_objects({listed}, ignore_errors=true, maximum_object_size=67108864)" if files else _NONE
    connection.execute(f"CREATE VIEW every AS {_select(source)}")


def _parquet_view(connection: Any, folder: Path) -> None:
    if not any(folder.glob("**/*.parquet")):
        raise FileNotFoundError(f"{folder}: no Parquet files are here")
    pattern = sql(str(folder / "**" / "*.parquet"))
    connection.execute(f"CREATE VIEW every AS SELECT * FROM read_parquet({pattern}, hive_partitioning=false)")  # noqa: S608 - escaped above


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
