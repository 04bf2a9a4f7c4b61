"""Each client's hook says what its harness did, in the client's own words; anything else says nothing."""

import pytest

from classifiers.discover import discover
from proxy.events import CallClosed, ResultSeen

READERS = {r.client: r for r in discover("proxy.hooks", "HOOK")}
CODEX = {
    "session_id": "s-1",
    "cwd": "/w",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "call_7",
}
GEMINI = {"session_id": "s-1", "cwd": "/w", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
OPENCODE = {"session": "s-1", "cwd": "/w", "tool": "bash", "args": {"command": "ls"}, "call": "call_7"}
ASKED = [
    ("codex", CODEX | {"hook_event_name": "PreToolUse"}, "Bash", "call_7"),
    ("gemini-cli", GEMINI | {"hook_event_name": "BeforeTool"}, "run_shell_command", None),
    ("opencode", OPENCODE | {"event": "tool.execute.before"}, "bash", "call_7"),
]
TOLD = [
    ("codex", CODEX | {"hook_event_name": "PostToolUse", "tool_response": ""}, "unknown"),
    ("gemini-cli", GEMINI | {"hook_event_name": "AfterTool", "tool_response": {"llmContent": "x"}}, "unknown"),
    ("gemini-cli", GEMINI | {"hook_event_name": "AfterTool", "tool_response": {"error": "no"}}, "error"),
    ("opencode", OPENCODE | {"event": "tool.execute.after", "output": "x", "exit": 3}, "error"),
    ("opencode", OPENCODE | {"event": "tool.execute.after", "output": "x", "exit": 0}, "ok"),
    ("opencode", OPENCODE | {"event": "tool.execute.after", "output": "x"}, "unknown"),
]


@pytest.mark.parametrize(("client", "body", "name", "use"), ASKED, ids=[a[0] for a in ASKED])
def test_a_tool_about_to_run_is_a_call(client, body, name, use):
    seen = READERS[client].read(body, {})
    (event,) = seen.events
    assert isinstance(event, CallClosed)
    assert (event.call.name, event.call.id, event.call.arguments) == (name, use, {"command": "ls"})
    assert (event.call.asserted_by, str(event.call.observed_at)) == ("hook", "hook")
    assert (seen.session, seen.facts) == ("s-1", {"cwd": "/w", "cwd_source": "hook"})


@pytest.mark.parametrize(("client", "body", "outcome"), TOLD)
def test_a_tool_that_ran_is_a_result_with_what_the_harness_knows_of_its_end(client, body, outcome):
    (event,) = READERS[client].read(body, {}).events
    assert isinstance(event, ResultSeen)
    assert (str(event.result.outcome), event.result.reported_by) == (outcome, "hook")


@pytest.mark.parametrize("client", ["codex", "gemini-cli"])
def test_the_end_of_a_session_is_told(client):
    assert READERS[client].read({"hook_event_name": "SessionEnd", "session_id": "s-1"}, {}).session_ended


@pytest.mark.parametrize("client", ["codex", "gemini-cli", "opencode"])
@pytest.mark.parametrize("body", [
    {}, {"hook_event_name": 1, "event": []}, {"hook_event_name": "PreToolUse", "tool_name": 7, "cwd": 1},
    {"hook_event_name": "BeforeTool"}, {"event": "tool.execute.before", "tool": None}, {"hook_event_name": "Stop"},
])  # fmt: skip
def test_what_is_shaped_otherwise_says_nothing(client, body):
    seen = READERS[client].read(body, {})
    assert (seen.events, seen.facts, seen.session_ended) == ([], {}, False)
