"""Hook payloads: one use, one call, however many events speak of it."""

from __future__ import annotations

import pytest

from classifiers.call import ApprovalState, ExecutedBy, ObservedAt, Outcome

from .agui_stream import calls, facts, results
from .mcp_wire import post

USE = {
    "session_id": "5f0c",
    "cwd": "/srv/app",
    "permission_mode": "default",
    "tool_name": "Bash",
    "tool_input": {"command": "make clean"},
    "tool_use_id": "toolu_made_up_1",
}


def hook(event, shared=None, **more):
    return post({**USE, "hook_event_name": event, **more}, {}, target="/hooks/claude-code", shared=shared)


def test_a_use_that_is_about_to_begin_is_a_call():
    events = hook("PreToolUse")
    (found,) = calls(events)
    assert (found.id, found.name, found.arguments) == ("toolu_made_up_1", "Bash", {"command": "make clean"})
    assert (found.executed_by, found.observed_at, found.asserted_by) == (ExecutedBy.CLIENT, ObservedAt.HOOK, "hook")
    assert results(events) == []
    assert (facts(events)["cwd"], facts(events)["session_ids"]) == ("/srv/app", {"claude-code.session_id": "5f0c"})


@pytest.mark.parametrize(
    ("event", "more", "outcome"),
    [
        ("PostToolUse", {"tool_response": {"stdout": "done", "interrupted": False}, "duration_ms": 92}, Outcome.OK),
        ("PostToolUse", {"tool_response": {"interrupted": True}}, Outcome.CANCELLED),
        ("PostToolUseFailure", {"error": "exit code 2", "is_interrupt": False}, Outcome.ERROR),
        ("PostToolUseFailure", {"error": "stopped", "is_interrupt": True}, Outcome.CANCELLED),
        ("PermissionDenied", {}, Outcome.REJECTED),
    ],
)
def test_an_end_is_a_result_and_shows_the_call_only_when_nothing_did_before(event, more, outcome):
    shared: dict = {}
    first = hook(event, shared, **more)
    assert len(calls(first)) == 1
    assert [(r.outcome, r.final, r.reported_by) for r in results(first)] == [(outcome, True, "hook")]
    assert calls(hook(event, shared, **more)) == []


def test_a_begin_and_an_end_are_one_call():
    shared: dict = {}
    assert [len(calls(hook(event, shared))) for event in ("PreToolUse", "PermissionRequest", "PostToolUse")] == [
        1,
        0,
        0,
    ]


def test_asking_for_permission_is_a_sight():
    (found,) = results(hook("PermissionRequest"))
    assert (found.final, found.approval.state, found.approval.asserted_by) == (False, ApprovalState.REQUIRED, "hook")


@pytest.mark.parametrize("event", ["SessionStart", "Stop", "SomethingNew"])
def test_other_events_tell_the_session_and_no_call(event):
    events = hook(event)
    assert calls(events) == results(events) == []
    assert facts(events)["agent"]["name"] == "claude-code"


def test_a_tool_of_a_server_names_it():
    assert calls(hook("PreToolUse", tool_name="mcp__tickets__close"))[0].server == "tickets"
