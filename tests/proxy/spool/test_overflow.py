"""A spool whose reader lags goes to disk and comes back in order; a disk that refuses costs nothing but room."""

import shutil
import time

import pytest

from proxy.spool.events import Dropped, Ended
from proxy.spool.overflow import Overflow
from proxy.spool.tail import SpoolTail
from proxy.spool.writer import Writer

from .test_spool import answer, ask, drain, totals

CAP = 2 << 20


@pytest.fixture
def places(tmp_path):
    return tmp_path / "spool", tmp_path / "state" / "overflow"


def load(writer, overflow, numbers):
    for number in numbers:
        ask(writer, number, b"q" * 3000)
        answer(writer, number, b"r" * 3000)
        writer.flush()
        while overflow.step():
            pass


def test_four_spools_full_are_read_in_order_without_a_gap_and_leave_nothing(places):
    root, disk = places
    overflow = Overflow(root, disk, CAP, free_bytes=0)
    writer, tail = Writer(root, "w1", cap_bytes=CAP), SpoolTail(root, None, disk)
    load(writer, overflow, range(1, 1300))
    assert overflow.moved > 50
    assert {p.stat().st_mode & 0o777 for p in disk.rglob("seg-*")} == {0o600}
    assert {p.stat().st_mode & 0o777 for p in (disk, disk / "w1")} == {0o700}
    writer.close()
    events = tail.poll()
    assert tail.behind_bytes() > 3 * CAP
    events += drain(tail)
    assert [e.exchange for e in events if isinstance(e, Ended)] == list(range(1, 1300))
    assert not [e for e in events if isinstance(e, Dropped)]
    tail.release(tail.checkpoint())
    assert not list(root.glob("w1"))
    assert not list(disk.rglob("*"))


def test_segments_are_let_go_of_on_disk_too_and_a_later_life_finds_the_rest(places):
    root, disk = places
    overflow = Overflow(root, disk, CAP, free_bytes=0)
    writer, first = Writer(root, "w1", cap_bytes=CAP), SpoolTail(root, None, disk)
    load(writer, overflow, range(1, 701))
    there = len(list(disk.rglob("seg-*")))
    seen = []
    while len([e for e in seen if isinstance(e, Ended)]) < 500:
        seen += first.poll()
    saved = first.checkpoint()
    first.release(saved)
    assert len(list(disk.rglob("seg-*"))) < there
    first.close()
    writer.close()
    seen += drain(SpoolTail(root, saved, disk))
    assert totals(seen) == (writer.exchanges, writer.bytes_in, writer.bytes_out)
    assert [e.exchange for e in seen if isinstance(e, Ended)] == list(range(1, 701))


def test_what_was_moved_is_read_when_the_memory_is_gone(places):
    root, disk = places
    overflow = Overflow(root, disk, CAP, free_bytes=0)
    writer = Writer(root, "w1", cap_bytes=CAP)
    load(writer, overflow, range(1, 701))
    writer.close()
    shutil.rmtree(root)
    tail = SpoolTail(root, None, disk)
    ended = [e.exchange for e in drain(tail) if isinstance(e, Ended)]
    assert 100 < len(ended) < 700
    assert ended == sorted(ended)
    tail.release(tail.checkpoint())
    assert not list(disk.rglob("*"))


def test_a_disk_that_refuses_leaves_the_segments_in_memory_and_the_rest_is_a_gap(places):
    root, disk = places
    disk.parent.mkdir()
    disk.write_text("in the way")
    overflow = Overflow(root, disk, CAP, free_bytes=0)
    writer, tail = Writer(root, "w1", cap_bytes=CAP), SpoolTail(root, None, disk)
    load(writer, NoOverflow(), range(1, 701))
    with pytest.raises(OSError, match="Not a directory"):
        overflow.step()
    assert writer.full
    events = drain(tail)
    tail.release(tail.checkpoint())
    writer.close()
    events += drain(tail)
    assert totals(events) == (writer.exchanges, writer.bytes_in, writer.bytes_out)


def test_a_disk_with_too_little_room_is_not_filled(places):
    root, disk = places
    overflow = Overflow(root, disk, CAP, free_bytes=1 << 60)
    load(Writer(root, "w1", cap_bytes=CAP), NoOverflow(), range(1, 301))
    with pytest.raises(OSError, match="too little room"):
        overflow.step()
    assert not list(disk.rglob("seg-*"))


def test_the_thread_moves_by_itself_and_says_why_it_cannot(places):
    root, disk = places
    disk.parent.mkdir()
    disk.write_text("in the way")
    overflow = Overflow(root, disk, CAP, free_bytes=0)
    load(Writer(root, "w1", cap_bytes=CAP), NoOverflow(), range(1, 301))
    overflow.start()
    until = time.monotonic() + 60
    while overflow.error is None and time.monotonic() < until:
        time.sleep(0.01)
    assert overflow.error.endswith("Not a directory")
    overflow.close()


class NoOverflow:
    """No overflow at all."""

    def step(self):
        return False
