"""Record lines into ClickHouse over its HTTP interface, one INSERT per batch.

In: records. Out: the lines as they stand in the log, for ``deploy/clickhouse/schema.sql``. A batch that is sent twice
makes the same rows, and ReplacingMergeTree keeps one of each.
Source: ClickHouse manual, "HTTP interface" and format ``LineAsString``; X-ClickHouse-User and X-ClickHouse-Key.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType
from urllib.parse import SplitResult, urlencode, urlsplit

import orjson

from audit.http_post import post, refused_for_now
from audit.sinks import TAKEN, Options, Record, Sent, SinkError, read_options, secret

_TABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?")


class ClickHouseSink:
    batch_records = 5000  # ClickHouse makes a part per insert: few and large
    linger_s = 1.0

    def __init__(self, url: SplitResult, headers: dict[str, str], timeout_s: float) -> None:
        self._url, self._headers, self._timeout_s = url, headers, timeout_s

    def send(self, batch: Sequence[Record]) -> Sent:
        body = b"".join(orjson.dumps(record) + b"\n" for record in batch)
        status, after = post("clickhouse", self._url, body, self._headers, self._timeout_s)
        if status in {401, 403, 404} or refused_for_now(status):  # a grant or a table may come; nothing is dropped
            raise SinkError(f"clickhouse: HTTP {status}", after)
        return TAKEN if 200 <= status < 300 else Sent(len(batch), f"clickhouse: HTTP {status}")

    def close(self) -> None:
        """A connection lives for one request."""


class ClickHouse:
    name = "clickhouse"
    options: Options = MappingProxyType(
        {"url": "", "table": "onlooker.records", "user": "default", "password": "", "timeout_s": 30.0}
    )

    def open(self, options: Options, place: Path) -> ClickHouseSink:  # noqa: ARG002 - every sink's signature
        chosen = read_options(self.name, self.options, options)
        url, table = urlsplit(chosen["url"]), chosen["table"]
        if url.scheme not in {"http", "https"} or not url.hostname or url.query:
            raise ValueError(f"sink clickhouse: url is {chosen['url']!r}; expected http(s)://host[:port]")
        if not _TABLE.fullmatch(table):
            raise ValueError(f"sink clickhouse: table is {table!r}; expected name or database.name")
        query = urlencode({"query": f"INSERT INTO {table} (line) FORMAT LineAsString"})
        headers = {"content-type": "application/octet-stream", "x-clickhouse-user": chosen["user"]}
        if chosen["password"]:
            headers["x-clickhouse-key"] = secret(self.name, chosen["password"])
        return ClickHouseSink(url._replace(query=query), headers, float(chosen["timeout_s"]))


SINK = ClickHouse()
