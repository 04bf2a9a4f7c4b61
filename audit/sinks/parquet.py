"""Parquet by the hour, for DuckDB and lakes (extra ``query``): ``hour=2026-11-30T08/<log>-<first>-<last>.parquet``.

In: records. Out: one part per batch, named by what is in it, so a batch that comes again replaces itself; when an hour
is over its parts are merged into one file, sorted by seq.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

from audit.columns import COLUMNS, row
from audit.sinks import TAKEN, Options, Record, Sent, SinkError, read_options


class ParquetSink:
    batch_records = 5000

    def __init__(self, folder: Path, linger_s: float) -> None:
        import pyarrow as pa  # noqa: PLC0415 - the extra `query`; 40 MB that only this sink needs
        import pyarrow.parquet as pq  # noqa: PLC0415

        self.linger_s = linger_s
        self._folder, self._pa, self._pq = folder, pa, pq
        types = {
            "text": pa.string(),
            "number": pa.int64(),
            "flag": pa.bool_(),
            "texts": pa.list_(pa.string()),
            "time": pa.timestamp("ms"),  # UTC
        }
        self._schema = pa.schema([(name, types[kind]) for name, (kind, _) in COLUMNS.items()])

    def send(self, batch: Sequence[Record]) -> Sent:
        try:
            for hour, records in groupby(batch, lambda r: r["ts"][:13]):
                self._part(hour, list(records))
            self._merge_before(batch[-1]["ts"][:13])
        except OSError as error:
            raise SinkError(f"parquet: {error}") from error
        return TAKEN

    def close(self) -> None:
        """Nothing is held back: every batch is a file."""

    def _part(self, hour: str, records: list[Record]) -> None:
        rows = [row(r) for r in records]
        table = self._pa.Table.from_pylist([{**r, "ts": _time(r["ts"])} for r in rows], schema=self._schema)
        first, last = records[0], records[-1]
        start = f"{first['log_id']}-{first['seq']:012d}-"
        path = self._folder / f"hour={hour}" / f"{start}{last['seq']:012d}.parquet"
        self._write(table, path)
        for shorter in path.parent.glob(f"{start}*.parquet"):
            if shorter != path:
                shorter.unlink()  # the same place in the log, sent before the cursor was saved

    def _merge_before(self, hour: str) -> None:
        for folder in sorted(self._folder.glob("hour=*")):
            parts = sorted(folder.glob("*.parquet"))
            if folder.name >= f"hour={hour}" or len(parts) < 2:
                continue
            table = self._pa.concat_tables([self._pq.read_table(p, schema=self._schema) for p in parts])
            table = table.sort_by([("log_id", "ascending"), ("seq", "ascending")])
            merged = folder / f"{parts[0].name.removesuffix('.parquet')}_merged.parquet"
            self._write(table, merged)
            for part in parts:
                part.unlink()

    def _write(self, table: Any, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.new")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(fd, "wb") as file:
            self._pq.write_table(table, file, compression="zstd")
        temporary.replace(path)


class Parquet:
    name = "parquet"
    options: Options = MappingProxyType({"folder": "", "linger_s": 60.0})

    def open(self, options: Options, place: Path) -> ParquetSink:
        chosen = read_options(self.name, self.options, options)
        folder = Path(chosen["folder"]).expanduser() if chosen["folder"] else place
        try:
            return ParquetSink(folder, float(chosen["linger_s"]))
        except ImportError:
            raise ValueError("sink parquet: needs the extra: pip install 'onlooker[query]'") from None


def _time(ts: str) -> Any:

    return datetime.fromisoformat(ts).replace(tzinfo=None)


SINK = Parquet()
