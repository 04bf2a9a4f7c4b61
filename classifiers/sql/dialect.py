"""Which SQL grammars to try for a text: the engine's own when it is named, else what the text's marks suggest."""

from __future__ import annotations

import re

# Engine names as clients and tools write them, to sqlglot's dialect.
_ENGINES = {
    alias: dialect
    for dialect, aliases in {
        "postgres": "postgres postgresql psql pg supabase neon cockroachdb cockroach timescale",
        "redshift": "redshift",
        "mysql": "mysql mariadb tidb planetscale",
        "sqlite": "sqlite sqlite3 libsql turso d1",
        "duckdb": "duckdb motherduck",
        "tsql": "tsql mssql sqlserver sqlcmd",
        "oracle": "oracle sqlplus",
        "snowflake": "snowflake snowsql",
        "bigquery": "bigquery bq",
        "clickhouse": "clickhouse clickhouse-client",
        "hive": "hive",
        "spark": "spark",
        "databricks": "databricks",
        "trino": "trino",
        "presto": "presto",
        "athena": "athena",
    }.items()
    for alias in aliases.split()
}
_MARKS = {
    "postgres": r"\$\w*\$|::\w|\bilike\b|\breturning\b|\bpg_\w+|\blo_\w+|\bon conflict\b|\bserial\b",
    "tsql": r"\bxp_\w+|\bsp_\w+|^\s*exec\b|\bnvarchar\b|\btop\s*\(?\d+|\[\w+\]\.|\bopenrowset\b|^\s*go\s*$"
    r"|\bdbo\.|\s#\w+",
    "sqlite": r"\bpragma\b|\battach\s+(database\b|')|\bvacuum\s+into\b|\bsqlite_\w+|\bautoincrement\b",
    "mysql": r"`|\binto\s+(outfile|dumpfile)\b|\bload\s+data\b|\bauto_increment\b|\bengine\s*=|\bload_file\b",
    "oracle": r"\bvarchar2\b|\bfrom\s+dual\b|\butl_\w+|\bdbms_\w+",
    "snowflake": r"\bcopy\s+into\b|\bwarehouse\b|@~?/|\bcreate\s+(or\s+replace\s+)?stage\b",
    "bigquery": r"`[\w-]+\.[\w-]+\.[\w-]+`|\bexport\s+data\b|\bstruct<|\barray<",
}
_MARKED = {name: re.compile(marks, re.IGNORECASE | re.MULTILINE) for name, marks in _MARKS.items()}


def dialect_of(engine: str | None) -> str | None:
    return _ENGINES.get((engine or "").lower())


_HOSTED = {
    "supabase": "postgres", "neon": "postgres", "pg": "postgres", "psql": "postgres", "postgresql": "postgres",
    "planetscale": "mysql", "turso": "sqlite", "d1": "sqlite", "motherduck": "duckdb", "bq": "bigquery",
}  # fmt: skip


def engine_of(name: str | None) -> str | None:
    """The engine as targets name it; None when nobody knows it."""
    plain = (name or "").lower()
    return _HOSTED.get(plain, plain) if dialect_of(plain) else None


def dialects(text: str, engine: str | None) -> tuple[str | None, ...]:
    """At most three, best first; None is sqlglot's generic grammar."""
    own = dialect_of(engine)
    if own:
        return (own, None)
    guessed = [name for name, mark in _MARKED.items() if mark.search(text)]
    return tuple(dict.fromkeys((*guessed[:2], None, "postgres")))[:3]
