"""The review index of one log: opened, brought up to date, asked.

In: a log's directory and a place for the index. Out: an SQLite connection with ``proxy/review/schema.py``'s tables;
``follow`` reads what the log gained. Two processes may share an index: whoever holds the write lock reads on from
the cursor that is stored with the rows, so no record is taken twice.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from audit.cursor import Cursor, read_batch
from proxy.review.ingest import Ingest
from proxy.review.schema import TABLES, VERSION

BATCH_RECORDS, BATCH_BYTES = 4000, 8 << 20


class Index:
    """``writing`` is one connection under a lock; ``reading`` gives each thread one of its own."""

    def __init__(self, audit_dir: Path, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.audit_dir, self.path = audit_dir, folder / f"index-{VERSION}.sqlite3"
        self._lock = threading.Lock()
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._write = self._open_or_begin_again()
        self._ingest = Ingest(self._write)

    def follow(self) -> int:
        """Take one batch of new records; how many there were. Zero: up to date (or there is no log yet)."""
        if not self.audit_dir.is_dir():
            return 0
        with self._lock, _transaction(self._write):
            cursor = self._cursor()
            try:
                lines, after = read_batch(self.audit_dir, cursor, max_records=BATCH_RECORDS, max_bytes=BATCH_BYTES)
            except FileNotFoundError:  # compressed or removed between listing and opening: the next look finds it
                return 0
            if after == cursor:
                return 0
            start = cursor.offset if (cursor.log_id, cursor.number) == (after.log_id, after.number) else 0
            self._ingest.take(lines, after.log_id, after.number, start)
            self._put("cursor", json.dumps(asdict(after)))
            return len(lines)

    def catch_up(self) -> int:
        taken = 0
        while count := self.follow():
            taken += count
        return taken

    @property
    def reading(self) -> sqlite3.Connection:
        """This thread's connection, read only."""
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA mmap_size=1073741824")
            connection.execute("PRAGMA cache_size=-32768")
            self._local.connection = connection
            self._opened.append(connection)
        return connection

    def rows(self, sql: str, values: Any = ()) -> list[sqlite3.Row]:
        return self.reading.execute(sql, values).fetchall()

    def one(self, sql: str, values: Any = ()) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self.reading.execute(sql, values).fetchone()
        return row

    @property
    def newest(self) -> int:
        """The number of the newest record taken."""
        row = self.one("SELECT max(n) FROM records")
        return int(row[0] or 0) if row else 0

    def close(self) -> None:
        with self._lock:
            for connection in (*self._opened, self._write):
                connection.close()

    def _open_or_begin_again(self) -> sqlite3.Connection:
        """An index that cannot be read is thrown away: the log has everything."""
        try:
            return self._open()
        except sqlite3.DatabaseError:
            for end in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + end).unlink(missing_ok=True)
            return self._open()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None, timeout=30)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=OFF")  # a cache: a torn one is built again
            connection.execute("PRAGMA cache_size=-65536")
            with _transaction(connection):
                if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
                    for statement in filter(str.strip, TABLES.split(";")):
                        connection.execute(statement)
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection

    def _cursor(self) -> Cursor:
        row = self._write.execute("SELECT value FROM meta WHERE name = 'cursor'").fetchone()
        return Cursor(**json.loads(row[0])) if row else Cursor()

    def _put(self, name: str, value: str) -> None:
        self._write.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
