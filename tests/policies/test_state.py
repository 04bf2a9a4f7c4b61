"""What is remembered between actions: counts, signals, sequences and rates; bounded, and whole after a restart."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from classifiers.effects import Action, Effect, Surface
from policies.evaluate import Compiled
from policies.inline import subject_of
from policies.source import check_text
from policies.state import SessionState
from policies.verdict import Result, Subject

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def subject(*effects, after_s=0.0, **fields):
    action = Action(Surface.SHELL, tuple(map(Effect.parse, effects)))
    return Subject(action, {"session.id": "s", "call.name": "Bash", **fields}, NOW + timedelta(seconds=after_s))


def test_counts_include_this_action_and_belong_to_its_session():
    state = SessionState()
    state.observe(subject("delete filesystem:/a", "read filesystem:/b", "send network:x.example:443"))
    seen = state.observe(subject("delete filesystem:/c", "receive network:X.example")).fields
    assert {k.rpartition(".")[2]: v for k, v in seen.items() if k.startswith("session.counts.")} == {
        "calls": 2,
        "effects": 5,
        "reads": 2,
        "creates": 0,
        "modifies": 0,
        "deletes": 2,
        "executes": 0,
        "sends": 1,
        "hosts": 1,
    }
    assert state.observe(subject(**{"session.id": "t"})).fields["session.counts.calls"] == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"session.id": None},
        {"session.strength": "weak"},
        {"call.complete": False},
        {"call.purpose": "structured_output"},
    ],
)
def test_what_is_not_counted_stays_unknown(fields):
    state = SessionState()
    assert "session.counts.calls" not in state.observe(subject("delete filesystem:/a", **fields)).fields
    assert not state.sessions


def test_what_the_caller_knows_wins():
    assert SessionState().observe(subject(**{"session.counts.deletes": 70})).fields["session.counts.deletes"] == 70


def signals(state, given):
    seen = state.observe(given).fields
    return {k.rpartition(".")[2] for k, v in seen.items() if k.startswith("session.signals.") and v}


def test_signals_of_a_task_that_changes():
    state = SessionState()
    assert signals(state, subject("read filesystem:/home/dev/shop/a.py")) == set()
    assert signals(state, subject("modify filesystem:/home/dev/shop/a.py")) == {"read_to_write"}
    assert signals(state, subject("modify filesystem:/home/dev/shop/src/b.py")) == set()
    assert signals(state, subject("modify filesystem:/home/dev/shop/b.sql")) == {"file_type_shift"}
    assert signals(state, subject("modify filesystem:/srv/app/x.py")) == {"dir_change"}
    assert signals(state, subject("read filesystem:/srv", after_s=700)) == {"time_gap"}


def test_sensitivity_escalates_once_per_step_up():
    state = SessionState()
    steps = ["env_secret", "env_secret", "credential", "env_secret", "private_key"]
    seen = [state.observe(subject(f"read filesystem:/x sensitivity={s}")).fields["data.escalates"] for s in steps]
    assert seen == [True, False, True, False, False]


def test_the_same_call_again_is_counted_until_another_comes():
    state = SessionState()
    calls = ["read filesystem:/a"] * 3 + ["read filesystem:/b", "read filesystem:/a"]
    assert [state.observe(subject(c)).fields["call.same_arguments"] for c in calls] == [1, 2, 3, 1, 1]


def test_memory_is_bounded_and_says_what_it_forgot():
    state = SessionState(max_sessions=3, max_tracks=2)
    for i in range(10):
        state.observe(subject(**{"session.id": f"s{i}"}))
        state.track("p", "r", str(i))["x"] = i
    assert list(state.sessions) == ["s7", "s8", "s9"]
    assert len(state.tracks) == 2
    assert state.evictions == 7 + 8


RULES = """policy: 1
id: acme.x
rules:
  - {id: a.read, match: {effects: [{domain: secrets, action: read, target: "~/**"}]}}
  - {id: a.send, match: {effects: [{domain: network, action: send}]}}
  - {id: a.chain, sequence: {by: session.id, within: 60s, steps: [a.read, a.send]}}
  - {id: a.three, sequence: {by: [session.id, agent.id], within: 60s, steps: [a.read, a.send, a.read]}}
  - {id: a.many, match: {effects: [{action: delete, target: /**}]}, rate: {by: session.id, count: effects, more_than: 2, within: 60s}}
  - {id: a.hosts, match: {effects: [{domain: network}]}, rate: {by: agent.id, count: distinct(effect.target), more_than: 2, within: 60s}}
"""
COMPILED = Compiled(check_text(RULES, "p.yaml", NOW).policy)


def play(*steps, state=None, restart=False):
    """(seconds, effects, fields) steps; the outcomes of the last."""
    state = state or SessionState()
    outcomes = {}
    for seconds, effects, fields in steps:
        if restart:
            state = SessionState.restore(json.loads(json.dumps(state.snapshot())))
        view = COMPILED.view(state.observe(subject(*effects, after_s=seconds, **fields)))
        outcomes = COMPILED.outcomes(view, state)
    return {name: o.result for name, o in outcomes.items()}


READ, SEND = ["read secrets:~/.netrc"], ["send network:x.example"]
WEAK = {"session.strength": "weak"}


@pytest.mark.parametrize("restart", [False, True], ids=["running", "restarted between actions"])
@pytest.mark.parametrize(
    ("steps", "rule", "result"),
    [
        ([(0, READ, {}), (1, [], {}), (9, SEND, {})], "a.chain", Result.MATCH),
        ([(0, READ, {}), (61, SEND, {})], "a.chain", None),
        ([(0, SEND, {}), (9, READ, {})], "a.chain", None),
        ([(0, READ, {}), (9, SEND, {"session.id": "other"})], "a.chain", None),
        ([(0, [*READ, *SEND], {})], "a.chain", Result.MATCH),
        ([(0, [*SEND, *READ], {})], "a.chain", None),
        ([(0, READ, {}), (50, READ, {}), (100, SEND, {})], "a.chain", Result.MATCH),
        ([(0, ["read secrets:?"], {}), (9, SEND, {})], "a.chain", Result.UNDETERMINED),
        ([(0, READ, WEAK), (9, SEND, WEAK)], "a.chain", Result.UNDETERMINED),
        (
            [(0, READ, {"agent.id": "x"}), (1, SEND, {"agent.id": "x"}), (2, READ, {"agent.id": "x"})],
            "a.three",
            Result.MATCH,
        ),
        ([(0, READ, {}), (1, SEND, {}), (2, READ, {})], "a.three", Result.UNDETERMINED),
        ([(0, ["delete filesystem:/a"] * 2, {}), (9, ["delete filesystem:/b"], {})], "a.many", Result.MATCH),
        ([(0, ["delete filesystem:/a"] * 2, {}), (61, ["delete filesystem:/b"], {})], "a.many", None),
        ([(0, ["delete filesystem:/a"] * 2, {}), (9, ["delete filesystem:?"], {})], "a.many", Result.UNDETERMINED),
        ([(0, ["delete filesystem:/a"] * 3, WEAK)], "a.many", Result.UNDETERMINED),
        (
            [(i, [f"receive network:h{i}.example"], {"agent.id": "x", "session.id": str(i)}) for i in range(3)],
            "a.hosts",
            Result.MATCH,
        ),
        ([(i, ["receive network:h.example"], {"agent.id": "x"}) for i in range(9)], "a.hosts", None),
    ],
)
def test_sequences_and_rates(steps, rule, result, restart):
    assert play(*steps, restart=restart).get(rule) is result


def test_a_track_keeps_no_more_than_it_needs():
    state = SessionState()
    play(*((i, ["delete filesystem:/a"] * 50, {}) for i in range(30)), state=state)
    track = next(t for k, t in state.tracks.items() if "a.many" in k)
    assert len(track["d"]) == 3


def test_an_inline_steps_offset_is_record_time():
    first, second = (
        subject_of({"tool": "x", "at": "0s", "effects": []}),
        subject_of({"tool": "x", "at": "90s", "effects": []}),
    )
    assert (second.at - first.at).total_seconds() == 90
