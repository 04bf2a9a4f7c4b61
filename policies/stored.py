"""Recorded actions made ready to be judged again: audit lines to subjects.

In: log files (JSONL, ``.gz``, ``.zst``, the Parquet sink's), folders of them, standard input. Out: record dictionaries,
and ``Subject`` values with every field the record holds. What redaction took away is unknown, and counted.
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, cast

import orjson
import zstandard

from classifiers.effects import Action, Effect, Evidence, Flow, FlowKind, Opaque, OpaqueReason, Surface
from policies.verdict import Subject
from policies.vocab import FIELDS

REDACTED = "REDACTED_"
# Fields with a plain place in an action's record, by the object they are in; what is derived is derived again.
_PLACES: dict[tuple[str, ...], list[tuple[str, str]]] = {}
for _name, _field in FIELDS.items():
    if (
        _field.record
        and "[" not in _field.record
        and "." in _field.record
        and not _name.startswith(("effect.", "class"))
    ):
        *_where, _key = _field.record.split(".")
        _PLACES.setdefault(tuple(_where), []).append((_name, _key))
_SUFFIXES = (".jsonl", ".jsonl.gz", ".jsonl.zst", ".parquet")


def log_files(paths: Iterable[str]) -> list[str]:
    """Files in order of name; a state directory's log is in its ``audit`` folder. A dash is standard input."""
    out: list[str] = []
    for text in paths:
        path = Path(text)
        if text == "-" or not path.is_dir():
            out.append(text)
            continue
        folder = path / "audit" if (path / "audit").is_dir() else path
        out += sorted(str(p) for p in folder.iterdir() if p.name.endswith(_SUFFIXES))
    return out


def read_lines(file: str) -> Iterator[bytes]:
    """Raises OSError when there is no such file, ValueError when it is not compressed as its name says."""
    if file == "-":
        yield from sys.stdin.buffer
        return
    if file.endswith(".parquet"):
        yield from _parquet(file)
        return
    with open(file, "rb") as raw:  # noqa: PTH123 - a plain name from the command line
        try:
            yield from _plain(raw, file)
        except (zstandard.ZstdError, gzip.BadGzipFile, EOFError) as error:
            raise ValueError(f"{file}: {error}") from None


def _parquet(file: str) -> Iterator[bytes]:
    """The ``record`` column of the parquet sink's files."""
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - of the query extra, only when asked for
    except ImportError:
        raise ValueError(f"{file}: reading Parquet needs the query extra: pip install 'onlooker[query]'") from None
    try:
        for batch in parquet.ParquetFile(file).iter_batches(columns=["record"]):
            for value in batch.column(0):
                yield value.as_py().encode()
    except ArrowException as error:
        raise ValueError(f"{file}: {error}") from None


def _plain(raw: IO[bytes], name: str) -> Iterable[bytes]:
    if name.endswith(".zst"):
        return io.BufferedReader(cast("Any", zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)))
    return cast("IO[bytes]", gzip.open(raw)) if name.endswith(".gz") else raw


def actions(paths: Iterable[str]) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """(record, ``file:line``) of every action line; (None, place) of a line that is no JSON object."""
    for file in log_files(paths):
        for number, line in enumerate(read_lines(file), 1):
            if b'"action"' not in line[:400] and line.strip():
                continue
            try:
                record = orjson.loads(line) if line.strip() else {}
            except orjson.JSONDecodeError:
                yield None, f"{file}:{number}"
                continue
            if isinstance(record, dict) and record.get("kind") == "action":
                yield record, f"{file}:{number}"


def subject_of_record(record: dict[str, Any]) -> tuple[Subject, bool]:
    """The subject, and whether redaction hid a target of it. Raises LookupError or TypeError on a foreign shape."""
    classification = record.get("classification") or {}
    hidden = False
    effects = []
    for raw in classification.get("effects", ()):
        effect = effect_of_record(raw)
        hidden = hidden or (effect.target is None and bool(raw.get("target")))
        effects.append(effect)
    action = Action(
        surface=cast("Surface", classification.get("surface") or "unknown"),
        effects=tuple(effects),
        flows=tuple(Flow(FlowKind(f["kind"]), f.get("from"), f.get("to")) for f in classification.get("flows", ())),
        opaque=tuple(Opaque(OpaqueReason(o["reason"])) for o in classification.get("opaque", ())),
        claimed=classification.get("claimed") or {},
    )
    return Subject(action, _fields(record), _at(record.get("ts")), record.get("seq", 0)), hidden


def effect_of_record(raw: dict[str, Any]) -> Effect:
    """Words stay plain text: they compare and hash as their enum members do, and this is the replay's inner loop."""
    values = dict(raw)
    values["tags"], values["via"] = tuple(raw.get("tags") or ()), tuple(raw.get("via") or ())
    evidence = raw.get("evidence")
    values["evidence"] = Evidence(**evidence) if evidence else None
    target = raw.get("target")
    if target is not None and REDACTED in target:
        values["target"], values["target_raw"] = None, target
    return Effect(**values)


def _fields(record: dict[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for path, names in _PLACES.items():
        at: Any = record
        for key in path:
            at = at.get(key) if isinstance(at, dict) else None
        if isinstance(at, dict):
            for name, key in names:
                value = at.get(key)
                if value is not None:
                    out[name] = value
    objective = record.get("objective")
    out["objective.declared"] = bool(objective and objective.get("id"))
    reasons = [t["reason"] for t in (objective or {}).get("trail", ()) if t.get("reason")]
    out["objective.reasons"] = reasons
    return out


def _at(text: Any) -> datetime:
    """A record's time; a record without one is taken as of the epoch, so that nothing depends on the clock."""
    return datetime.fromisoformat(text) if isinstance(text, str) else datetime.fromtimestamp(0, UTC)
