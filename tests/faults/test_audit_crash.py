"""kill -9 at random places, full disks, writers side by side: nothing acknowledged is lost, nothing is written twice."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest

from audit.checkpoint import load_signer
from audit.cursor import Cursor, read_batch
from audit.files import segments
from audit.read import records
from audit.segment import LogUnwritableError
from audit.verify import verify
from audit.writer import Limits
from tests.audit.build import action_record, open_log

pytestmark = pytest.mark.faults

CHILD = Path(__file__).with_name("audit_crash_child.py")
TURNS = 100
ROOT = Path(__file__).parents[2]


def numbers(folder):
    return [r["src"]["ordinal"] for r in records(folder) if r["kind"] == "action"]


@pytest.mark.timeout(280)
def test_each_record_is_there_once_after_a_hundred_kills(tmp_path):
    chance = random.Random(20261130)
    acknowledged, started = 0, 0
    for turn in range(TURNS):
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(CHILD), str(tmp_path), str(started)]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        line = child.stdout.readline()  # the first acknowledged record: it is under way
        assert line, turn
        time.sleep(chance.uniform(0, 0.05))
        child.send_signal(signal.SIGKILL)
        lines = [line, *child.stdout]
        child.wait()
        child.stdout.close()
        acknowledged = max(acknowledged, *(int(x) for x in lines if x.endswith("\n")))
        found = numbers(tmp_path)
        assert len(found) == len(set(found)), turn
        assert set(range(acknowledged + 1)) <= set(found), turn
        started = max(0, acknowledged - 40)  # as an analyzer does: back to its last snapshot, skipping what is there
    (report,) = verify(tmp_path / "audit")
    assert report.answer in {"valid", "unproven"}, report
    assert report.records > 500
    recovered = [r["recovery"] for r in records(tmp_path) if r["kind"] == "recovered"]
    assert recovered  # a kill right after a checkpoint leaves a clean end and is no recovery


@pytest.mark.timeout(120)
def test_each_record_is_there_once_after_an_end_at_every_step_between_two_writes(tmp_path):
    """126 ends: before, in the middle of and after each of the first writes of a life, checkpoints and headers among them."""
    script = CHILD.with_name("audit_crash_places.py")
    command = [sys.executable, str(script), str(tmp_path), "126"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    said = [int(x) for x in done.stdout.split()]
    assert said == sorted(set(said))
    open_log(tmp_path, signer=load_signer(tmp_path / "keys" / "log.pem")).close()
    found = numbers(tmp_path)
    assert found == list(range(len(found)))
    assert set(said) <= set(found)
    (report,) = verify(tmp_path / "audit")
    assert (report.answer, len({s.number for s in segments(tmp_path / "audit")}) > 5) == ("valid", True), report
    torn = [r["recovery"]["torn_bytes"] for r in records(tmp_path) if r["kind"] == "recovered"]
    assert sum(t > 0 for t in torn) >= 40
    last = [a["kind"] for a, b in pairwise(records(tmp_path)) if b["kind"] == "recovered"]
    assert {"action", "segment", "recovered"} <= set(last)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_disk_that_fills_up_and_is_cleared_loses_no_acknowledged_record(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("this machine does not allow mounting")
    try:
        _fill_and_clear(disk)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def _fill_and_clear(disk):
    log = open_log(disk, limits=Limits(segment_bytes=60_000, checkpoint_records=20, idle_s=30, sync_s=0.005))
    ballast = disk / "ballast"
    ballast.write_bytes(b"x" * 150_000)
    written = []
    with pytest.raises(LogUnwritableError):
        while True:
            written.append(log.append(action_record()))
    assert log.health.error
    for _ in range(20):
        with pytest.raises(LogUnwritableError):
            log.append(action_record("ls " + "/x" * 40_000))
    ballast.unlink()
    written += [log.append(action_record()) for _ in range(20)]
    log.close()
    kept = [r["id"] for r in records(disk) if r["kind"] == "action"]
    assert kept == written
    assert verify(disk / "audit")[0].answer == "valid"


def test_many_threads_and_a_reader_while_files_rotate(tmp_path):
    log = open_log(tmp_path, limits=Limits(segment_bytes=30_000, checkpoint_records=50, idle_s=0.02, sync_s=0.002))
    ids: list[list[str]] = [[] for _ in range(6)]

    def write(mine):
        for _ in range(300):
            mine.append(log.append(action_record()))

    threads = [threading.Thread(target=write, args=(mine,)) for mine in ids]
    for thread in threads:
        thread.start()
    cursor, read = Cursor(), []
    while any(t.is_alive() for t in threads) or (batch := read_batch(tmp_path / "audit", cursor)[0]):
        batch, cursor = read_batch(tmp_path / "audit", cursor, max_records=64)
        read += batch
    log.close()
    rest, cursor = read_batch(tmp_path / "audit", cursor)
    while rest:
        read += rest
        rest, cursor = read_batch(tmp_path / "audit", cursor)
    assert len(read) == log.next_seq
    assert len({i for mine in ids for i in mine}) == 1800
    assert all(sorted(mine, key=lambda i: int(i.rpartition(":")[2])) == mine for mine in ids)
    assert verify(tmp_path / "audit")[0].answer == "valid"


def test_every_byte_of_a_small_log_is_watched(tmp_path):
    with open_log(tmp_path) as log:
        log.append(action_record())
    path = next((tmp_path / "audit").glob("*.jsonl"))
    data = path.read_bytes()
    for at in range(len(data)):
        flipped = bytearray(data)
        flipped[at] ^= 1 << at % 8
        path.write_bytes(flipped)
        assert verify(tmp_path / "audit")[0].answer != "valid", at
