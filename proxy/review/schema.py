"""The review index as SQLite tables, and how an action's place in it says how bad it is.

In: nothing. Out: the statements that make an empty index, and ``place``/``number_of``. The index is a cache of the log:
it may be deleted at any time and is built again; ``VERSION`` changes with its shape.
"""

from __future__ import annotations

VERSION = 1
_SCORE_SHIFT = 40

# actions.w orders worst first: minus (severity and reversibility, then the record's number). posting: which actions
# have which property ("rule:…", "session:…"), each list in that same order. tally: the counts of the overview per file
# and day, so that a removed file takes its counts with it.
TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files (f INTEGER PRIMARY KEY, log TEXT NOT NULL, number INTEGER NOT NULL, UNIQUE (log, number));
CREATE TABLE records (
  n INTEGER PRIMARY KEY, log TEXT NOT NULL, seq INTEGER NOT NULL, f INTEGER NOT NULL, at INTEGER NOT NULL,
  kind TEXT NOT NULL, ts TEXT NOT NULL, session INTEGER, about INTEGER);
CREATE UNIQUE INDEX records_id ON records (log, seq);
CREATE INDEX records_session ON records (session, n) WHERE session IS NOT NULL;
CREATE INDEX records_about ON records (about) WHERE about IS NOT NULL;
CREATE INDEX records_kind ON records (kind, n) WHERE kind NOT IN ('action', 'outcome');
CREATE TABLE actions (
  w INTEGER PRIMARY KEY, n INTEGER NOT NULL, id TEXT NOT NULL, ts TEXT NOT NULL, f INTEGER NOT NULL,
  session TEXT NOT NULL, turn INTEGER, agent TEXT NOT NULL, sub TEXT NOT NULL, tool TEXT NOT NULL,
  effect TEXT NOT NULL, more INTEGER NOT NULL, why TEXT NOT NULL, rules INTEGER NOT NULL, verdict TEXT NOT NULL,
  severity TEXT NOT NULL, reversibility TEXT NOT NULL, state TEXT NOT NULL, outcome TEXT NOT NULL DEFAULT 'none',
  marked TEXT NOT NULL DEFAULT '', keys TEXT NOT NULL);
CREATE UNIQUE INDEX actions_n ON actions (n);
CREATE INDEX actions_ts ON actions (ts);
CREATE TABLE keys (k INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE, n INTEGER NOT NULL DEFAULT 0);
CREATE TABLE posting (k INTEGER NOT NULL, w INTEGER NOT NULL, PRIMARY KEY (k, w)) WITHOUT ROWID;
CREATE TABLE target (t INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE TABLE target_of (w INTEGER NOT NULL, t INTEGER NOT NULL, PRIMARY KEY (w, t)) WITHOUT ROWID;
CREATE INDEX target_in ON target_of (t, w);
CREATE TABLE tally (f INTEGER NOT NULL, day TEXT NOT NULL, key TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (f, day, key)) WITHOUT ROWID;
CREATE TABLE sessions (
  s INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, first TEXT NOT NULL, last TEXT NOT NULL,
  agent TEXT NOT NULL DEFAULT '',
  objective TEXT NOT NULL DEFAULT '', trust TEXT NOT NULL DEFAULT '', strength TEXT NOT NULL DEFAULT '',
  source TEXT NOT NULL DEFAULT '', calls INTEGER NOT NULL DEFAULT 0, flagged INTEGER NOT NULL DEFAULT 0,
  score INTEGER NOT NULL DEFAULT 0, missed INTEGER NOT NULL DEFAULT 0, turns INTEGER NOT NULL DEFAULT 0,
  ended TEXT NOT NULL DEFAULT '');
CREATE INDEX sessions_last ON sessions (last);
CREATE INDEX sessions_score ON sessions (score, last);
CREATE TABLE scope (objective TEXT NOT NULL, line TEXT NOT NULL, used INTEGER NOT NULL DEFAULT 0,
  unused INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (objective, line)) WITHOUT ROWID;
"""


def place(score: int, number: int) -> int:
    """``score``: 0 (nothing flagged) upwards. Ascending order is worst first, then newest first."""
    return -((score << _SCORE_SHIFT) | number)


def number_of(w: int) -> int:
    return -w & ((1 << _SCORE_SHIFT) - 1)


def worst_of(score: int) -> int:
    """The first place an action of this score could have."""
    return place(score + 1, 0) + 1


def least_of(score: int) -> int:
    """The last place an action of this score could have."""
    return place(score, 0)
