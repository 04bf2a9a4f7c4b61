#!/usr/bin/env python3
"""Check a log without onlooker: chain, tree, checkpoints, manifests. Stdlib only; its four modules lie beside it.

In: a directory of segments. Out: one answer per log. ``python3 verify.py DIR [--from-checkpoint F] [--key PEM]``:
``valid to checkpoint N`` (0) · ``valid prefix, end unproven`` (3) · ``broken at seq N`` (4). A log cut at a record
boundary below its last checkpoint cannot be told from one that ended there, unless a checkpoint left the machine.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

try:
    from audit.chain import ZERO, Tree
    from audit.notes import Note, key_id, parse_note, signed_by
    from audit.stored import BrokenError, last_number, lines, load, log_ids, manifest_of, manifest_path, public_key
except ImportError:  # lying beside this file in a bundle
    from chain import ZERO, Tree  # type: ignore[no-redef,import-not-found]
    from notes import Note, key_id, parse_note, signed_by  # type: ignore[no-redef,import-not-found]
    from stored import (  # type: ignore[no-redef,import-not-found]
        BrokenError,
        last_number,
        lines,
        load,
        log_ids,
        manifest_of,
        manifest_path,
        public_key,
    )

EXIT = {"valid": 0, "unproven": 3, "broken": 4}


@dataclass
class Report:
    """``answer``: valid | unproven | broken. ``checkpoint``: records proven by a signature that was checked."""

    log_id: str
    answer: str = "unproven"
    why: str = ""
    seq: int = 0
    records: int = 0
    checkpoint: int = 0
    checkpoints: int = 0
    removed: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        head = {
            "valid": f"valid to checkpoint {self.checkpoint}",
            "unproven": "valid prefix, end unproven",
            "broken": f"broken at seq {self.seq}",
        }[self.answer]
        removed = f"; {len(self.removed)} files removed by retention" if self.removed else ""
        said = f": {self.why}" if self.why else ""
        return f"{self.log_id}: {head}{said} ({self.records} records, {self.checkpoints} checkpoints{removed})"


class Verifier:
    """One log, front to back. ``notice``: called with (seq, line) for each line, for proofs."""

    def __init__(
        self, directory: Path, log_id: str, public: bytes | None, outside: Note | None, notice: Any = None
    ) -> None:
        self.directory, self.log_id, self.public, self.outside = directory, log_id, public, outside
        self.report = Report(log_id)
        self.tree, self.prev = Tree(), ZERO
        self.suffix = b'"prev":"' + ZERO.encode() + b'"}'
        self.last_kind = ""
        self.torn = False
        self.outside_matched = False
        self.own: Note | None = None
        self.removed: dict[int, tuple[int, str]] = {}
        self.retired: set[tuple[int, str]] = set()
        self.notice = notice

    def run(self) -> Report:
        report = self.report
        try:
            if self.public is not None:
                self._own_note()  # read first: a live log only grows from here
            for number in range(1, last_number(self.directory, self.log_id) + 1):
                self._segment(number)
            self._removed_on_purpose()
            self._end()
        except BrokenError as broken:
            report.answer, report.seq, report.why = "broken", broken.seq, broken.why
        except (KeyError, TypeError, AttributeError, UnicodeDecodeError):  # a flipped bit in a field's name or type
            report.answer, report.seq, report.why = "broken", self.tree.size, "the line has not a record's shape"
        report.records = self.tree.size
        return report

    def _own_note(self) -> None:
        path = self.directory / f"{self.log_id}.checkpoint"
        if path.exists():
            try:
                note = parse_note(path.read_text("utf-8"))
            except (ValueError, UnicodeDecodeError) as error:
                self.report.why = f"{path.name}: {error}"
                return
            assert self.public is not None
            if signed_by(note, self.public):
                self.own = note
            else:
                self.report.why = f"{path.name} is not signed by this log's key"

    def _segment(self, number: int) -> None:
        start = self.directory / f"{self.log_id}.{number:06d}.jsonl"
        manifest = manifest_of(self.directory, self.log_id, number, self.tree.size)
        if not start.exists() and not start.with_name(start.name + ".zst").exists():
            self._skip(number, manifest)
            return
        first = True
        for line in lines(start):
            if self.torn:
                raise BrokenError(self.tree.size, "a half-written line has lines after it")
            if not line.endswith(b"\n"):
                self.torn = True
                continue
            self._line(line[:-1], number if first else None)
            first = False
        if manifest is not None and (manifest["last_hash"] != self.prev or manifest["last_seq"] != self.tree.size - 1):
            raise BrokenError(self.tree.size, f"file {number} does not end where its manifest says")

    def _line(self, line: bytes, opens: int | None) -> None:
        seq = self.tree.size
        if not line.endswith(self.suffix):
            raise BrokenError(seq, "the line does not carry the hash of the line before it")
        if b'"seq":%d,' % seq not in line[:160]:
            raise BrokenError(seq, "the line has another number")
        self._match_notes()
        if opens is not None:
            self._header(line, opens)
        elif b'"kind":"checkpoint"' in line[:80]:
            self._checkpoint(line)
        elif b'"kind":"retention"' in line[:80]:
            body = load(line, seq)["retention"]
            self.retired.add((body["number"], body["sha256"]))
        self.last_kind = "checkpoint" if b'"kind":"checkpoint"' in line[:80] else ""
        if self.notice is not None:
            self.notice(seq, line)
        self.tree.push(line)
        self.prev = "sha256:" + hashlib.sha256(line).hexdigest()
        self.suffix = b'"prev":"' + self.prev.encode() + b'"}'

    def _header(self, line: bytes, number: int) -> None:
        body = load(line, self.tree.size).get("segment") or {}
        if body.get("number") != number:
            raise BrokenError(self.tree.size, f"file {number} says it is file {body.get('number')}")
        before = manifest_path(self.directory, self.log_id, number - 1)
        found = "sha256:" + hashlib.sha256(before.read_bytes()).hexdigest() if before.exists() else None
        if body.get("previous_manifest") != found:
            raise BrokenError(self.tree.size, f"the manifest of file {number - 1} is missing or altered")
        if self.public is not None and body.get("key_id") != key_id(self.public):
            raise BrokenError(self.tree.size, f"this log is signed by {body.get('key_id')}, not by the key given")

    def _checkpoint(self, line: bytes) -> None:
        seq = self.tree.size
        try:
            note = parse_note(load(line, seq)["checkpoint"]["note"])
        except (KeyError, TypeError, ValueError) as error:
            raise BrokenError(seq, f"unreadable checkpoint: {error}") from None
        if note.size != seq or note.root != self.tree.root():
            raise BrokenError(seq, "the checkpoint is of other records")
        if self.public is not None:
            if not signed_by(note, self.public):
                raise BrokenError(seq, "the checkpoint's signature does not hold")
            self.report.checkpoint = note.size
            self.report.checkpoints += 1

    def _match_notes(self) -> None:
        """At each size a note speaks of, its root must be ours."""
        size = self.tree.size
        if self.outside is not None and self.outside.size == size:
            if self.outside.root != self.tree.root():
                raise BrokenError(size, "the checkpoint given is of another history")
            self.outside_matched = True
        own = self.own
        if own is not None and own.size == size and own.root != self.tree.root():
            raise BrokenError(size, "the checkpoint beside the log is of another history")

    def _skip(self, number: int, manifest: dict[str, Any] | None) -> None:
        seq = self.tree.size
        if manifest is None:
            raise BrokenError(seq, f"file {number} is missing")
        if manifest["first_seq"] != seq or manifest["first_prev"] != self.prev:
            raise BrokenError(seq, f"file {number} is missing and its manifest does not fit")
        self.removed[number] = (seq, manifest["sha256"])
        self.report.removed.append(number)
        self.tree, self.prev = Tree.from_json(manifest["tree"]), manifest["last_hash"]
        self.suffix = b'"prev":"' + self.prev.encode() + b'"}'

    def _removed_on_purpose(self) -> None:
        for number, (seq, sha256) in self.removed.items():
            if (number, sha256) not in self.retired:
                raise BrokenError(seq, f"file {number} is missing and no retention record says it was removed")

    def _end(self) -> None:
        self._match_notes()
        report, size, own = self.report, self.tree.size, self.own
        if self.outside is not None:
            self._outside_end()
        elif self.public is None:
            report.why = "no public key to check checkpoints with"
        elif own is not None and own.size > size:
            report.why = f"the checkpoint beside the log covers {own.size} records, {size} are here"
        elif self.torn:
            report.why = "the last line is half-written"
        elif own is not None and own.size == size:
            report.answer, report.checkpoint, report.why = "valid", size, ""
        elif not report.why:
            signed = own.size if own is not None else report.checkpoint
            report.why = f"signed to {signed}; the {size - signed} records after it are chained only"

    def _outside_end(self) -> None:
        assert self.outside is not None
        report, size = self.report, self.tree.size
        if self.outside.size > size:
            raise BrokenError(size, f"the checkpoint given covers {self.outside.size} records, {size} are here")
        if not self.outside_matched:
            report.why = "the checkpoint given ends inside a removed file"
            return
        report.answer, report.checkpoint = "valid", self.outside.size
        later = size - self.outside.size
        report.why = f"{later} later records chain to it" if later else ""


def verify(directory: Path, *, checkpoint: Path | None = None, key: Path | None = None) -> list[Report]:
    """Every log below ``directory``; with ``checkpoint`` only the log it is of. Raises ValueError on a bad file."""
    outside = None if checkpoint is None else parse_note(checkpoint.read_text("utf-8"))
    wanted = None if outside is None else outside.origin.rpartition("/")[2]
    reports = []
    for log_id in log_ids(directory):
        if wanted in {None, log_id}:
            public = public_key(directory, log_id, key)
            if outside is not None and (public is None or not signed_by(outside, public)):
                raise ValueError(f"{checkpoint}: not signed by this log's key")
            reports.append(Verifier(directory, log_id, public, outside).run())
    if not reports:
        raise ValueError(f"{directory}: no log" + (f" {wanted}" if wanted else "") + " is here")
    return reports


def main() -> int:
    parser = argparse.ArgumentParser(description="Check an onlooker audit log.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--from-checkpoint", type=Path, metavar="FILE", help="a checkpoint that left the machine")
    parser.add_argument("--key", type=Path, metavar="PEM", help="the log's public key, from elsewhere")
    options = parser.parse_args()
    try:
        reports = verify(options.directory, checkpoint=options.from_checkpoint, key=options.key)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 3
    for report in reports:
        print(report)
    return max(EXIT[r.answer] for r in reports)


if __name__ == "__main__":
    sys.exit(main())
