"""Lines of the log into rows of the index.

In: raw lines with their place, inside a transaction. Out: rows. A line that cannot be read is counted, never a stop:
the log's own checks (``audit verify``) say what is wrong with it.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import orjson

from audit.report import MISSES
from audit.summary import HOUSEKEEPING
from proxy.review.facts import Facts, facts_of
from proxy.review.names import Names
from proxy.review.schema import place

Record = dict[str, Any]
Row = tuple[int, int, str, str, str, list[int]]  # w, f, ts, outcome, marked, keys
_MAX_READINGS = 8  # revisions of one call that are followed
_COLUMNS = (
    *("id", "ts", "session", "turn", "agent", "sub", "tool", "effect", "more", "why", "rules", "verdict", "severity"),
    *("reversibility", "state", "outcome"),
)
_INSERT = f"INSERT INTO actions (w, n, f, keys, {', '.join(_COLUMNS)}) VALUES (?, ?, ?, ?{', ?' * len(_COLUMNS)})"  # noqa: S608 - names from the table above
_TALLIED = ("ask:", "severity:", "effect:", "state:", "outcome:none", "counted:")
_JUDGED = ("ask:", "severity:")  # what a mark of "benign" takes out of the overview


class Ingest:
    """Holds what one batch adds up to, written once per batch."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection
        self._names = Names(connection)
        self._tally: Counter[tuple[int, str, str]] = Counter()
        self._counts: Counter[int] = Counter()
        self._n = 0

    def take(self, lines: Sequence[bytes], log_id: str, number: int, offset: int) -> None:
        self._names.forget()  # a rolled-back batch may have left names that are not there
        self._tally.clear()
        self._counts.clear()
        self._n = self._db.execute("SELECT coalesce(max(n), 0) FROM records").fetchone()[0]
        self._db.execute("INSERT OR IGNORE INTO files (log, number) VALUES (?, ?)", (log_id, number))
        f = self._db.execute("SELECT f FROM files WHERE log = ? AND number = ?", (log_id, number)).fetchone()[0]
        for line in lines:
            self._line(line, f, offset)
            offset += len(line) + 1
        self._flush()

    def _line(self, line: bytes, f: int, offset: int) -> None:
        try:
            record = orjson.loads(line)
            kind, log, seq, ts = record["kind"], record["log_id"], record["seq"], record["ts"]
            facts = facts_of(record) if kind == "action" else None
        except (ValueError, KeyError, TypeError, AttributeError):
            self._tally[f, "", "kind:unreadable"] += 1
            return
        if kind in HOUSEKEEPING:
            return
        self._n += 1
        session = self._session(record, facts)
        about = self._numbered(record.get("action") or record.get("supersedes"))
        row = (self._n, log, seq, f, offset, kind, ts, session, about)
        self._db.execute("INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        self._tally[f, ts[:10], f"kind:{kind}"] += 1
        if facts is not None:
            self._action(record, facts, f)
        elif handle := _MORE.get(kind):
            handle(self, record, f, about)

    def _action(self, record: Record, facts: Facts, f: int) -> None:
        before = self._row(self._numbered(record.get("supersedes")))
        if before is not None:
            self._drop(before)
        w = place(facts.score, self._n)
        keys = [self._names.key(text) for text in facts.keys]
        listed = " ".join(map(str, keys))
        self._db.execute(_INSERT, (w, self._n, f, listed, *(facts.row[c] for c in _COLUMNS)))
        self._db.executemany("INSERT OR IGNORE INTO posting VALUES (?, ?)", [(k, w) for k in keys])
        targets = [(w, self._names.target(text)) for text in facts.targets]
        self._db.executemany("INSERT OR IGNORE INTO target_of VALUES (?, ?)", targets)
        self._counts.update(keys)
        self._count(f, facts.row["ts"], facts.keys, 1)
        if before is not None:  # what was reported of the first reading is true of the second
            self.change(self._n, "outcome", before[3])
            self.change(self._n, "marked", before[4])

    def _count(self, f: int, ts: str, keys: Sequence[str], sign: int, prefixes: tuple[str, ...] = _TALLIED) -> None:
        for text in keys:
            if text.startswith(prefixes):
                self._tally[f, ts[:10], text] += sign

    def _session(self, record: Record, facts: Facts | None) -> int | None:
        session = record.get("session") or {}
        identity = session.get("id")
        if not identity:
            return None
        s = self._names.session(str(identity), record["ts"])
        counted = facts is not None and facts.row["state"] != "cut off"
        values = (
            record["ts"],
            str((record.get("agent") or {}).get("id") or ""),
            str(session.get("strength") or ""),
            str(session.get("source") or ""),
            int(counted),
            int(counted and facts is not None and facts.score > 0),
            facts.score if facts is not None else 0,
            int(record["kind"] in MISSES or (facts is not None and facts.row["state"] != "read")),
            session["turn"] if isinstance(session.get("turn"), int) else 0,
        )
        self._db.execute(_SESSION, (*values, s))
        return s

    def _numbered(self, identity: Any) -> int | None:
        if not isinstance(identity, str):
            return None
        log, _, seq = identity.rpartition(":")
        if not seq.isdigit() or len(seq) > 15:
            return None
        row = self._db.execute("SELECT n FROM records WHERE log = ? AND seq = ?", (log, int(seq))).fetchone()
        return None if row is None else row[0]

    def _row(self, number: int | None) -> Row | None:
        """An action, or the reading that replaced it."""
        sql = "SELECT w, f, ts, outcome, marked, keys FROM actions WHERE n = ?"
        for _ in range(_MAX_READINGS):
            if number is None:
                return None
            row = self._db.execute(sql, (number,)).fetchone()
            if row is not None:
                return (*row[:5], [int(k) for k in row[5].split()])
            later = self._db.execute(
                "SELECT max(n) FROM records WHERE about = ? AND kind = 'action'", (number,)
            ).fetchone()
            number = later[0]
        return None

    def change(self, number: int | None, column: str, value: str) -> None:
        """Outcome or mark of an action: the newest word counts, in the row, the postings and the tallies."""
        found = self._row(number)
        if found is None:
            return
        w, f, ts, outcome, marked, keys = found
        before = outcome if column == "outcome" else marked
        if before == value:
            return
        old, new = f"{column}:{before}", f"{column}:{value}"
        if before:
            k = self._names.key(old)
            self._db.execute("DELETE FROM posting WHERE k = ? AND w = ?", (k, w))
            keys = [x for x in keys if x != k]
            self._counts[k] -= 1
            self._count(f, ts, [old], -1)
        if value:
            k = self._names.key(new)
            self._db.execute("INSERT OR IGNORE INTO posting VALUES (?, ?)", (k, w))
            keys.append(k)
            self._counts[k] += 1
            self._count(f, ts, [new], 1)
        if column == "marked" and "benign" in {before, value}:
            self._count(f, ts, self._names.texts(keys), -1 if value == "benign" else 1, _JUDGED)
        listed = " ".join(map(str, keys))
        self._db.execute(f"UPDATE actions SET {column} = ?, keys = ? WHERE w = ?", (value, listed, w))  # noqa: S608 - outcome or marked

    def _drop(self, found: Row) -> None:
        """An action that a later line replaced, or whose file is gone."""
        w, f, ts, _, marked, keys = found
        self._db.executemany("DELETE FROM posting WHERE k = ? AND w = ?", [(k, w) for k in keys])
        self._db.execute("DELETE FROM target_of WHERE w = ?", (w,))
        self._db.execute("DELETE FROM actions WHERE w = ?", (w,))
        self._counts.subtract(keys)
        texts = self._names.texts(keys)
        self._count(f, ts, [t for t in texts if marked != "benign" or not t.startswith(_JUDGED)], -1)

    def retire(self, record: Record, _f: int, _about: int | None) -> None:
        """A file (or, without a number, a whole log) was removed by retention: its rows and its counts go."""
        body = record["retention"]
        log, number = str(body.get("log_id") or record["log_id"]), body["number"]
        sql = "SELECT f FROM files WHERE log = :log AND (number = :number OR :number IS NULL)"
        for (gone,) in self._db.execute(sql, {"log": log, "number": number}).fetchall():
            for (n,) in self._db.execute("SELECT n FROM actions WHERE f = ?", (gone,)).fetchall():
                if (row := self._row(n)) is not None:
                    self._drop(row)
            self._db.execute("DELETE FROM records WHERE f = ?", (gone,))
            self._db.execute("DELETE FROM tally WHERE f = ?", (gone,))
            for key in [key for key in self._tally if key[0] == gone]:
                del self._tally[key]

    def sum_up(self, record: Record, f: int, _about: int | None) -> None:
        """Sizes of what was missed, and what sessions say of themselves."""
        day = record["ts"][:10]
        if record["kind"] == "gap":
            self._tally[f, day, "sum:gap"] += _whole(record["gap"].get("exchanges"))
        elif record["kind"] == "unread":
            self._tally[f, day, "sum:unread"] += _whole(record["unread"].get("size_bytes"))
        elif record["kind"] == "session":
            self._told(record)

    def _told(self, record: Record) -> None:
        identity = (record.get("session") or {}).get("id")
        objective = record.get("objective") or {}
        if objective.get("id"):
            values = (str(objective["id"]), str(objective.get("trust") or ""), identity)
            self._db.execute("UPDATE sessions SET objective = ?, trust = ? WHERE id = ?", values)
        if record["event"] != "end":
            return
        self._db.execute("UPDATE sessions SET ended = ? WHERE id = ?", (str(record.get("reason") or "yes"), identity))
        summary = record.get("summary") or {}
        name = str(summary.get("objective") or "")
        for column, lines in (("used", summary.get("scope_used")), ("unused", summary.get("scope_unused"))):
            sql = (
                f"INSERT INTO scope (objective, line, {column}) VALUES (?, ?, 1) "  # noqa: S608 - used or unused
                f"ON CONFLICT DO UPDATE SET {column} = {column} + 1"
            )
            self._db.executemany(sql, [(name, str(line)) for line in lines or ()])

    def _flush(self) -> None:
        sql = "INSERT INTO tally VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
        self._db.executemany(sql, [(*key, n) for key, n in self._tally.items() if n])
        self._db.executemany("UPDATE keys SET n = n + ? WHERE k = ?", [(n, k) for k, n in self._counts.items() if n])


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


_SESSION = """
UPDATE sessions SET last = ?, agent = coalesce(nullif(?, ''), agent), strength = coalesce(nullif(?, ''), strength),
  source = coalesce(nullif(?, ''), source), calls = calls + ?, flagged = flagged + ?, score = max(score, ?),
  missed = missed + ?, turns = max(turns, ?) WHERE s = ?"""

_MARKS = {"benign": "benign", "escalated": "escalated"}
_MORE: dict[str, Callable[[Ingest, Record, int, int | None], None]] = {
    "outcome": lambda i, r, _f, about: i.change(about, "outcome", str(r["outcome"])),
    "disposition": lambda i, r, _f, about: i.change(about, "marked", _MARKS.get(str(r["disposition"]["state"]), "")),
    "retention": Ingest.retire,
    "gap": Ingest.sum_up,
    "unread": Ingest.sum_up,
    "session": Ingest.sum_up,
}
