"""The log chains, numbers, syncs, signs and rotates; one writer at a time."""

import itertools
import os

import orjson
import pytest

from audit.chain import ZERO, line_hash
from audit.files import load_manifest, segments
from audit.log import LogInUseError
from audit.segment import LogUnwritableError
from audit.segment_reader import lines_of
from audit.verify import verify
from audit.writer import Limits
from tests.audit.build import ToldClock, action_record, open_log


def all_lines(folder):
    return [line for s in segments(folder / "audit") if s.path for line in lines_of(s.path)]


def test_each_line_carries_the_hash_of_the_bytes_before_it(tmp_path):
    with open_log(tmp_path) as log:
        ids = [log.append(action_record()) for _ in range(5)]
    lines = all_lines(tmp_path)
    before = ZERO
    for seq, line in enumerate(lines):
        record = orjson.loads(line)
        assert (record["prev"], record["seq"], record["id"]) == (before, seq, f"{log.log_id}:{seq}")
        before = line_hash(line)
    assert ids == [f"{log.log_id}:{n}" for n in range(1, 6)]


def test_a_record_is_in_the_file_when_append_returns(tmp_path):
    with open_log(tmp_path) as log:
        identity = log.append(action_record())
        assert orjson.loads(all_lines(tmp_path)[-1])["id"] == identity


def test_acknowledged_means_synced_and_comes_by_itself(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
        assert log.wait_acknowledged(log.next_seq - 1)
        assert log.acknowledged_seq == log.next_seq - 1


def test_what_is_there_when_a_log_is_taken_up_counts_as_acknowledged(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
    with open_log(tmp_path) as again:
        assert again.acknowledged_seq == again.next_seq - 1


def test_a_checkpoint_before_a_record_does_not_delay_its_sync(tmp_path):
    with open_log(tmp_path, limits=Limits(checkpoint_records=1, idle_s=3600, sync_s=0.001)) as log:
        for _ in range(3):
            log.append(action_record())
            assert log.wait_acknowledged(log.next_seq - 1, 60)


def test_a_second_writer_is_refused_in_one_sentence(tmp_path):
    with open_log(tmp_path), pytest.raises(LogInUseError, match=f"process {os.getpid()} writes this log"):
        open_log(tmp_path)


def test_the_files_are_for_their_owner_only(tmp_path):
    with open_log(tmp_path) as log:
        log.rotate()
    modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "audit").iterdir()}
    assert set(modes.values()) == {0o600}
    assert (tmp_path / "audit").stat().st_mode & 0o777 == 0o700


def test_a_clean_end_is_a_checkpoint_and_is_taken_up_without_a_word(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
    assert orjson.loads(all_lines(tmp_path)[-1])["kind"] == "checkpoint"
    with open_log(tmp_path) as again:
        assert again.log_id == log.log_id
        assert again.next_seq == log.next_seq


def test_checkpoints_come_by_count(tmp_path):
    with open_log(tmp_path, limits=Limits(checkpoint_records=10, idle_s=30)) as log:
        for _ in range(35):
            log.append(action_record())
    kinds = [orjson.loads(line)["kind"] for line in all_lines(tmp_path)]
    assert kinds.count("checkpoint") == 4
    assert kinds[10] == "checkpoint"


def test_a_quiet_log_signs_its_end_by_itself(tmp_path):
    clock = ToldClock()
    with open_log(tmp_path, clock=clock, limits=Limits(idle_s=0.01, sync_s=0.001)) as log:
        clock.pass_s(1)
        log.append(action_record())
        clock.pass_s(1)
        with log._changed:
            assert log._changed.wait_for(lambda: log.health.kinds.get("checkpoint"), 60)


def test_rotation_by_size_leaves_a_manifest_of_what_was_in_the_file(tmp_path):
    with open_log(tmp_path, limits=Limits(segment_bytes=8000, idle_s=30)) as log:
        for _ in range(30):
            log.append(action_record())
    found = list(segments(tmp_path / "audit"))
    assert len(found) > 2
    for segment in found[:-1]:
        manifest = load_manifest(segment.manifest)
        lines = list(lines_of(segment.path))
        assert manifest.last_seq - manifest.first_seq + 1 == len(lines)
        assert manifest.last_hash == line_hash(lines[-1])
        assert manifest.kinds["segment"] == 1


def test_an_empty_hour_rotates_too(tmp_path):
    clock = ToldClock()
    with open_log(tmp_path, clock=clock, limits=Limits(segment_s=3600, idle_s=0.005)) as log:
        clock.pass_s(3601)
        with log._changed:
            assert log._changed.wait_for(lambda: log.health.kinds.get("segment") == 2, 60)
    assert len([s for s in segments(tmp_path / "audit") if s.manifest]) == 1


def test_a_clock_that_jumps_is_a_record_and_order_stays_by_seq(tmp_path):
    clock = ToldClock()
    with open_log(tmp_path, clock=clock) as log:
        log.append(action_record())
        clock.wall -= 3600 * 10**9
        log.append(action_record())
        log.append(action_record())
    records = [orjson.loads(line) for line in all_lines(tmp_path)]
    steps = [r for r in records if r["kind"] == "clock_step"]
    assert [s["clock"]["delta_ms"] for s in steps] == [-3600000.0]
    assert [r["seq"] for r in records] == list(range(len(records)))


class FillingDisk:
    """Takes ``room`` bytes, then a part of one line, then nothing, until room is made again."""

    def __init__(self, room):
        self.room = room

    def __call__(self, fd, data):
        if self.room <= 0:
            raise OSError(28, "No space left on device")
        taken = os.write(fd, data[: self.room])
        self.room -= taken
        return taken


def test_a_short_write_is_undone_and_the_log_goes_on_when_there_is_room(tmp_path):
    disk = FillingDisk(10_000)
    with open_log(tmp_path, write=disk) as log:
        written = 0
        with pytest.raises(LogUnwritableError, match="bytes were taken"):
            for _ in range(100):
                log.append(action_record())
                written += 1
        with pytest.raises(LogUnwritableError, match="No space left"):
            log.append(action_record())
        assert log.health.failed_appends == 2
        disk.room = 10**9
        log.append(action_record())
        assert log.health.error is None
    lines = all_lines(tmp_path)
    kinds = [orjson.loads(line)["kind"] for line in lines]
    assert kinds.count("action") == written + 1
    for line, after in itertools.pairwise(lines):
        assert orjson.loads(after)["prev"] == line_hash(line)


def test_what_the_log_already_has_is_known_by_its_place_in_the_capture(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
        assert log.known_src() == {("r0", 12, 0)}
        assert [r["kind"] for r in log.tail(2)] == ["segment", "action"]


class FailingDisk:
    """``fdatasync`` that fails as often as told; ``lose``: what a kernel does that drops the pages it could not write."""

    def __init__(self, failures, lose=None):
        self.failures, self.lose, self.calls = failures, lose, 0

    def __call__(self, fd):
        self.calls += 1
        if self.failures:
            self.failures -= 1
            if self.lose:
                self.lose()
            raise OSError(5, "Input/output error")
        os.fdatasync(fd)


def test_a_failed_sync_is_tried_again_with_the_bytes_written_again(tmp_path):
    disk = FailingDisk(0)
    with open_log(tmp_path, fdatasync=disk) as log:
        log.append(action_record())
        assert log.wait_acknowledged(log.next_seq - 1)
        disk.failures = 3
        before = all_lines(tmp_path)
        log.append(action_record())
        assert log.wait_acknowledged(log.next_seq - 1)
        assert disk.failures == 0
        assert all_lines(tmp_path)[: len(before)] == before
        assert not log._chain.segment.doubtful
    assert all(r.answer == "valid" for r in verify(tmp_path / "audit"))


def test_what_a_failing_disk_lost_is_never_said_to_be_on_it(tmp_path):
    def lose():
        (segment,) = (s.path for s in segments(tmp_path / "audit"))
        size = segment.stat().st_size
        os.truncate(segment, size - 40)
        os.truncate(segment, size)  # zeros where the last bytes were

    disk = FailingDisk(0, lose)
    log = open_log(tmp_path, fdatasync=disk)
    log.append(action_record())
    assert log.wait_acknowledged(log.next_seq - 1)
    safe = log.acknowledged_seq
    disk.failures = 1
    log.append(action_record())
    assert not log.wait_acknowledged(log.next_seq - 1, 0.3)
    assert log.acknowledged_seq == safe
    assert "no longer what the disk gives back" in log.health.error
    with pytest.raises(OSError, match="no longer"):
        log.close()


def test_a_rotation_whose_sync_fails_stays_on_the_old_file(tmp_path):
    disk = FailingDisk(0)
    with open_log(tmp_path, fdatasync=disk) as log:
        log.append(action_record())
        assert log.wait_acknowledged(log.next_seq - 1)
        disk.failures = 1
        with pytest.raises(OSError, match="Input/output"):
            log.rotate()
        assert len(list(segments(tmp_path / "audit"))) == 1
        log.rotate()
        log.append(action_record())
    assert len(list(segments(tmp_path / "audit"))) == 2
    assert all(r.answer == "valid" for r in verify(tmp_path / "audit"))
