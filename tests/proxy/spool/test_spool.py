"""The spool from the writer's call to the reader's events: nothing lost, nothing twice, every gap counted."""

import json
import os
import time
import zlib
from pathlib import Path

import pytest

from proxy.exchange import Ending, Side
from proxy.folders import private_directory
from proxy.spool import format as fmt
from proxy.spool.checksum import crc32
from proxy.spool.events import BodyEnded, BodySeen, ClockStepped, Dropped, Ended, HeadSeen, Opened, Refused
from proxy.spool.tail import SpoolTail
from proxy.spool.writer import Writer, open_section

REQUEST = b"POST /v1 HTTP/1.1\r\nHost: api.example\r\nContent-Length: 5\r\n\r\n"
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"
SECTION = open_section({"route": "api", "upstream": "api.example:443"})
ASK = fmt.OPEN | fmt.HEAD | fmt.BODY | fmt.LAST
ANSWER = fmt.HEAD | fmt.BODY | fmt.LAST | fmt.OVER | fmt.RESPONSE


@pytest.fixture
def root(tmp_path):
    return tmp_path / "spool"


def ask(writer, number, body=b"hello"):
    writer.add_head(number, ASK, SECTION, b"authorization=aa11", len(REQUEST), REQUEST + body)


def answer(writer, number, body=b"welcome"):
    writer.add_head(number, ANSWER, b"", b"", len(RESPONSE), RESPONSE + body)


def drain(tail):
    events = []
    while more := tail.poll():
        events += more
    return events


def kinds(events):
    return [type(e).__name__ for e in events]


def totals(events):
    """exchanges, bytes in, bytes out: recorded plus declared dropped."""
    ended = [e for e in events if isinstance(e, Ended)]
    gone = [e for e in events if isinstance(e, Dropped)]
    return (
        len(ended) + sum(e.exchanges for e in gone),
        sum(e.bytes_in for e in ended) + sum(e.bytes_in for e in gone),
        sum(e.bytes_out for e in ended) + sum(e.bytes_out for e in gone),
    )


def test_one_exchange_arrives_whole_and_in_order(root):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    answer(writer, 1)
    writer.flush()
    events = tail.poll()
    assert kinds(events) == [
        "Opened",
        "HeadSeen",
        "BodySeen",
        "BodyEnded",
        "HeadSeen",
        "BodySeen",
        "BodyEnded",
        "Ended",
    ]
    opened, head, body = events[:3]
    assert isinstance(opened, Opened)
    assert opened.meta["upstream"] == "api.example:443"
    assert isinstance(head, HeadSeen)
    assert (head.raw, head.fingerprints) == (REQUEST, {"authorization": "aa11"})
    assert isinstance(body, BodySeen)
    assert (body.side, body.data) == (Side.REQUEST, b"hello")
    assert events[-1].ending is Ending.COMPLETE
    assert (events[-1].bytes_in, events[-1].bytes_out) == (len(REQUEST) + 5, len(RESPONSE) + 7)
    assert tail.poll() == []


def test_files_are_private(root):
    writer = Writer(root, "w1")
    assert root.stat().st_mode & 0o777 == 0o700
    assert writer.directory.stat().st_mode & 0o777 == 0o700
    assert {p.stat().st_mode & 0o777 for p in root.rglob("*") if p.is_file()} == {0o600}


def test_a_directory_others_can_enter_is_refused(tmp_path):
    (tmp_path / "open").mkdir(mode=0o755)
    with pytest.raises(PermissionError, match="mode 0700"):
        private_directory(tmp_path / "open")


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("step", [1, 2, 3, 5, 7, 1000])
def test_chunk_framing_is_taken_off_at_any_cut(root, step):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    wire = b"4;x=1\r\nabcd\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
    ask(writer, 1)
    writer.add_head(1, fmt.HEAD | fmt.BODY | fmt.RESPONSE, b"", b"", len(CHUNKED), CHUNKED + wire[:step])
    for at in range(step, len(wire), step):
        last = fmt.LAST | fmt.OVER if at + step >= len(wire) else 0
        writer.add(1, fmt.BODY | fmt.RESPONSE | last, wire[at : at + step])
        writer.flush()
    if step >= len(wire):
        writer.end(1, "truncated", "test")
        writer.flush()
    events = drain(tail)
    assert b"".join(e.data for e in events if isinstance(e, BodySeen) and e.side is Side.RESPONSE) == b"abcd0123456789"
    assert sum(isinstance(e, Ended) for e in events) == 1


def test_an_interim_head_has_no_body(root):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    early = b"HTTP/1.1 103 Early Hints\r\nTransfer-Encoding: chunked\r\n\r\n"
    writer.add_head(1, fmt.HEAD | fmt.RESPONSE, b"", b"", len(early), early)
    answer(writer, 1)
    writer.flush()
    assert [e.data for e in tail.poll() if isinstance(e, BodySeen)] == [b"hello", b"welcome"]


@pytest.mark.parametrize("ending", ["truncated", "client_gone", "upstream_failed"])
def test_another_ending_ends_both_sides_once(root, ending):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    writer.end(1, ending, "why")
    writer.flush()
    events = drain(tail)
    assert [(e.side, e.ending) for e in events if isinstance(e, BodyEnded)] == [
        (Side.REQUEST, Ending.COMPLETE),
        (Side.RESPONSE, Ending(ending)),
    ]
    assert [(e.ending, e.reason) for e in events if isinstance(e, Ended)] == [(Ending(ending), "why")]


def test_a_refusal_comes_through(root):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    writer.say(9, {"event": "refused", "status": 400, "reason": "bare-lf", "meta": {"peer": "127.0.0.1"}})
    writer.flush()
    (event,) = tail.poll()
    assert event == Refused("w1", 9, event.mono_ns, 400, "bare-lf", {"peer": "127.0.0.1"})


def test_reading_goes_on_over_segments_and_release_deletes_them(root):
    writer, tail = Writer(root, "w1", cap_bytes=4 << 20), SpoolTail(root)
    for n in range(1, 201):
        ask(writer, n, b"x" * 4000)
        answer(writer, n)
        writer.flush()
    events = drain(tail)
    assert sum(isinstance(e, Ended) for e in events) == 200
    before = list(writer.directory.glob("seg-*"))
    assert len(before) > 3
    tail.release(tail.checkpoint())
    assert len(list(writer.directory.glob("seg-*"))) == 1


@pytest.mark.parametrize("cut", [0, 1, 7, 35, 36, 100, 400])
def test_a_checkpoint_resumes_with_nothing_lost_or_doubled(root, cut):
    writer, first = Writer(root, "w1"), SpoolTail(root)
    wire = b"4\r\nabcd\r\n" * 60 + b"0\r\n\r\n"
    ask(writer, 1)
    writer.add_head(1, fmt.HEAD | fmt.BODY | fmt.RESPONSE, b"", b"", len(CHUNKED), CHUNKED + wire[:cut])
    writer.flush()
    before = drain(first)
    saved = json.loads(json.dumps(first.checkpoint()))
    first.close()
    writer.add(1, fmt.BODY | fmt.RESPONSE | fmt.LAST | fmt.OVER, wire[cut:])
    ask(writer, 2)
    answer(writer, 2)
    writer.flush()
    after = drain(SpoolTail(root, saved))
    body = b"".join(e.data for e in before + after if isinstance(e, BodySeen) and e.exchange == 1)
    assert body == b"hello" + b"abcd" * 60
    ended = [e for e in after if isinstance(e, Ended)]
    assert [(e.exchange, e.bytes_out) for e in ended] == [(1, len(CHUNKED) + len(wire)), (2, len(RESPONSE) + 7)]


def die(writer):
    """What the kernel leaves of a killed writer: files, and a lock nobody holds."""
    os.close(writer._lock)
    os.close(writer._segment.fd)


@pytest.mark.parametrize("torn", [1, 20, 36, 50, 80])
def test_a_torn_tail_of_a_dead_writer_is_declared_to_the_byte(root, torn):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    answer(writer, 1)
    ask(writer, 2)
    writer.flush()
    whole = os.fstat(writer._segment.fd).st_size
    answer(writer, 2)
    writer.flush()
    offered = writer.exchanges, writer.bytes_in, writer.bytes_out
    os.truncate(writer.directory / "seg-0000000001", whole + torn)
    die(writer)
    events = drain(tail)
    assert [(e.exchange, e.ending) for e in events if isinstance(e, Ended)] == [
        (1, Ending.COMPLETE),
        (2, Ending.TRUNCATED),
    ]
    assert totals(events) == offered
    (gap,) = [e for e in events if isinstance(e, Dropped)]
    assert (gap.exchanges, gap.bytes_in, gap.bytes_out) == (0, 0, len(RESPONSE) + 7)


def flips():
    size = fmt.SEGMENT.size
    return [size, size + 3, size + 5, size + 9, size + 20, size + 33, size + 40, size + 90, size + 170]


@pytest.mark.parametrize("at", flips())
def test_a_flipped_bit_is_found_and_what_it_hides_is_declared(root, at):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    for n in (1, 2, 3):
        ask(writer, n)
        answer(writer, n)
    writer.flush()
    path = writer.directory / "seg-0000000001"
    raw = bytearray(path.read_bytes())
    raw[at] ^= 0x10
    path.write_bytes(raw)
    writer.close()
    events = drain(tail)
    assert totals(events) == (writer.exchanges, writer.bytes_in, writer.bytes_out)
    assert any(isinstance(e, Dropped) for e in events)


def test_a_closed_writer_leaves_no_gap_and_its_directory_goes_on_release(root):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    answer(writer, 1)
    writer.close()
    events = drain(tail)
    assert not [e for e in events if isinstance(e, Dropped)]
    tail.release(tail.checkpoint())
    assert not writer.directory.exists()


def test_above_the_high_water_mark_exchanges_are_counted_instead_and_below_the_low_one_captured_again(root):
    now = [0]
    writer, tail = Writer(root, "w1", cap_bytes=1 << 20, clock=lambda: now[0]), SpoolTail(root)
    number = 0

    def load(rounds):
        nonlocal number
        for _ in range(rounds):
            number += 1
            now[0] += 1_000_000
            ask(writer, number, b"q" * 3000)
            writer.flush()
            answer(writer, number, b"r" * 3000)
            writer.flush()

    load(1000)
    used = sum(p.stat().st_size for p in root.glob("*/seg-*"))
    assert used <= 1 << 20
    events = drain(tail)
    assert not [e for e in events if isinstance(e, Dropped)]
    tail.release(tail.checkpoint())
    now[0] += 1_000_000_000
    load(20)
    writer.tend()
    writer.close()
    events += drain(tail)
    gaps = [e for e in events if isinstance(e, Dropped)]
    assert len(gaps) <= 2
    assert gaps[0].reason == "spool_full"
    assert gaps[0].first_exchange < gaps[0].last_exchange
    assert totals(events) == (writer.exchanges, writer.bytes_in, writer.bytes_out)
    assert [e.exchange for e in events if isinstance(e, Ended)][-1] == number


def test_a_body_the_full_spool_lost_in_the_middle_is_told_at_the_end_with_its_bytes(root):
    now = [0]
    writer, tail = Writer(root, "w1", cap_bytes=1 << 20, clock=lambda: now[0]), SpoolTail(root)
    for number in range(1, 400):  # asked, captured, waiting for their answers
        now[0] += 1_000_000
        ask(writer, number, b"q" * 3000)
        writer.flush()
    for number in range(1, 400):
        now[0] += 1_000_000
        answer(writer, number, b"r" * 3000)
        writer.flush()
    writer.close()
    events = drain(tail)
    ended = [e for e in events if isinstance(e, Ended)]
    lost = [e for e in ended if e.lost]
    assert lost
    assert {(e.lost, e.ending, e.lost_in) for e in lost} == {("spool_full", Ending.TRUNCATED, 0)}
    assert {e.lost_out for e in lost} == {e.bytes_out for e in lost} == {3000 + len(RESPONSE)}
    assert totals(events) == (writer.exchanges, writer.bytes_in, writer.bytes_out)


def failing(errors):
    """os.writev that fails as the list says: an errno, or a number of bytes to cut off."""
    queue = list(errors)

    def write(fd, parts):
        data = b"".join(parts)
        step = queue.pop(0) if queue else 0
        if step < 0:
            return os.write(fd, data[:step])
        if step:
            raise OSError(step, os.strerror(step))
        return os.write(fd, data)

    return write


@pytest.mark.parametrize(
    "errors", [[28], [0, 28], [-1], [0, -10], [0, 0, 5], [28, 28, 28], [0, -50, 28], [0, 0, 0, -3], [0, 0, 0, 28]]
)
def test_a_failed_or_short_write_is_undone_and_declared(root, errors):
    now = [0]
    writer, tail = Writer(root, "w1", clock=lambda: now[0], write=failing(errors)), SpoolTail(root)
    for n in range(1, 8):
        ask(writer, n)
        writer.flush()
        writer.add_head(n, fmt.HEAD | fmt.BODY | fmt.RESPONSE, b"", b"", len(RESPONSE), RESPONSE + b"wel")
        writer.flush()
        now[0] += 600_000_000
        writer.add(n, fmt.BODY | fmt.RESPONSE | fmt.LAST | fmt.OVER, b"come")
        writer.flush()
    writer.close()
    events = drain(tail)
    assert totals(events) == (7, 7 * (len(REQUEST) + 5), 7 * (len(RESPONSE) + 7))
    opened = sorted(e.exchange for e in events if isinstance(e, Opened))
    assert sorted(e.exchange for e in events if isinstance(e, Ended)) == opened
    assert [e for e in events if isinstance(e, Dropped)] or [e for e in events if isinstance(e, Ended) and e.reason]


def test_an_exchange_over_its_capture_cap_ends_truncated_with_all_its_bytes(root):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    writer.add_head(1, fmt.HEAD | fmt.BODY | fmt.RESPONSE, b"", b"", len(RESPONSE), RESPONSE)
    writer.lose(1, "capture_cap")
    writer.add(1, fmt.BODY | fmt.RESPONSE, b"x" * 1000)
    writer.add(1, fmt.BODY | fmt.RESPONSE | fmt.LAST | fmt.OVER, b"x" * 1000)
    writer.flush()
    (ended,) = [e for e in drain(tail) if isinstance(e, Ended)]
    assert (ended.ending, ended.reason, ended.bytes_out) == (Ending.TRUNCATED, "capture_cap", len(RESPONSE) + 2000)


def test_a_sleeping_reader_is_rung_and_a_busy_one_is_not(root):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    writer.flush()
    assert not tail._wake.wait(0)  # nobody slept, nobody was rung
    assert len(tail.wait(5)) == 4  # there already: does not sleep
    tail.doze()
    answer(writer, 1)
    writer.flush()
    assert tail._wake.wait(60)
    assert tail.poll()


def test_a_clock_step_is_said_and_later_wall_times_follow_it(root):
    writer, tail = Writer(root, "w1"), SpoolTail(root)
    ask(writer, 1)
    writer.flush()
    (before,) = [e for e in tail.poll() if isinstance(e, Opened)]
    hour_ns = 3600 * 10**9
    said_ns = time.monotonic_ns()
    wall_ns = before.meta["wall_ns"] - before.mono_ns + said_ns + hour_ns
    writer.say(0, {"event": "clock", "wall_ns": wall_ns, "step_ns": hour_ns})
    late_ns = time.monotonic_ns() - said_ns  # the writer stamped it within these
    ask(writer, 2)
    writer.flush()
    stepped, after, *_ = tail.poll()
    assert isinstance(stepped, ClockStepped)
    assert stepped.step_ns == hour_ns
    elapsed_ns = after.mono_ns - before.mono_ns
    assert 0 <= elapsed_ns + hour_ns - (after.meta["wall_ns"] - before.meta["wall_ns"]) <= late_ns


def test_two_writers_are_both_followed(root):
    tail = SpoolTail(root)
    one, two = Writer(root, "w1"), Writer(root, "w2")
    for writer in (one, two):
        ask(writer, 1)
        answer(writer, 1)
        writer.flush()
    assert {e.writer for e in tail.poll()} == {"w1", "w2"}


def test_the_root_needs_no_writer_yet(tmp_path):
    assert SpoolTail(Path(tmp_path / "later")).poll() == []


@pytest.mark.parametrize("size", [0, 1, 7, 64, 1000, 300_000])
def test_the_sum_of_an_entry_is_zlibs_crc32_whatever_computes_it(size):
    data = bytes(n * 7 % 256 for n in range(size))
    assert crc32(data, crc32(b"front")) == zlib.crc32(b"front" + data)
