"""Every change of a log is found, by three independent readers; what cannot be known is said to be unproven."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import audit
from audit import ed25519
from audit.checkpoint import load_signer
from audit.files import load_manifest, segments
from audit.notes import parse_note, parse_public_pem, signed_by
from audit.prove import check, prove
from audit.retention import Retention, compress, remove_old
from audit.verify import EXIT, verify
from audit.writer import Limits
from tests.audit.build import action_record, every_kind, open_log

SOURCES = Path(audit.__file__).parent


@pytest.fixture
def folder(tmp_path):
    """Two closed files and an open one, ended cleanly."""
    with open_log(tmp_path, limits=Limits(checkpoint_records=7, idle_s=30)) as log:
        for _ in range(2):
            for record in every_kind():
                log.append(record)
            log.rotate()
        log.append(action_record())
    return tmp_path / "audit"


def files(folder):
    return [s.path for s in segments(folder) if s.path]


def answer(folder, **more):
    reports = verify(folder, **more)
    return reports[0].answer


def rewrite(path, change):
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def test_a_clean_log_is_valid_to_its_last_record(folder):
    report = verify(folder)[0]
    assert str(report).startswith(f"{report.log_id}: valid to checkpoint {report.records}")
    assert report.checkpoints > 5


def test_every_flipped_bit_is_found(folder):
    """Each byte of each file of the log, one bit each (which one varies with the place)."""
    kept = folder.with_name("kept")
    shutil.copytree(folder, kept)
    for path in sorted(p for p in folder.iterdir() if p.name != ".lock" and not p.name.endswith(".checkpoints")):
        data = path.read_bytes()
        step = 1 if len(data) < 400 else 211
        for at in range(0, len(data), step):
            flipped = bytearray(data)
            flipped[at] ^= 1 << at % 8
            path.write_bytes(flipped)
            try:
                found = answer(folder)
            except ValueError:
                found = "refused"
            assert found != "valid" or _harmless(path, data, bytes(flipped)), (path.name, at)
        path.write_bytes(data)
    assert answer(folder) == "valid"


def _harmless(path, before, after):
    """The slack bits of base64, and what follows a note's first signature line, say nothing."""
    if path.name.endswith(".pub.pem"):
        return parse_public_pem(before) == parse_public_pem(after)
    return path.name.endswith(".checkpoint") and parse_note(before.decode()) == parse_note(after.decode())


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_a_tail_cut_at_a_record_boundary_leaves_the_end_unproven(folder, cut):
    rewrite(files(folder)[-1], lambda lines: lines[:-cut])
    report = verify(folder)[0]
    assert report.answer == "unproven"
    assert "records, " in report.why
    assert EXIT[report.answer] == 3


def test_a_tail_cut_with_all_its_checkpoints_is_found_by_one_that_left(folder, tmp_path):
    log_id = verify(folder)[0].log_id
    left = tmp_path / "elsewhere"
    shutil.copy(folder / f"{log_id}.checkpoint", left)
    rewrite(files(folder)[-1], lambda lines: lines[:-2])
    (folder / f"{log_id}.checkpoint").unlink()
    assert answer(folder) == "unproven"
    report = verify(folder, checkpoint=left)[0]
    assert report.answer == "broken"
    assert "covers" in report.why


def test_a_checkpoint_that_left_proves_everything_before_it(folder, tmp_path):
    log_id = verify(folder)[0].log_id
    notes = (folder / f"{log_id}.checkpoints").read_text().split("\n\n")
    left = tmp_path / "elsewhere"
    left.write_text("\n\n".join(notes[:2]).strip("\n") + "\n")
    report = verify(folder, checkpoint=left)[0]
    assert report.answer == "valid"
    assert report.checkpoint < report.records
    assert "later records chain to it" in report.why


def test_a_half_written_last_line_is_an_unproven_end(folder):
    with files(folder)[-1].open("ab") as file:
        file.write(b'{"schema":"onlooker.rec')
    assert answer(folder) == "unproven"


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("a record dropped", lambda x: x[:4] + x[5:]),
        ("a record repeated", lambda x: x[:4] + x[3:]),
        ("two exchanged", lambda x: [*x[:3], x[4], x[3], *x[5:]]),
        ("a record put in", lambda x: [*x[:4], b'{"seq":4}\n', *x[4:]]),
        ("a record altered", lambda x: [*x[:4], x[4].replace(b'"seq":4', b'"seq":4 '), *x[5:]]),
    ],
)
def test_a_changed_file_is_broken_where_it_changes(folder, what, change):
    rewrite(files(folder)[0], change)
    report = verify(folder)[0]
    assert report.answer == "broken", what
    assert 3 <= report.seq <= 5


def test_a_dropped_file_is_found(folder):
    files(folder)[0].unlink()
    report = verify(folder)[0]
    assert (report.answer, report.seq) == ("broken", 0)
    assert "no retention record" in report.why


def test_a_dropped_file_with_its_manifest_is_found(folder):
    path = files(folder)[1]
    path.unlink()
    path.with_name(path.name.replace(".jsonl", ".manifest.json")).unlink()
    assert answer(folder) == "broken"


def test_a_replayed_file_is_found(folder):
    last = files(folder)[-1]
    number = int(last.name.split(".")[-2])
    shutil.copy(files(folder)[0], last.with_name(last.name.replace(f"{number:06d}", f"{number + 1:06d}")))
    assert answer(folder) == "broken"


def test_a_fork_is_found_by_the_other_branchs_checkpoint(folder, tmp_path):
    fork = tmp_path / "fork"
    fork.mkdir()
    shutil.copytree(folder, fork / "audit")
    shutil.copytree(folder.parent / "keys", fork / "keys")
    for place, command in ((tmp_path, "ls /a"), (fork, "ls /b")):
        with open_log(place) as log:
            log.append(action_record(command))
    assert (answer(folder), answer(fork / "audit")) == ("valid", "valid")
    note = next((fork / "audit").glob("*.checkpoint"))
    report = verify(folder, checkpoint=note)[0]
    assert report.answer == "broken"
    assert "another history" in report.why


def test_a_swapped_key_is_found(folder, tmp_path):
    other = load_signer(tmp_path / "other.pem")
    next(folder.glob("*.pub.pem")).write_bytes(other.public_pem)
    report = verify(folder)[0]
    assert report.answer == "broken"
    assert "not by the key given" in report.why


def test_a_log_resigned_with_another_key_is_found_with_the_key_kept_elsewhere(folder, tmp_path):
    kept = tmp_path / "kept.pem"
    kept.write_bytes(load_signer(tmp_path / "other.pem").public_pem)
    assert verify(folder, key=kept)[0].answer == "broken"


def test_without_a_public_key_nothing_is_proven(folder):
    next(folder.glob("*.pub.pem")).unlink()
    assert answer(folder) == "unproven"


def test_compressed_files_verify_the_same(folder):
    for path in files(folder)[:-1]:
        compress(path)
    assert answer(folder) == "valid"


def test_files_removed_by_retention_leave_a_provable_chain(folder):
    with open_log(folder.parent) as log:
        removed = remove_old(log, Retention(max_bytes=40_000), 0.0)
    assert removed == [1]
    report = verify(folder)[0]
    assert report.answer == "valid"
    assert report.removed == [1]
    assert "1 files removed by retention" in str(report)


def test_retention_by_age_keeps_what_is_young(folder):
    manifest = load_manifest(next(s.manifest for s in segments(folder) if s.manifest))
    with open_log(folder.parent) as log:
        from datetime import datetime

        young = datetime.fromisoformat(manifest.last_ts).timestamp() + 10
        assert remove_old(log, Retention(max_age_s=60), young) == []
        assert remove_old(log, Retention(max_age_s=60), young + 3600) == [1, 2]
    assert answer(folder) == "valid"


def test_a_forged_manifest_of_a_removed_file_is_found_at_the_next_checkpoint(folder):
    with open_log(folder.parent) as log:
        remove_old(log, Retention(max_bytes=40_000), 0.0)
    path = next(s.manifest for s in segments(folder) if s.manifest)
    value = json.loads(path.read_text())
    value["tree"]["peaks"][0] = "00" * 32
    path.write_text(json.dumps(value))
    assert answer(folder) == "broken"


@pytest.mark.parametrize("crypto", [True, False], ids=["with cryptography", "stdlib only"])
def test_the_shipped_script_runs_without_onlooker(folder, tmp_path, crypto):
    place = tmp_path / "elsewhere"
    place.mkdir()
    for name in ("verify", "chain", "notes", "ed25519", "stored", "prove"):
        shutil.copy(SOURCES / f"{name}.py", place)
    run = [sys.executable, *([] if crypto else ["-S"]), "-E", str(place / "verify.py"), str(folder)]
    done = subprocess.run(run, check=False, capture_output=True, text=True, cwd=place, env={"PATH": os.environ["PATH"]})
    assert (done.returncode, "valid to checkpoint" in done.stdout) == (0, True), done.stderr
    rewrite(files(folder)[0], lambda x: x[:4] + x[5:])
    assert subprocess.run(run, check=False, capture_output=True, cwd=place).returncode == 4


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed here")
def test_sha256sum_and_openssl_agree(tmp_path):
    with open_log(tmp_path) as log:
        for record in every_kind()[:6]:
            log.append(record)
    script = [str(SOURCES / "verify.sh"), str(tmp_path / "audit"), log.log_id]
    done = subprocess.run(script, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"{log.log_id}: valid to checkpoint {log.next_seq}\n"), done.stderr
    path = files(tmp_path / "audit")[0]
    kept = path.read_bytes()
    rewrite(path, lambda lines: lines[:-1])
    assert subprocess.run(script, check=False, capture_output=True).returncode == 3
    path.write_bytes(kept.replace(b"/srv/shop/cache", b"/srv/shop/other", 1))
    assert subprocess.run(script, check=False, capture_output=True).returncode == 4


def test_a_proof_holds_for_its_record_alone(folder):
    log_id = verify(folder)[0].log_id
    public = parse_public_pem(next(folder.glob("*.pub.pem")).read_bytes())
    proofs = prove(folder, log_id, [0, 3, 17])
    for proof in proofs:
        check(proof, public)
    altered = {**proofs[1], "record": proofs[1]["record"].replace("onlooker", "onlocker", 1)}
    with pytest.raises(ValueError, match="not in the signed log"):
        check(altered, public)
    with pytest.raises(ValueError, match="another record"):
        check({**proofs[1], "seq": 4}, public)


def test_a_record_after_the_last_checkpoint_has_no_proof_yet(folder):
    log_id = verify(folder)[0].log_id
    with pytest.raises(ValueError, match="not covered"):
        prove(folder, log_id, [10_000])


def test_the_stdlib_signature_check_agrees_with_the_other(tmp_path):
    signer = load_signer(tmp_path / "k.pem")
    message = b"note"
    signature = signer.key.sign(message)
    assert ed25519.verify(signer.public_raw, message, signature)
    for at in (0, 31, 32, 63):
        bad = bytearray(signature)
        bad[at] ^= 1
        assert not ed25519.verify(signer.public_raw, message, bytes(bad))
    assert not ed25519.verify(signer.public_raw, b"nota", signature)
    assert not ed25519.verify(b"\xff" * 32, message, signature)


def test_a_note_reads_back(tmp_path):
    signer = load_signer(tmp_path / "k.pem")
    note = parse_note(signer.note("onlooker.example/x", 5, b"\0" * 32))
    assert (note.origin, note.size) == ("onlooker.example/x", 5)
    assert signed_by(note, signer.public_raw)
    assert not signed_by(note, load_signer(tmp_path / "j.pem").public_raw)


@pytest.mark.parametrize("text", ["", "a\n1\nAAAA\n\n", "a\nx\n" + "A" * 43 + "=\n\n\u2014 a AAAA\n"])
def test_what_is_no_note_is_refused(text):
    with pytest.raises(ValueError, match="not a checkpoint note"):
        parse_note(text)
