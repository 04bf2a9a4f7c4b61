"""A hook's sight joins the call the model's leg showed; what only a hook saw is an action of its own."""

import time

import pytest

from proxy.analyzer.messages import on_hook
from proxy.hooks.claude_code import HOOK


def hook(name, **more):
    body = {"session_id": "s-1", "cwd": "/home/dev/shop", "hook_event_name": name, "tool_name": "Bash"}
    return body | {"tool_input": {"command": "ls"}, "tool_use_id": "toolu_0000000001"} | more


ASK = {"model": "m", "max_tokens": 9, "stream": True, "tools": [], "messages": [{"role": "user", "content": "x"}]}


def test_the_hooks_sight_of_a_recorded_call_is_a_sighting(bench, wire):
    bench.feed(wire.exchange(1, ASK, wire.tool("Bash", {"command": "ls"}, "toolu_0000000001")))
    bench.desk.book.sessions["s-1"].calls.latest("toolu_0000000001").at = time.time()
    on_hook(bench.analyzer, 0, "claude-code", hook("PreToolUse"))
    on_hook(bench.analyzer, 100, "claude-code", hook("PostToolUseFailure", error="exit 3"))
    (action,), (sighting,), (outcome,) = bench.log.of("action"), bench.log.of("sighting"), bench.log.of("outcome")
    assert sighting["action"] == outcome["action"] == action["id"]
    assert (sighting["leg"], sighting["strength"]) == ("hook", "strong")
    assert (outcome["outcome"], outcome["reported_by"]) == ("error", "hook")


def test_a_call_only_the_hook_saw_is_an_action_with_the_hooks_directory(bench):
    on_hook(bench.analyzer, 0, "claude-code", hook("PreToolUse"))
    (action,) = bench.log.of("action")
    assert (action["call"]["observed_at"], action["call"]["asserted_by"]) == ("hook", "hook")
    assert action["session"]["cwd"] == {"value": "/home/dev/shop", "source": "hook"}


def test_the_end_of_the_session_is_reported(bench):
    on_hook(bench.analyzer, 0, "claude-code", hook("PreToolUse"))
    on_hook(bench.analyzer, 9, "claude-code", hook("PreToolUse", tool_use_id="toolu_2", tool_input={"command": "pwd"}))
    on_hook(bench.analyzer, 20, "claude-code", hook("SessionEnd"))
    assert [r["event"] for r in bench.log.of("session")] == ["start", "end"]


STRANGE = [
    {},
    {"hook_event_name": 3},
    {"hook_event_name": "PreToolUse"},
    {"hook_event_name": "PreToolUse", "tool_name": "x"},
]


@pytest.mark.parametrize("body", STRANGE)
def test_a_hook_of_another_shape_is_read_as_far_as_it_goes(body):
    assert len(HOOK.read(body).events) <= 1


def test_a_client_without_a_reader_changes_nothing(bench):
    on_hook(bench.analyzer, 0, "unheard-of", hook("PreToolUse"))
    assert bench.log.records == []
