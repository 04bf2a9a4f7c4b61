"""The filesystem under the log frozen, then full: traffic does not notice, and the log is complete afterwards. Needs root."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from audit.verify import verify
from proxy.instance import Instance
from proxy.settings import Config, SpoolSettings
from proxy.status import read_pids
from tests.ports import free_port

from .conftest import wait_for
from .test_instance_faults import play

pytestmark = pytest.mark.faults


def tool(*argv):
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def recorded_once(instance, done):
    """Each call of ``done`` has one action record, and no other call has one."""
    count = Counter(r["call"]["id"] for r in instance.records() if r["kind"] == "action")
    assert count == Counter(f"call_{n}" for n in done)


def nothing_held_up(instance, done, failed):
    """Every request of ``play`` was answered, the instance ends well, and each call is recorded once."""
    assert not failed
    assert len(done) == 240
    assert instance.stop() == 0
    recorded_once(instance, done)


@pytest.fixture
def disk(tmp_path):
    """A small ext4 of its own."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "fsfreeze", "losetup"))):
        pytest.skip("needs root, mkfs.ext4, fsfreeze")
    image, place = tmp_path / "image", tmp_path / "disk"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(24 << 20)
    if not tool("mkfs.ext4", "-q", str(image)) or not tool("mount", "-o", "loop", str(image), str(place)):
        pytest.skip("no loop mounts here")
    yield place
    tool("fsfreeze", "-u", str(place))
    tool("umount", "-l", str(place))


@pytest.fixture
def instance(disk, memory, upstream):
    state = disk / "state"
    state.mkdir(mode=0o700)
    config = Config(
        state=str(state),
        spool=SpoolSettings(dir=str(memory)),
        listen=f"127.0.0.1:{free_port()}",
        control=f"127.0.0.1:{free_port()}",
        routes={"/": {"url": f"http://127.0.0.1:{upstream}"}},
    )
    with Instance.start(config) as one:
        assert one.wait_analyzer()
        yield one


def stop_command(instance):
    command = (sys.executable, "-m", "proxy", "stop", "--state", instance.config.state)
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_frozen_filesystem_under_the_log_holds_no_request(instance, disk):
    async def freeze():
        await asyncio.sleep(0.3)
        assert tool("fsfreeze", "-f", str(disk))
        await asyncio.sleep(2.0)
        assert tool("fsfreeze", "-u", str(disk))

    done, failed = play(instance, freeze)
    nothing_held_up(instance, done, failed)


def test_a_full_filesystem_under_the_log_holds_no_request_and_the_log_goes_on_when_there_is_room(instance, disk):
    async def fill():
        await asyncio.sleep(0.3)
        filler = disk / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError:
                pass
        await asyncio.sleep(1.0)
        filler.unlink()

    done, failed = play(instance, fill)
    assert not failed
    assert instance.stop() == 0
    # what the analyzer could not write before it was stopped waits in the spool for the next life
    with Instance.start(instance.config) as again:
        assert again.wait_analyzer()
    recorded_once(instance, done)


def test_an_instance_stopped_on_a_full_filesystem_says_so_and_the_next_start_records_the_rest_once(instance, disk):
    filler = disk / "filler"

    async def fill():
        await asyncio.sleep(0.3)
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"\0" * 4096)
            except OSError:
                pass

    done, failed = play(instance, fill)
    assert not failed
    said = stop_command(instance)
    assert (said.returncode, said.stdout) == (4, "")
    assert f"the rest waits in {instance.config.spool.dir}; the next start" in said.stderr
    assert instance.stop() == 4
    filler.unlink()
    with Instance.start(instance.config) as again:
        assert again.wait_analyzer()
        said = stop_command(again)
        assert (said.returncode, said.stdout, said.stderr) == (0, "stopped\n", "")
        assert again.stop() == 0
    recorded_once(instance, done)
    assert [v.answer for v in verify(disk / "state" / "audit")] == ["valid"]


def test_a_slow_filesystem_under_the_log_holds_no_request(instance, disk):
    """Slow: it stands still for a quarter of a second, again and again."""

    async def slow():
        for _ in range(8):
            assert tool("fsfreeze", "-f", str(disk))
            await asyncio.sleep(0.25)
            assert tool("fsfreeze", "-u", str(disk))
            await asyncio.sleep(0.05)

    done, failed = play(instance, slow)
    nothing_held_up(instance, done, failed)


@pytest.fixture
def throttle(disk):
    """A function that lets a process tree write a few times a second to the disk (cgroup v2 ``io.max``, else v1)."""
    listed = subprocess.run(["findmnt", "-no", "MAJ:MIN", str(disk)], capture_output=True, text=True, check=True)
    device = listed.stdout.strip()
    root, name = Path("/sys/fs/cgroup"), f"onlooker-test-{os.getpid()}"
    if "io" in (root / "cgroup.controllers").read_text().split() if (root / "cgroup.controllers").exists() else ():
        (root / "cgroup.subtree_control").write_text("+io")
        group, rule = root / name, ("io.max", f"{device} wiops=4")
    elif (root / "blkio/blkio.throttle.write_iops_device").exists():
        group, rule = root / "blkio" / name, ("blkio.throttle.write_iops_device", f"{device} 4")
    else:
        pytest.skip("no cgroup can slow a device here")
    group.mkdir()
    (group / rule[0]).write_text(rule[1])

    def put(pids):
        for pid in pids:
            (group / "cgroup.procs").write_text(str(pid))

    yield put
    for pid in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            (group.parent / "cgroup.procs").write_text(pid)
    wait_for(lambda: not (group / "cgroup.procs").read_text(), "the group to be empty")
    group.rmdir()


def test_a_disk_of_four_writes_a_second_under_the_log_holds_no_request(instance, throttle):
    pids = read_pids(instance.config.pids_file)
    throttle([pids["supervisor"], pids["analyzer"], pids["control"], *pids["relays"]])
    done, failed = play(instance, nothing)
    nothing_held_up(instance, done, failed)


@pytest.fixture
def hollow(tmp_path):
    """An ext4 larger than what is under it: once ``full`` is there, each write to new blocks is an I/O error."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("mkfs.ext4", "losetup"))):
        pytest.skip("needs root, mkfs.ext4")
    below, place = tmp_path / "below", tmp_path / "disk"
    below.mkdir()
    place.mkdir()
    if not tool("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(below)):
        pytest.skip("no mounts here")
    image = below / "image"
    with image.open("wb") as file:
        file.truncate(64 << 20)
    made = tool("mkfs.ext4", "-q", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard", str(image))
    if not made or not tool("mount", "-o", "loop,errors=continue", str(image), str(place)):
        tool("umount", str(below))
        pytest.skip("no loop mounts here")
    yield place, below
    tool("umount", "-l", str(place))
    tool("umount", "-l", str(below))


def test_a_device_that_answers_with_io_errors_holds_no_request_and_the_next_start_records_the_rest(
    hollow, memory, upstream
):
    disk, below = hollow
    state = disk / "state"
    state.mkdir(mode=0o700)
    config = Config(
        state=str(state),
        spool=SpoolSettings(dir=str(memory)),
        listen=f"127.0.0.1:{free_port()}",
        control=f"127.0.0.1:{free_port()}",
        routes={"/": {"url": f"http://127.0.0.1:{upstream}"}},
    )

    async def fail():
        await asyncio.sleep(0.3)
        os.sync()
        with (below / "full").open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                pass

    with Instance.start(config) as one:
        assert one.wait_analyzer()
        done, failed = play(one, fail, each=100)
        assert not failed
        code = one.stop()
    (below / "full").unlink()
    assert tool("umount", str(disk))
    subprocess.run(["fsck.ext4", "-fy", str(below / "image")], capture_output=True, check=False)
    assert tool("mount", "-o", "loop", str(below / "image"), str(disk))
    with Instance.start(config) as again:
        assert again.wait_analyzer()
        assert again.stop() == 0
    count = Counter(r["call"]["id"] for r in one.records() if r["kind"] == "action")
    assert set(count.values()) == {1}
    assert set(count) == {f"call_{n}" for n in done}, code


def abort(place):
    """What ext4 does when the device under it fails: the filesystem is read-only at once, whoever has files open."""
    return tool("mount", "-o", "remount,abort", str(place))


def test_a_filesystem_that_becomes_read_only_under_the_log_holds_no_request_and_the_next_start_records_the_rest(
    instance, disk, tmp_path
):
    async def protect():
        await asyncio.sleep(0.3)
        assert abort(disk)

    done, failed = play(instance, protect)
    assert not failed
    later, failed = play(instance, nothing, each=20, first=100)
    assert not failed
    assert instance.stop() == 4
    assert tool("umount", str(disk))
    assert tool("mount", "-o", "loop", str(tmp_path / "image"), str(disk))
    with Instance.start(instance.config) as again:
        assert again.wait_analyzer()
        assert again.stop() == 0
    count = Counter(r["call"]["id"] for r in instance.records() if r["kind"] == "action")
    assert set(count) == {f"call_{n}" for n in (*done, *later)}
    assert set(count.values()) == {1}


async def nothing():
    pass


@pytest.mark.parametrize("act", ["read-only", "slow"])
def test_a_spool_on_a_disk_that_fails_costs_captures_and_no_request(disk, upstream, tmp_path, act):
    """Where no memory-backed filesystem exists. A frozen disk holds the tick until it thaws; nothing fails."""
    (disk / "state").mkdir(mode=0o700)
    config = Config(
        state=str(tmp_path / "state"),
        spool=SpoolSettings(dir=str(disk / "state" / "spool")),
        listen=f"127.0.0.1:{free_port()}",
        control=f"127.0.0.1:{free_port()}",
        routes={"/": {"url": f"http://127.0.0.1:{upstream}"}},
    )
    (tmp_path / "state").mkdir(mode=0o700)

    async def during():
        await asyncio.sleep(0.3)
        if act == "read-only":
            assert abort(disk)
            return
        for _ in range(4):
            assert tool("fsfreeze", "-f", str(disk))
            await asyncio.sleep(0.25)
            assert tool("fsfreeze", "-u", str(disk))

    with Instance.start(config) as one:
        assert one.wait_analyzer()
        done, failed = play(one, during)
        assert not failed
        assert len(done) == 240
        if act == "slow":
            assert one.stop() == 0
            count = Counter(r["call"]["id"] for r in one.records() if r["kind"] == "action")
            assert count == Counter(f"call_{n}" for n in done)
