"""Checked policies kept as JSON, keyed by the hash of the bytes they were made from: loading 500 rules again is quick.

In: a source and a folder. Out: ``Gathered``, from the folder when it holds this very text and format, else made anew.
Only policies without errors are kept. JSON, not pickle: a cache file can be wrong, it cannot run.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from policies import model
from policies.diagnostic import Diagnostic
from policies.pattern import Pattern
from policies.source import Gathered, gather
from policies.verdict import Severity

FORMAT = "2"
_CLASSES: dict[str, type] = {
    c.__name__: c
    for c in (
        model.Leaf, model.Targets, model.Entry, model.Effects, model.All, model.Any_, model.None_, model.Exception_,
        model.Sequence, model.Rate, model.Rule, Diagnostic,
    )
}  # fmt: skip
_FIELDS = {c: tuple(f.name for f in dataclasses.fields(c)) for c in _CLASSES.values()}


def load_cached(source: str | Path, now: datetime, folder: Path | None) -> Gathered:
    """``folder`` None: no cache."""
    if folder is None:
        return gather(source, now)
    file = folder / (hashlib.sha256(f"{FORMAT}\0{source}\0{Path(source).absolute()}".encode()).hexdigest() + ".json")
    try:
        value = orjson.loads(file.read_bytes())
        if _still(value):
            return _decode(value)
    except (OSError, ValueError, LookupError, TypeError):
        pass
    made = gather(source, now)
    if made.policy is not None:
        _store(file, made)
    return made


def _still(value: dict[str, Any]) -> bool:
    """Every file it was made from has the same bytes, every folder the same names."""
    files = all(_digest(Path(name)) == digest for name, digest in value["files"])
    return files and all(_names(Path(name)) == names for name, names in value["folders"])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.glob("*.yaml"))


def _store(file: Path, made: Gathered) -> None:
    """Best effort: a cache that cannot be written is no error."""
    assert made.policy is not None
    policy = made.policy
    value: dict[str, Any] = {
        "policy": [policy.id, policy.version, policy.hash, policy.timezone, policy.name, policy.lists],
        "rules": [_plain(r) for r in policy.rules],
        "found": [_plain(d) for d in made.found],
        "files": [[str(f), d] for f, d in zip(made.files, made.digests, strict=True)],
        "folders": [[str(f), _names(f)] for f in made.folders],
    }
    part = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part.write_bytes(orjson.dumps(value))
        part.replace(file)
    except OSError:
        part.unlink(missing_ok=True)


def _plain(value: Any) -> Any:
    """Dataclasses become ``["Name", field, …]``; tuples ``["t", …]``."""
    kind = type(value)
    if kind in _FIELDS:
        return [kind.__name__, *(_plain(getattr(value, n)) for n in _FIELDS[kind])]
    return _ENCODERS[kind](value) if kind in _ENCODERS else value


_ENCODERS: dict[type, Callable[[Any], Any]] = {
    tuple: lambda v: ["t", *map(_plain, v)],
    frozenset: lambda v: ["f", *sorted(v)],
    Pattern: lambda v: ["p", v.operator, v.text],
    datetime: lambda v: ["d", v.isoformat()],
    Severity: lambda v: ["s", str(v)],
    model.Test: lambda v: ["x", list(v.steps), v.expect, v.at, v.because],
}


def _maker(cls: type) -> Callable[[list[Any]], Any]:
    return lambda values: cls(*map(_value, values))


_DECODERS: dict[str, Callable[[list[Any]], Any]] = {
    "t": lambda v: tuple(map(_value, v)),
    "f": frozenset,
    "p": lambda v: Pattern(*v),
    "d": lambda v: datetime.fromisoformat(v[0]),
    "s": lambda v: Severity(v[0]),
    "x": lambda v: model.Test(tuple(v[0]), v[1], v[2], v[3]),
    **{name: _maker(cls) for name, cls in _CLASSES.items()},
}


def _value(value: Any) -> Any:
    return _DECODERS[value[0]](value[1:]) if value.__class__ is list else value


def _decode(value: dict[str, Any]) -> Gathered:
    """Raises LookupError, TypeError or ValueError on anything this version did not write."""
    ident, version, digest, timezone, name, lists = value["policy"]
    rules = tuple(_value(r) for r in value["rules"])
    words = {k: tuple(v) for k, v in lists.items()}
    policy = model.Policy(ident, version, digest, timezone, rules, name, words)
    found = [_value(d) for d in value["found"]]
    files, digests = tuple(Path(f) for f, _ in value["files"]), tuple(str(d) for _, d in value["files"])
    return Gathered(policy, found, digest, files, digests)
