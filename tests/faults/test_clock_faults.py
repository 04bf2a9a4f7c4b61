"""The wall clock of a whole instance set forward and back by an hour (libfaketime): said once each, nothing else moves."""

import asyncio
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from audit.verify import verify
from proxy.instance import Instance

from .conftest import WAIT_S, one_route
from .test_instance_faults import play

pytestmark = pytest.mark.faults

LIBRARIES = (
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
)
HOUR_S = 3600.0


@pytest.fixture
def clock(tmp_path, monkeypatch, upstream):
    """A function that sets the instance's wall clock to so many seconds off; the upstream and we keep the true one."""
    library = next((p for p in LIBRARIES if Path(p).exists()), None)
    if library is None or shutil.which("faketime") is None:
        pytest.skip("needs libfaketime (Debian: faketime, libfaketime)")
    file = tmp_path / "clock"

    def set_to(seconds):
        draft = tmp_path / "clock.draft"
        draft.write_text(f"{seconds:+g}\n")
        draft.replace(file)

    set_to(0)
    monkeypatch.setenv("LD_PRELOAD", library)
    monkeypatch.setenv("FAKETIME_TIMESTAMP_FILE", str(file))
    monkeypatch.setenv("FAKETIME_NO_CACHE", "1")
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    # 0.9.10 else takes a monotonic deadline for a wall time: a thread that waits for the GIL spins, and reading what was
    # captured took a hundred times as long (on a busy machine: more than an analyzer that is stopping has)
    monkeypatch.setenv("FAKETIME_FORCE_MONOTONIC_FIX", "0")
    return set_to


@pytest.fixture
def instance(tmp_path, memory, upstream, clock, monkeypatch):
    with Instance.start(one_route(tmp_path, memory, upstream)) as one:
        monkeypatch.undo()
        assert one.wait_analyzer()
        yield one


def steps_of(records):
    """The steps that were said, in hours."""
    return [round(r["clock"]["delta_ms"] / 1000 / HOUR_S) for r in records if r["kind"] == "clock_step"]


def test_an_hour_forward_and_back_is_said_and_changes_no_order_no_duration_and_no_session(instance, clock):
    async def steps():
        for offset_s, hours in ((HOUR_S, 1), (0.0, -1)):
            await asyncio.sleep(0.7)
            clock(offset_s)
            async with asyncio.timeout(WAIT_S):
                while hours not in steps_of(instance.records()):
                    await asyncio.sleep(0.1)

    began = time.monotonic_ns()
    done, failed = play(instance, steps, each=100)
    took_s = (time.monotonic_ns() - began) / 1e9
    assert not failed
    assert instance.stop() == 0, instance.stderr.read_text()
    records = instance.records()
    assert Counter(r["call"]["id"] for r in records if r["kind"] == "action") == Counter(f"call_{n}" for n in done)
    ends = [r.get("reason") for r in records if r["kind"] == "session" and r.get("event") == "end"]
    assert "idle" not in ends  # an hour forward is no hour of idling
    hours = steps_of(records)
    assert hours.index(1) < hours.index(-1)
    assert set(hours) == {1, -1}
    assert [r["seq"] for r in records] == sorted(r["seq"] for r in records)
    monotonic = [r["mono_ns"] for r in records]
    assert monotonic == sorted(monotonic)
    assert (monotonic[-1] - monotonic[0]) / 1e9 < took_s + 2 * WAIT_S
    assert [v.answer for v in verify(Path(instance.config.state) / "audit")] == ["valid"]
