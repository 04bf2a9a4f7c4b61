"""Where a database client connects: a connection address in, host and database name out.

Forms: ``postgres://user@host:port/name?…`` (PostgreSQL 16, 34.1.1.2; MongoDB and Redis alike) and libpq's
``host=… dbname=…`` (34.1.1.1).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from urllib.parse import unquote

_SCHEME = re.compile(
    r"(?:postgres(?:ql)?|cockroachdb|mysqlx?|mariadb|mongodb(?:\+srv)?|rediss?|valkeys?|clickhouse|sqlserver|mssql)://"
)
_WORDS = re.compile(r"\s*\w+\s*=\s*\S*(?:\s+\w+\s*=\s*\S*)*\s*\Z")
_PAIR = re.compile(r"(\w+)\s*=\s*(\S*)")
_SAID_IN = ("dbname", "uri", "url", "u", "address")  # options and operands that may hold an address
_HOST, _DATABASE = ("host", "h"), ("dbname", "database", "db", "d", "n")


def database(text: str) -> Mapping[str, str] | None:
    """``host`` (with its port) and ``database`` of an address; None when ``text`` is no address."""
    if scheme := _SCHEME.match(text):
        place, _, rest = text[scheme.end() :].partition("/")
        return {"host": place.rpartition("@")[2], "database": unquote(re.split(r"[?#]", rest, maxsplit=1)[0])}
    if "=" in text and _WORDS.match(text):
        pairs = dict(_PAIR.findall(text))
        if pairs.keys() & {"dbname", "host"}:
            return {"host": pairs.get("host", ""), "database": pairs.get("dbname", "")}
    return None


def spread(values: MutableMapping[str, list[str]]) -> None:
    """Put what an address among ``values`` says under the names host and database have as options of their own."""
    for name in _SAID_IN:
        for text in values.get(name, ()):
            found = database(text) if "=" in text or "://" in text else None
            if found is None:
                continue
            for names, said in ((_HOST, found["host"]), (_DATABASE, found["database"])):
                for other in names:
                    if said:
                        values[other] = [said]
                    elif text in values.get(other, ()):
                        del values[other]
            return
