"""The evidence pack: records, their proofs, checkpoint, key, policies, objectives, and the scripts that check it.

In: a log, which records, files to add. Out: a folder (or .tar.gz) that verifies on a machine without onlooker:
``sh check.sh`` there needs python3 and nothing else. Nothing of the keys directory ever goes in but the public key.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

import audit
from audit.files import segments
from audit.notes import parse_note
from audit.prove import prove
from audit.references import FilesByHash, Reference, references

SCRIPTS = ("verify.py", "prove.py", "chain.py", "notes.py", "stored.py", "ed25519.py", "verify.sh")
_CHECK = """#!/bin/sh
# Checks this pack: each record is in the log its checkpoint signs; with a whole log, its chain from first to last.
set -e
cd "$(dirname "$0")"
for log in logs/*/; do
  python3 verify/prove.py "${log}proofs.json" "${log}log.pub.pem"
  if [ -d "${log}audit" ]; then python3 verify/verify.py "${log}audit" --key "${log}log.pub.pem"; fi
done
"""
_README = """Evidence pack of onlooker. Made from an append-only log; see docs/record.md of the project for the fields.

logs/<log>/records.jsonl   the records, byte for byte as they were written
logs/<log>/proofs.json     for each record the way to the root its checkpoint signs
logs/<log>/checkpoint      the signed note (C2SP); log.pub.pem is the key: compare it with one you got elsewhere
logs/<log>/audit/          the whole log, when it was asked for
policies/ objectives/      the files the records were judged by, and those given along
references.json            each policy and objective the records name by hash, with its files here; no files: it was not
                           found any more as it was then. An objective's hash is the SHA-256 of its text; a policy's is
                           the SHA-256 over the SHA-256 digests of its files' texts, in that order
manifest.json              the SHA-256 of everything here
verify/                    what check.sh runs: python3, standard library only (verify.sh: sha256sum and openssl)

Run: sh check.sh
"""


@dataclass(frozen=True, slots=True)
class Packed:
    records: int
    unproven: int  # after the newest checkpoint: in records-unproven.jsonl, without proof
    logs: int
    missing: tuple[str, ...] = ()  # policies and objectives the records refer to and no file here matches


def export(
    folder: Path,
    lines: Iterable[bytes],
    target: Path,
    *,
    policies: Sequence[Path] = (),
    objectives: Sequence[Path] = (),
    known: FilesByHash = MappingProxyType({}),
    whole: bool = False,
) -> Packed:
    """``lines``: raw lines of the log in ``folder``; ``known``: files that go along when a record names their hash.

    Raises ValueError when the log does not verify, OSError.
    """
    if target.exists():
        raise ValueError(f"{target} exists; an evidence pack is not written over another")
    with tempfile.TemporaryDirectory(dir=target.parent) as temporary:
        root = Path(temporary) / "pack"
        root.mkdir()
        chosen = list(lines)
        packed = _fill(root, folder, chosen, whole=whole)
        missing = _referred(root, references(chosen, known))
        for name, files in (("policies", policies), ("objectives", objectives)):
            for file in files:
                (root / name).mkdir(exist_ok=True)
                shutil.copyfile(file, root / name / file.name)
        _scripts(root)
        _manifest(root)
        if target.name.endswith((".tar.gz", ".tgz")):
            with tarfile.open(target, "w:gz") as tar:
                tar.add(root, arcname=target.name.split(".")[0], filter=_anonymous)
        else:
            shutil.move(root, target)
    return replace(packed, missing=missing)


def _fill(root: Path, folder: Path, lines: Iterable[bytes], *, whole: bool) -> Packed:
    by_log: dict[str, list[bytes]] = defaultdict(list)
    for line in lines:
        by_log[orjson.loads(line)["log_id"]].append(line)
    if not by_log:
        raise ValueError("no record matches; there is nothing to export")
    unproven = 0
    for log_id, found in by_log.items():
        place = root / "logs" / log_id
        place.mkdir(parents=True)
        note = (folder / f"{log_id}.checkpoint").read_text("utf-8")
        size = parse_note(note).size
        proven = [x for x in found if orjson.loads(x)["seq"] < size]
        rest = found[len(proven) :]
        unproven += len(rest)
        proofs = prove(folder, log_id, [orjson.loads(x)["seq"] for x in proven])
        (place / "proofs.json").write_text(json.dumps(proofs, indent=1), "utf-8")
        _write_lines(place / "records.jsonl", proven)
        if rest:
            _write_lines(place / "records-unproven.jsonl", rest)
        (place / "checkpoint").write_text(note, "utf-8")
        shutil.copyfile(folder / f"{log_id}.pub.pem", place / "log.pub.pem")
        if whole:
            _whole_log(folder, log_id, place / "audit")
    return Packed(sum(map(len, by_log.values())), unproven, len(by_log))


def _referred(root: Path, found: Sequence[Reference]) -> tuple[str, ...]:
    """Copy what still is as it was into ``policies/<n>/`` and ``objectives/<n>/``; what is not found."""
    said: list[dict[str, Any]] = []
    for number, one in enumerate(found, 1):
        place = root / {"policy": "policies", "objective": "objectives"}[one.kind] / f"{number:03d}"
        files: list[str] = []
        for file in one.files:
            place.mkdir(parents=True, exist_ok=True)
            copy = place / (file.name if not (place / file.name).exists() else f"{len(files) + 1}-{file.name}")
            shutil.copyfile(file, copy)
            files.append(str(copy.relative_to(root)))
        said.append({"kind": one.kind, "id": one.id, "hash": one.hash, "files": files})
    (root / "references.json").write_text(json.dumps(said, indent=1), "utf-8")
    return tuple(str(one) for one in found if not one.files)


def _whole_log(folder: Path, log_id: str, place: Path) -> None:
    place.mkdir()
    files = [p for s in segments(folder) if s.log_id == log_id for p in (s.path, s.manifest) if p is not None]
    for path in (*files, folder / f"{log_id}.checkpoint"):
        shutil.copyfile(path, place / path.name)


def _write_lines(path: Path, lines: Iterable[bytes]) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def _scripts(root: Path) -> None:
    sources = Path(audit.__file__).parent
    (root / "verify").mkdir()
    for name in SCRIPTS:
        shutil.copyfile(sources / name, root / "verify" / name)
    (root / "check.sh").write_text(_CHECK, "utf-8")
    (root / "README.txt").write_text(_README, "utf-8")


def _manifest(root: Path) -> None:
    files = sorted(p for p in root.rglob("*") if p.is_file())
    said = {str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
    (root / "manifest.json").write_text(json.dumps({"schema": "onlooker.pack/1", "sha256": said}, indent=1), "utf-8")


def _anonymous(info: tarfile.TarInfo) -> tarfile.TarInfo:
    """Whose account made the pack is nobody's business."""
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info
