"""Records read back from the log at the places the index keeps.

In: rows with file and offset. Out: the line's bytes, exactly as written, or None where the file is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import orjson

from audit.files import segment_path
from audit.segment_reader import open_segment
from proxy.review.index import Index

Record = dict[str, Any]


def lines_of(index: Index, numbers: Iterable[int]) -> dict[int, bytes]:
    """Record number → line without LF. Each file is opened once and read forwards."""
    places: dict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    wanted = list(numbers)
    for at in range(0, len(wanted), 500):
        part = wanted[at : at + 500]
        marks = ", ".join("?" * len(part))
        sql = f"SELECT r.n, r.at, f.log, f.number FROM records r JOIN files f USING (f) WHERE r.n IN ({marks})"  # noqa: S608 - marks only
        for row in index.rows(sql, part):
            places[row["log"], row["number"]].append((row["at"], row["n"]))
    out: dict[int, bytes] = {}
    for (log, number), rows in places.items():
        out |= _read(segment_path(index.audit_dir, log, number), sorted(rows))
    return out


def records_of(index: Index, numbers: Iterable[int]) -> dict[int, Record]:
    return {n: orjson.loads(line) for n, line in lines_of(index, numbers).items()}


def newest_of(index: Index, kind: str, count: int, *, before: int = 1 << 60, since: str = "") -> list[Record]:
    """The newest records of a kind that is neither action nor outcome, newest first."""
    sql = (
        "SELECT n FROM records WHERE kind = ? AND kind NOT IN ('action', 'outcome') AND n < ? AND ts >= ? "
        "ORDER BY n DESC LIMIT ?"
    )
    numbers = [r["n"] for r in index.rows(sql, (kind, before, since, count))]
    found = records_of(index, numbers)
    return [found[n] | {"n": n} for n in numbers if n in found]


def number_of_id(index: Index, identity: str) -> int | None:
    """A record's number by ``<log_id>:<seq>``."""
    log, _, seq = identity.rpartition(":")
    if not seq.isdigit() or len(seq) > 15:
        return None
    row = index.one("SELECT n FROM records WHERE log = ? AND seq = ?", (log, int(seq)))
    return int(row[0]) if row else None


def _read(path: Path, rows: list[tuple[int, int]]) -> dict[int, bytes]:
    """``rows``: (offset, number), ascending. A file that was compressed meanwhile is read as such."""
    out: dict[int, bytes] = {}
    packed = path.with_name(path.name + ".zst")
    try:
        with open_segment(path if path.exists() else packed) as file:
            at = 0
            for offset, number in rows:
                at = _go(file, at, offset, seekable=path.exists())
                line = file.readline()
                at += len(line)
                if line.endswith(b"\n"):
                    out[number] = line[:-1]
    except FileNotFoundError:
        return out
    return out


def _go(file: Any, at: int, offset: int, *, seekable: bool) -> int:
    if seekable:
        file.seek(offset)
        return offset
    while at < offset:
        taken = len(file.read(min(offset - at, 1 << 20)))
        if not taken:
            break
        at += taken
    return at
