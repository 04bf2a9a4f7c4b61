"""A hook's sight joins the call the model's leg showed; what only a hook saw is an action of its own."""

import time

import pytest

from proxy.analyzer.messages import on_hook
from proxy.assembly import ExchangeAssembler
from proxy.events import CallClosed, Facts, ResultSeen
from proxy.exchange import Exchange, Head
from proxy.hooks.claude_code import HOOK
from proxy.sessions.legs import Place


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
    seen = HOOK.read(body, {})
    assert len([e for e in seen.events if not isinstance(e, Facts)]) <= 1


@pytest.mark.parametrize(
    ("name", "more", "outcome"),
    [
        ("PostToolUse", {"tool_response": {"stdout": "a"}}, "ok"),
        ("PostToolUse", {"tool_response": {"interrupted": True}}, "cancelled"),
        ("PostToolUseFailure", {"error": "exit 2"}, "error"),
        ("PermissionDenied", {}, "rejected"),
    ],
)
def test_a_hook_that_reports_an_end_shows_the_call_too_and_says_how_it_went(bench, name, more, outcome):
    """PostToolUse is sent for uses that ran without error only: the event itself marks the outcome."""
    on_hook(bench.analyzer, 0, "claude-code", hook(name, **more))
    (action,), (end,) = bench.log.of("action"), bench.log.of("outcome")
    assert (action["call"]["kind"], action["call"]["observed_at"]) == ("function", "hook")
    assert (end["action"], end["outcome"], end["reported_by"]) == (action["id"], outcome, "hook")
    on_hook(bench.analyzer, 9, "claude-code", hook(name, **more))
    assert len(bench.log.of("action")) == 1


def test_a_hook_reads_the_same_live_and_recorded(bench):
    body = hook("PostToolUseFailure", error="exit 2", duration_ms=3)
    exchange = Exchange("x", Head("POST", "/hooks"), request_json=body)
    recorded = ExchangeAssembler(exchange, {}).request_end()
    live = HOOK.read(body, {}).events
    assert [e.call.arguments for e in live if isinstance(e, CallClosed)] == [{"command": "ls"}]
    assert [e for e in live if isinstance(e, ResultSeen)] == [e for e in recorded if isinstance(e, ResultSeen)]


def test_a_client_without_a_reader_changes_nothing(bench):
    on_hook(bench.analyzer, 0, "unheard-of", hook("PreToolUse"))
    assert bench.log.records == []


CLIENTS = [
    ("codex", {"hook_event_name": "PreToolUse", "session_id": "s-1", "tool_name": "Bash", "tool_use_id": "toolu_0000000001", "tool_input": {"command": "ls"}}),
    ("gemini-cli", {"hook_event_name": "BeforeTool", "session_id": "elsewhere", "tool_name": "exec", "tool_input": {"cmd": "ls"}}),
    ("opencode", {"event": "tool.execute.before", "session": "s-1", "tool": "exec", "call": "toolu_0000000001", "args": {"cmd": "ls"}}),
]  # fmt: skip


@pytest.mark.parametrize(("client", "body"), CLIENTS, ids=[c[0] for c in CLIENTS])
def test_other_harnesses_sights_join_by_id_or_by_tool_arguments_and_process(bench, wire, client, body):
    """Codex renames the tool; Gemini CLI tells no id and no session of the wire, but the process is the caller's."""
    bench.feed(wire.exchange(1, ASK, wire.tool("exec", {"cmd": "ls"}, "toolu_0000000001")))
    known = bench.desk.book.sessions["s-1"].calls.latest("toolu_0000000001")
    known.at = time.time()
    if client == "gemini-cli":
        key = next(k for k in bench.desk.book.legs.keys if k[0] == "args")
        bench.desk.book.legs.keys[key] = [(Place("s-1", "pid 77"), known)]
    on_hook(bench.analyzer, 0, client, body, 77)
    (action,), (sighting,) = bench.log.of("action"), bench.log.of("sighting")
    assert (sighting["action"], sighting["leg"], sighting["disagrees"]) == (action["id"], "hook", [])
    assert sighting["strength"] == ("inferred" if client == "gemini-cli" else "strong")
