#!/usr/bin/env python3
"""Proofs that one record is in a signed log: built from the log, checked from the proof alone. Stdlib only.

In: a log and a seq, or a proof file. Out: JSON {log_id, seq, record, size, path, note}. ``python3 prove.py PROOF PEM``
checks one: the record's bytes lead along ``path`` to the root that ``note`` signs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

try:
    from audit.chain import Proofs, leaf_hash, root_from_path
    from audit.notes import parse_note, parse_public_pem, signed_by
    from audit.stored import public_key
    from audit.verify import Verifier
except ImportError:  # lying beside this file in a bundle
    from chain import Proofs, leaf_hash, root_from_path  # type: ignore[no-redef,import-not-found]
    from notes import parse_note, parse_public_pem, signed_by  # type: ignore[no-redef,import-not-found]
    from stored import public_key  # type: ignore[no-redef,import-not-found]
    from verify import Verifier  # type: ignore[no-redef,import-not-found]

Proof = dict[str, Any]


def prove(directory: Path, log_id: str, seqs: list[int]) -> list[Proof]:
    """Against the checkpoint beside the log. Raises ValueError when the log is broken or a record is not covered."""
    lines: dict[int, bytes] = {}
    leaves: dict[int, bytes] = {}
    wanted = set(seqs)

    def notice(seq: int, line: bytes) -> None:
        leaves[seq] = leaf_hash(line)
        if seq in wanted:
            lines[seq] = line

    note = (directory / f"{log_id}.checkpoint").read_text("utf-8")  # before the lines: a live log only grows
    report = Verifier(directory, log_id, public_key(directory, log_id), None, notice).run()
    if report.answer == "broken":
        raise ValueError(str(report))
    size = parse_note(note).size
    for seq in seqs:
        if seq not in lines or seq >= size:
            raise ValueError(f"{log_id}: record {seq} is not covered by the newest checkpoint ({size} records)")
    if any(n not in leaves for n in range(size)):
        raise ValueError(f"{log_id}: earlier files were removed by retention; a proof needs them")
    tree = Proofs([leaves[n] for n in range(size)])
    return [
        {
            "log_id": log_id,
            "seq": seq,
            "size": size,
            "record": lines[seq].decode(),
            "path": [p.hex() for p in tree.path(seq)],
            "note": note,
        }
        for seq in seqs
    ]


def check(proof: Proof, public: bytes) -> None:
    """Raises ValueError saying what does not hold."""
    note = parse_note(proof["note"])
    if not signed_by(note, public):
        raise ValueError("the checkpoint is not signed by this key")
    line = proof["record"].encode()
    if json.loads(line).get("seq") != proof["seq"] or note.size != proof["size"]:
        raise ValueError("the proof is of another record or checkpoint")
    path = [bytes.fromhex(p) for p in proof["path"]]
    if root_from_path(leaf_hash(line), proof["seq"], proof["size"], path) != note.root:
        raise ValueError("the record is not in the signed log")


def main() -> int:
    proofs = json.loads(Path(sys.argv[1]).read_bytes())
    public = parse_public_pem(Path(sys.argv[2]).read_bytes())
    for proof in proofs if isinstance(proofs, list) else [proofs]:
        try:
            check(proof, public)
        except ValueError as error:
            print(f"{proof.get('log_id')}:{proof.get('seq')}: {error}")
            return 4
        print(f"{proof['log_id']}:{proof['seq']}: in the log signed at {proof['size']} records")
    return 0


if __name__ == "__main__":
    sys.exit(main())
