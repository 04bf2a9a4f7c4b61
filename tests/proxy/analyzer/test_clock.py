"""A wall clock that steps between a call and its result changes neither how long the call took nor who is idle."""

import pytest

from proxy.analyzer.judge import NoJudge

HOUR_NS = 3600 * 10**9


class Listening(NoJudge):
    def __init__(self):
        super().__init__()
        self.durations = []

    def judge_result(self, subject, facts):
        self.durations.append(subject.fields["result.duration_ms"])
        return ()


def asked(wire, number, call_id, step_ns):
    history = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": call_id, "name": "Bash", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call_id, "content": "done"}]},
    ]
    meta = {"wall_ns": 10**18 + 1_000_000 * number + step_ns}
    return wire.exchange(number, {"model": "m", "messages": history}, wire.tool("Bash", {}, "c2"), meta=meta)


@pytest.mark.parametrize("step_ns", [0, HOUR_NS, -HOUR_NS])
def test_a_calls_duration_is_the_monotonic_clocks(bench, wire, step_ns):
    judge = bench.desk.judge = Listening()
    bench.feed(wire.exchange(1, {"model": "m", "messages": []}, wire.tool("Bash", {"command": "ls"}, "c1")))
    bench.feed(asked(wire, 11, "c1", step_ns))
    assert judge.durations == [pytest.approx(10, abs=0.1)]


@pytest.mark.parametrize("step_s", [3600.0, -3600.0])
def test_a_step_makes_nobody_idle_and_keeps_nobody_busy(bench, wire, step_s):
    bench.feed(wire.exchange(1, {"model": "m", "messages": []}, wire.tool("Bash", {"command": "ls"}, "c1")))
    now = 10**9 + step_s + 60
    bench.analyzer.clock_stepped(step_s, now)
    bench.analyzer.end_idle(now)
    assert len(bench.desk.book.sessions) == 1
    bench.analyzer.end_idle(now + bench.config.session_idle_s)
    assert not bench.desk.book.sessions
