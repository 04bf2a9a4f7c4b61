"""ACP, both versions: updates become one call, permissions become approvals, editor services are calls."""

from __future__ import annotations

import pytest

from classifiers.call import ApprovalState, ExecutedBy, Outcome, Status

from .agui_stream import calls, facts, results
from .mcp_wire import answer, ask, failure, pipe, tell

OPTIONS = [{"optionId": "yes", "kind": "allow_once"}, {"optionId": "no", "kind": "reject_once"}]


def update(step="tool_call_update", **more):
    return (
        "server",
        tell("session/update", sessionId="s1", update={"sessionUpdate": step, "toolCallId": "c1", **more}),
    )


HELLO = ("client", ask("initialize", 0, protocolVersion=1, clientCapabilities={}))
NEW = ("client", ask("session/new", 1, cwd="/srv/app", mcpServers=[]))


def test_the_first_version_shows_a_call_and_then_updates_it():
    events = pipe(
        HELLO,
        ("server", answer({"protocolVersion": 1, "agentInfo": {"name": "coder", "version": "3"}}, 0)),
        NEW,
        update("tool_call", title="Edit main.rs", kind="edit", status="pending", rawInput={"path": "main.rs"}),
        update(status="in_progress"),
        update(status="completed", rawOutput={"ok": True}),
    )
    (found,) = calls(events)
    assert (found.id, found.name, found.arguments, found.kind) == (
        "c1",
        "Edit main.rs",
        {"path": "main.rs"},
        "acp_tool_call",
    )
    assert (found.executed_by, found.extra["acp_kind"], found.thread_id) == (ExecutedBy.AGENT, "edit", "s1")
    assert [(r.id, r.outcome, r.status) for r in results(events)] == [("c1", Outcome.OK, Status.COMPLETED)]
    told = facts(events)
    assert (told["agent"], told["cwd"]) == ({"name": "coder", "version": "3"}, "/srv/app")


def test_the_second_version_only_updates_and_null_clears():
    events = pipe(
        update(title="Delete it", kind="delete", status="pending"),
        update(rawInput={"path": "/srv/a"}, locations=[{"path": "/srv/a"}]),
        update(rawInput=None, status="failed"),
    )
    first, second = calls(events)
    assert (first.arguments, first.reopened, first.extra["locations"]) == ({"path": "/srv/a"}, False, ["/srv/a"])
    assert (second.arguments, second.reopened) == (None, True)
    assert [r.outcome for r in results(events)] == [Outcome.ERROR]


def test_a_call_that_never_went_on_is_shown_at_the_end():
    (found,) = calls(pipe(update(title="Think", kind="think", status="pending")))
    assert (found.name, found.status) == ("Think", Status.PENDING)


@pytest.mark.parametrize(
    ("outcome", "state", "reported"),
    [
        ({"outcome": "selected", "optionId": "yes"}, ApprovalState.APPROVED, Outcome.UNKNOWN),
        ({"outcome": "selected", "optionId": "no"}, ApprovalState.REJECTED, Outcome.REJECTED),
        ({"outcome": "selected", "optionId": "?"}, ApprovalState.UNKNOWN, Outcome.UNKNOWN),
        ({"outcome": "cancelled"}, ApprovalState.UNKNOWN, Outcome.CANCELLED),
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_a_permission_is_required_and_then_decided_by_the_client(outcome, state, reported, version):
    call = {"toolCallId": "c1", "title": "Run tests", "kind": "execute"}
    subject = {"toolCall": call} if version == 1 else {"subject": {"type": "tool_call", "toolCall": call}}
    events = pipe(
        ("server", ask("session/request_permission", 5, sessionId="s1", options=OPTIONS, **subject)),
        ("client", answer({"outcome": outcome}, 5)),
        ("client", answer({"outcome": {"outcome": "cancelled"}}, 5)),
    )
    assert [c.name for c in calls(events)] == ["Run tests"]
    assert [(r.approval.state, r.approval.asserted_by, r.outcome, r.final) for r in results(events)] == [
        (ApprovalState.REQUIRED, "response", Outcome.UNKNOWN, False),
        (state, "request", reported, False),
    ]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("terminal/create", {"command": "cargo", "args": ["test"], "cwd": "/srv/app"}),
        ("fs/write_text_file", {"path": "/srv/app/x", "content": "y"}),
        ("fs/read_text_file", {"path": "/srv/app/x"}),
    ],
)
def test_what_the_agent_asks_of_the_editor_is_a_call_of_the_client(method, params):
    events = pipe(
        ("server", ask(method, 8, sessionId="s1", **params)),
        ("client", failure(-32000, "not allowed", 8)),
    )
    (found,) = calls(events)
    assert (found.id, found.name, found.kind, found.arguments) == (8, method, method, params)
    assert (found.executed_by, found.asserted_by) == (ExecutedBy.CLIENT, "response")
    assert [(r.id, r.outcome, r.error) for r in results(events)] == [(8, Outcome.ERROR, "not allowed")]


def test_cancelling_a_session_marks_what_was_running():
    events = pipe(update(title="Run", status="in_progress"), ("client", tell("session/cancel", sessionId="s1")))
    assert [(r.outcome, r.final) for r in results(events)] == [(Outcome.CANCELLED, False)]
