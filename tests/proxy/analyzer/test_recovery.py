"""After a death at any moment the next life writes what is missing, once, and repeats nothing."""

import pickle
from pathlib import Path

import pytest

from proxy.analyzer.frozen import Freezer
from proxy.analyzer.snapshot import Keeper, load_snapshot, resume
from proxy.spool.events import BodyEnded, Dropped, Refused

USER = {"role": "user", "content": "go"}


class Spool:
    """A spool as a list: a checkpoint is a position, reading again starts there."""

    def __init__(self, events):
        self.events, self.at, self.released = events, 0, 0

    def checkpoint(self):
        return {"at": self.at}

    def release(self, upto):
        self.released = upto["at"]

    def read(self, bench, upto):
        while self.at < upto:
            bench.analyzer.take(self.events[self.at])
            self.at += 1


def traffic(wire):
    """Two exchanges of one session, interleaved, the second answering the first."""
    ask = {"model": "m", "max_tokens": 9, "stream": True, "tools": [], "messages": [USER]}
    use = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "toolu_000001", "name": "Bash", "input": {"command": "ls"}}],
    }
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_000001", "content": "x"}]}
    one = wire.exchange(1, ask, wire.tool("Bash", {"command": "ls"}, "toolu_000001"), cut=300)
    two = wire.exchange(
        2, {**ask, "messages": [USER, use, result]}, wire.tool("Bash", {"command": "pwd"}, "toolu_000002"), cut=200
    )
    three = wire.exchange(3, ask, wire.tool("Bash", {"command": "id"}, "toolu_000003"), headers=("User-Agent: x/1",))
    return [*one[:6], *three[:4], *one[6:], *two[:6], *three[4:], *two[6:]]


def shape(log):
    """What the records say, without what an earlier or later life may number differently."""
    return sorted(
        (r["kind"], r.get("event", ""), (r.get("call") or {}).get("id") or "", r.get("action") or "")
        for r in log.records
    )


def whole(make_bench, wire):
    bench = make_bench()
    bench.feed(traffic(wire))
    return sorted((r["kind"], (r.get("call") or {}).get("id") or "") for r in bench.log.records)


CASES = [(saved, died, now) for died in range(1, 24) for saved in sorted({0, died // 2, died}) for now in (0, 10**14)]


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_lost_or_doubled(make_bench, wire, tmp_path, case):
    """``now``: at 0 every exchange is young and read again, much later each is old and kept whole."""
    saved, died, now = case
    events = traffic(wire)
    expected = whole(make_bench, wire)
    first, spool = make_bench(), Spool(events)
    keeper = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=lambda: now))
    keeper.begin(spool.checkpoint())
    if saved:
        spool.read(first, min(saved // 2, len(events)))
        keeper.save(first.analyzer, spool, {"next_seq": len(first.log.records)})
    spool.read(first, min(saved, len(events)))
    if saved:
        keeper.save(first.analyzer, spool, {"next_seq": len(first.log.records)})
    spool.read(first, min(died, len(events)))

    state = load_snapshot(tmp_path / "snapshot")
    second = make_bench(first.log)
    again = Spool(events)
    if state is not None:
        resume(second.analyzer, state)
        again.at = state["tail"]["at"]
        assert again.at >= spool.released
    second.desk.writer.remember(r for r in first.log.records if r["seq"] >= (state or {}).get("next_seq", 0))
    again.read(second, len(events))
    found = sorted((r["kind"], (r.get("call") or {}).get("id") or "") for r in first.log.records)
    assert found == expected
    outcomes = first.log.of("outcome")
    actions = {r["id"]: r["call"]["id"] for r in first.log.of("action")}
    assert [actions[o["action"]] for o in outcomes] == ["toolu_000001"]


def test_a_file_of_another_version_is_put_aside(tmp_path):
    path = tmp_path / "snapshot"
    path.write_bytes(b"not a pickle")
    assert load_snapshot(path) is None
    assert not path.exists()


class Planted:
    """What it does when it is unpickled is seen."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def open_to_others(path):
    path.chmod(0o666)


def in_a_folder_open_to_others(path):
    path.parent.chmod(0o777)


def a_link(path):
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize("changed", [open_to_others, in_a_folder_open_to_others, a_link])
def test_a_file_others_could_have_written_is_put_aside_unread(tmp_path, changed):
    path, mark = tmp_path / "snapshot", tmp_path / "ran"
    path.write_bytes(pickle.dumps(Planted(mark)))
    path.chmod(0o600)
    changed(path)
    assert load_snapshot(path) is None
    assert not mark.exists()
    assert not path.is_symlink()
    assert path.with_suffix(".unreadable").exists()


def test_what_lies_where_the_next_snapshot_is_drafted_is_not_written_through(make_bench, tmp_path):
    bench, spool, victim = make_bench(), Spool([]), tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "snapshot.draft").symlink_to(victim)
    keeper = Keeper(tmp_path / "snapshot")
    keeper.begin(spool.checkpoint())
    assert keeper.save(bench.analyzer, spool, {})
    assert victim.read_text() == "mine"
    assert (tmp_path / "snapshot").stat().st_mode & 0o777 == 0o600
    assert load_snapshot(tmp_path / "snapshot") is not None


def large(wire, number):
    """A request that waits: 40 KiB of history."""
    long = {"role": "user", "content": "tell me " * 5_000}
    ask = {"model": "m", "max_tokens": 9, "stream": True, "tools": [], "messages": [long, USER]}
    return wire.exchange(number, ask, wire.tool("Bash", {"command": "ls"}, f"toolu_{number:06}"), cut=300)


@pytest.mark.parametrize("small", [False, True], ids=["as it came", "made small"])
def test_a_request_that_waits_for_its_answer_survives(make_bench, wire, tmp_path, small):
    events = large(wire, 1)
    asked = next(at for at, e in enumerate(events) if isinstance(e, BodyEnded)) + 1
    first, spool = make_bench(), Spool(events)
    keeper = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=lambda: 60_000_000_000))
    keeper.begin(spool.checkpoint())
    spool.read(first, asked)
    assert first.analyzer.at_rest.one() if small else True
    keeper.save(first.analyzer, spool, {"next_seq": len(first.log.records)})
    assert spool.released == asked
    second, again = make_bench(first.log), Spool(events)
    state = load_snapshot(tmp_path / "snapshot")
    resume(second.analyzer, state)
    again.at = state["tail"]["at"]
    again.read(second, len(events))
    assert [r["call"]["id"] for r in first.log.of("action")] == ["toolu_000001"]
    assert first.log.of("analysis_failed") == []


def test_segments_go_once_no_open_exchange_needs_them(make_bench, wire, tmp_path):
    bench, spool = make_bench(), Spool(traffic(wire))
    keeper = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=lambda: 0))
    keeper.begin(spool.checkpoint())
    spool.read(bench, 3)
    keeper.save(bench.analyzer, spool, {})
    assert spool.released == 0
    spool.read(bench, len(spool.events))
    keeper.save(bench.analyzer, spool, {})
    assert spool.released == len(spool.events)
    assert bench.analyzer.settled == {}


def long_stream(wire):
    ask = {"model": "m", "max_tokens": 9, "stream": True, "tools": [], "messages": [USER]}
    stream = wire.tool("Bash", {"command": "ls"}, "toolu_000009")
    return wire.exchange(9, ask, stream, cut=stream.index(b"event: content_block_stop"))


def test_a_stream_that_stays_open_is_kept_whole_and_holds_no_segment(make_bench, wire, tmp_path):
    events = [*long_stream(wire)[:6], *traffic(wire), *long_stream(wire)[6:]]
    first, spool = make_bench(), Spool(events)
    keeper = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=lambda: 60_000_000_000))
    keeper.begin(spool.checkpoint())
    spool.read(first, 6)
    keeper.save(first.analyzer, spool, {"next_seq": len(first.log.records)})
    assert spool.released == 6
    spool.read(first, 20)
    keeper.save(first.analyzer, spool, {"next_seq": len(first.log.records)})
    state = load_snapshot(tmp_path / "snapshot")
    second, again = make_bench(first.log), Spool(events)
    resume(second.analyzer, state)
    again.at = state["tail"]["at"]
    assert again.at > 6
    again.read(second, len(events))
    calls = [r["call"]["id"] for r in first.log.of("action")]
    assert sorted(calls) == ["toolu_000001", "toolu_000002", "toolu_000003", "toolu_000009"]


@pytest.mark.parametrize("died", range(6, 30))
def test_a_kept_stream_repeats_nothing_wherever_the_capture_is_read_again_from(make_bench, wire, tmp_path, died):
    events = [*long_stream(wire)[:6], *traffic(wire)[:9], *long_stream(wire)[6:], *traffic(wire)[9:]]
    first, spool = make_bench(), Spool(events)
    long = lambda: 60_000_000_000 if spool.at > 8 else 0  # noqa: E731 - becomes long in the middle
    keeper = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=long))
    keeper.begin(spool.checkpoint())
    for upto in range(1, died):
        spool.read(first, upto)
        if upto % 3 == 0:
            keeper.save(first.analyzer, spool, {"next_seq": len(first.log.records)})
    state = load_snapshot(tmp_path / "snapshot")
    second, again = make_bench(first.log), Spool(events)
    resume(second.analyzer, state)
    again.at = state["tail"]["at"]
    second.desk.writer.remember(r for r in first.log.records if r["seq"] >= state["next_seq"])
    again.read(second, len(events))
    calls = [r["call"]["id"] for r in first.log.of("action")]
    assert sorted(calls) == ["toolu_000001", "toolu_000002", "toolu_000003", "toolu_000009"]


def test_a_disk_that_refuses_the_snapshot_releases_nothing(make_bench, wire, tmp_path):
    bench, spool = make_bench(), Spool(traffic(wire))
    (tmp_path / "file").write_text("")
    keeper = Keeper(tmp_path / "file" / "snapshot")
    keeper.begin(spool.checkpoint())
    spool.read(bench, len(spool.events))
    assert keeper.save(bench.analyzer, spool, {}) is False
    assert (spool.released, keeper.error is None) == (0, False)


def test_gaps_and_refusals_beside_an_open_exchange_are_written_once(make_bench, wire, tmp_path):
    events = [
        *long_stream(wire)[:6],
        Dropped("r0-test", 77, 3, 1, 2, "spool_full"),
        Refused("r0-test", 50, 78, 400, "x"),
        *long_stream(wire)[6:],
    ]
    first, spool = make_bench(), Spool(events)
    keeper = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=lambda: 0))
    keeper.begin(spool.checkpoint(), log=0)
    spool.read(first, 8)
    keeper.save(first.analyzer, spool, {"log": len(first.log.records)})
    state = load_snapshot(tmp_path / "snapshot")
    second, again = make_bench(first.log), Spool(events)
    resume(second.analyzer, state)
    again.at = state["tail"]["at"]
    second.desk.writer.remember(r for r in first.log.records if r["seq"] >= state["log"])
    again.read(second, len(events))
    assert (len(first.log.of("gap")), len(first.log.of("refusal")), len(first.log.of("action"))) == (1, 1, 1)
    assert second.desk.metrics.total("onlooker_exchanges_gap_total") == 3


def test_what_an_earlier_life_finished_is_counted_once_though_snapshots_are_taken_before_it_is_met_again(
    make_bench, wire, tmp_path
):
    events = traffic(wire)
    first, spool = make_bench(), Spool(events)
    keeper = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=lambda: 0))
    keeper.begin(spool.checkpoint())
    ended = len(events) - 1  # the second exchange still lacks its end, the first and the third are finished
    spool.read(first, ended)
    keeper.save(first.analyzer, spool, {})

    second, again = make_bench(first.log), Spool(events)
    state = load_snapshot(tmp_path / "snapshot")
    resume(second.analyzer, state)
    again.at = state["tail"]["at"]
    later = Keeper(tmp_path / "snapshot", freezer=Freezer(clock=lambda: 0))
    later.begin(again.checkpoint(), second.analyzer)
    second.desk.writer.remember(first.log.records)
    later.save(second.analyzer, again, {})
    again.read(second, len(events))
    later.save(second.analyzer, again, {})
    assert second.desk.metrics.total("onlooker_exchanges_recorded_total") == 3
    assert second.analyzer.settled == {}
