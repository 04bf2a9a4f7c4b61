"""Texts that occur often, as numbers: properties, targets, sessions.

In: texts. Out: their row ids in ``keys``, ``target`` and ``sessions``, made when they are new.
Remembered up to a bound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

MAX_REMEMBERED = 100_000


class Names:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._known: dict[tuple[str, str], int] = {}

    def forget(self) -> None:
        self._known.clear()

    def key(self, text: str) -> int:
        return self._of("keys", "k", "text", text)

    def target(self, text: str) -> int:
        return self._of("target", "t", "text", text)

    def session(self, identity: str, ts: str) -> int:
        found = self._known.get(("sessions", identity))
        if found is not None:
            return found
        self._db.execute("INSERT OR IGNORE INTO sessions (id, first, last) VALUES (?, ?, ?)", (identity, ts, ts))
        return self._of("sessions", "s", "id", identity)

    def texts(self, keys: Sequence[int]) -> list[str]:
        marks = ", ".join("?" * len(keys))
        return [row[0] for row in self._db.execute(f"SELECT text FROM keys WHERE k IN ({marks})", list(keys))]  # noqa: S608 - marks only

    def _of(self, table: str, number: str, column: str, text: str) -> int:
        found = self._known.get((table, text))
        if found is not None:
            return found
        select = f"SELECT {number} FROM {table} WHERE {column} = ?"  # noqa: S608 - names from the callers above
        row = self._db.execute(select, (text,)).fetchone()
        if row is None:
            cursor = self._db.execute(f"INSERT INTO {table} ({column}) VALUES (?)", (text,))  # noqa: S608 - as above
            row = (cursor.lastrowid,)
        if len(self._known) >= MAX_REMEMBERED:
            self._known.clear()
        self._known[table, text] = int(row[0])
        return int(row[0])
