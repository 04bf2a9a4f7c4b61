"""Records are found by time, id and session, in plain and compressed files, while the log is being written."""

import io

import orjson
import pytest

from audit import record as records
from audit import stored
from audit.cursor import Cursor, end_of, read_batch
from audit.files import segments
from audit.read import about, audit_dir, by_id, lines, newest, session
from audit.read import records as read_records
from audit.retention import Retention, compress, remove_old
from audit.segment_reader import lines_of
from audit.writer import Limits
from tests.audit.build import ToldClock, action_record, open_log


@pytest.fixture
def hours(tmp_path):
    """Six hours, one action a minute, a file an hour or so; the first two files compressed."""
    clock = ToldClock()
    with open_log(
        tmp_path, clock=clock, limits=Limits(segment_bytes=120_000, idle_s=10**6, segment_s=10**9, checkpoint_s=10**9)
    ) as log:
        for minute in range(360):
            log.append(action_record(f"ls /{minute}"))
            clock.pass_s(60)
    for segment in list(segments(tmp_path / "audit"))[:2]:
        compress(segment.path)
    return tmp_path


def commands(found):
    return [r["call"]["arguments"]["command"] for r in found if r["kind"] == "action"]


def test_everything_is_read_in_order(hours):
    assert commands(read_records(hours)) == [f"ls /{n}" for n in range(360)]


@pytest.mark.parametrize(
    "since", ["2026-11-30T08:00:00.000Z", "2026-11-30T10:00:00.000Z", "2026-11-30T13:58:30", "2026-12-01"]
)
def test_since_gives_exactly_what_is_newer(hours, since):
    expected = [r["id"] for r in read_records(hours) if r["ts"] >= since]
    assert [r["id"] for r in read_records(hours, since=since)] == expected


def test_a_window_has_both_ends(hours):
    found = commands(read_records(hours, since="2026-11-30T09:00:00.000Z", until="2026-11-30T09:04:59.999Z"))
    assert found == ["ls /60", "ls /61", "ls /62", "ls /63", "ls /64"]


def test_since_opens_only_the_files_that_can_hold_it(hours):
    for segment in list(segments(hours / "audit"))[:-1]:
        segment.path.write_bytes(b"unreadable")
    assert commands(read_records(hours, since="2026-11-30T13:59:00.000Z")) == ["ls /359"]


@pytest.mark.parametrize("seq", [0, 1, 57, 200, 365])
def test_a_record_is_found_by_its_id(hours, seq):
    wanted = list(read_records(hours))[seq]
    assert by_id(hours, wanted["id"]) == wanted
    assert by_id(hours, str(seq)) == wanted


@pytest.mark.parametrize("identity", ["", "nonsense", "other-log:3", "999999", "x:y"])
def test_an_id_that_is_not_there_is_none(hours, identity):
    assert by_id(hours, identity) is None


def test_lines_about_an_action_are_found(tmp_path):
    with open_log(tmp_path) as log:
        one, other = log.append(action_record()), log.append(action_record())
        log.append(records.disposition(action=one, state="benign", reason="drill", by=None))
        log.append(records.sighting(_call(), action=other, leg="mcp_request"))
    assert [r["kind"] for r in about(tmp_path, one)] == ["disposition"]
    assert [r["kind"] for r in session(tmp_path, "s-1")] == ["action", "action", "disposition", "sighting"]


def _call():
    from tests.audit.build import shell_call

    return shell_call()


def test_a_line_still_being_written_is_left_out(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
        path = next(s.path for s in segments(tmp_path / "audit"))
        whole = len(list(lines(tmp_path)))
        with path.open("ab") as file:
            file.write(b'{"schema":')
        assert len(list(lines(tmp_path))) == whole


def test_the_newest_are_found_from_the_end(hours):
    assert commands(newest(hours, 3, lambda r: r["kind"] == "action")) == ["ls /357", "ls /358", "ls /359"]
    assert len(newest(hours, 10_000)) == len(list(read_records(hours)))
    assert newest(hours, 0) == []


def test_a_place_without_a_log_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no audit log is here"):
        audit_dir(tmp_path)


def read_all(folder, cursor, **more):
    out = []
    while True:
        batch, cursor = read_batch(folder, cursor, **more)
        if not batch:
            return out, cursor
        out += [orjson.loads(line)["seq"] for line in batch]


@pytest.mark.parametrize("size", [1, 7, 512])
def test_a_cursor_reads_each_line_once_across_files(hours, size):
    seqs, cursor = read_all(hours / "audit", Cursor(), max_records=size)
    assert seqs == list(range(len(seqs)))
    assert len(seqs) > 360
    assert read_batch(hours / "audit", cursor) == ([], cursor)


def test_a_cursor_is_kept_over_a_restart_and_over_compression(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
        log.append(action_record())
        first, cursor = read_batch(tmp_path / "audit", Cursor(), max_records=2)
        cursor.save(tmp_path / "sinks" / "x.cursor")
        log.rotate()
        compress(next(s.path for s in segments(tmp_path / "audit") if s.manifest))
        seqs, _ = read_all(tmp_path / "audit", Cursor.load(tmp_path / "sinks" / "x.cursor"))
        assert seqs == list(range(len(first), log.next_seq))


def test_a_cursor_goes_on_into_the_next_log(tmp_path):
    from audit.checkpoint import load_signer

    with open_log(tmp_path) as log:
        log.append(action_record())
    cursor = end_of(tmp_path / "audit")
    assert read_batch(tmp_path / "audit", cursor)[0] == []
    with open_log(tmp_path, signer=load_signer(tmp_path / "other.pem")):
        pass
    seqs, _ = read_all(tmp_path / "audit", cursor)
    assert seqs == [0, 1, 2]


def test_what_retention_deleted_unread_is_counted(tmp_path):
    with open_log(tmp_path) as log:
        for _ in range(5):
            log.append(action_record())
        log.rotate()
        remove_old(log, Retention(max_bytes=1), 0.0)
        _, cursor = read_all(tmp_path / "audit", Cursor())
    assert cursor.lost == 7


def test_a_damaged_cursor_is_named(tmp_path):
    (tmp_path / "x.cursor").write_text("{")
    with pytest.raises(ValueError, match=r"x\.cursor: not a cursor"):
        Cursor.load(tmp_path / "x.cursor")


def test_halving_for_a_time_is_not_led_astray_by_the_checkpoint_after_a_clock_stepped_back(tmp_path):
    """The last line's time is an hour early; the half before it is one long line that is asked for."""
    lines = [("action", "10:00:00", 40_000), ("action", "10:00:10", 100_000), ("checkpoint", "09:00:00", 500)]
    text = "".join(
        f'{{"kind":"{kind}","seq":{seq},"ts":"2026-11-30T{time}.000Z","x":"{"x" * size}"}}\n'
        for seq, (kind, time, size) in enumerate(lines)
    )
    (tmp_path / "node-w0.000001.jsonl").write_text(text)
    assert [r["seq"] for r in read_records(tmp_path, since="2026-11-30T10:00:05.000Z")] == [1]


class _Growing(io.RawIOBase):
    """A file whose last line is finished by its writer right after a reader came to its end (b"": that end)."""

    suffix = ".jsonl"

    def __init__(self):
        self.parts = [b'{"seq":0}\n{"seq"', b"", b':1}\n{"seq":2}\n', b""]

    def exists(self):
        return True

    def open(self, _mode):
        return io.BufferedReader(self)

    def readable(self):
        return True

    def readinto(self, buffer):
        part = self.parts.pop(0)
        buffer[: len(part)] = part
        return len(part)


def test_the_rest_of_a_line_that_is_being_written_is_no_line():
    assert list(lines_of(_Growing())) == [b'{"seq":0}']
    assert list(stored.lines(_Growing())) == [b'{"seq":0}\n', b'{"seq"']  # what verify takes for a torn end
