"""Closed files are compressed and old ones go, by themselves, on record, and the rest still verifies."""

import threading

from audit.checkpoint import load_signer
from audit.files import segments
from audit.read import records
from audit.retention import Retention, housekeeping, remove_old
from audit.verify import verify
from tests.audit.build import action_record, open_log


def with_housekeeping(folder, rules, **more):
    """(log, event set after each housekeeping)."""
    done, work = threading.Event(), housekeeping(rules)

    def after(log, path):
        work(log, path)
        done.set()

    return open_log(folder, after_rotation=after, **more), done


def test_a_closed_file_is_compressed_off_the_append_path(tmp_path):
    log, done = with_housekeeping(tmp_path, Retention())
    with log:
        log.append(action_record())
        log.rotate()
        log.append(action_record())
        assert done.wait(60)
        first = next(iter(segments(tmp_path / "audit")))
        assert first.path.suffix == ".zst"
        assert first.path.stat().st_mode & 0o777 == 0o600
    assert verify(tmp_path / "audit")[0].answer == "valid"


def test_the_oldest_files_go_by_size_and_on_record(tmp_path):
    log, done = with_housekeeping(tmp_path, Retention(max_bytes=1))
    with log:
        log.append(action_record())
        log.rotate()
        log.append(action_record())
        assert done.wait(60)
    (said,) = [r["retention"] for r in records(tmp_path) if r["kind"] == "retention"]
    assert (said["number"], said["first_seq"], said["reason"]) == (1, 0, "max_bytes")
    assert verify(tmp_path / "audit")[0].removed == [1]


def test_an_earlier_log_goes_whole_once_all_of_it_is_due(tmp_path):
    with open_log(tmp_path) as earlier:
        earlier.append(action_record())
    with open_log(tmp_path, signer=load_signer(tmp_path / "other.pem")) as log:
        assert remove_old(log, Retention(max_age_s=10**6), 2_000_000_000.0 - 10**9) == []
        assert any((tmp_path / "audit").glob(f"{earlier.log_id}.*"))
        remove_old(log, Retention(max_age_s=60), 4_000_000_000.0)
        assert not any((tmp_path / "audit").glob(f"{earlier.log_id}.*"))
    said = [r["retention"] for r in records(tmp_path) if r["kind"] == "retention"]
    assert [(s["log_id"], s["reason"]) for s in said] == [(earlier.log_id, "max_age")]
    assert [r.answer for r in verify(tmp_path / "audit")] == ["valid"]


def test_a_file_that_cannot_be_compressed_stays_as_it_is(tmp_path):
    log, done = with_housekeeping(tmp_path, Retention())
    with log:
        log.append(action_record())
        (tmp_path / "audit" / f"{log.log_id}.000001.jsonl.zst.new").mkdir()
        log.rotate()
        log.append(action_record())
        assert done.wait(60)
        assert (tmp_path / "audit" / f"{log.log_id}.000001.jsonl").exists()
        assert log.append(action_record())
    assert verify(tmp_path / "audit")[0].answer == "valid"
