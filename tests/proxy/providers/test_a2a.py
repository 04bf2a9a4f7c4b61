"""Agent to agent: the message is the call, the first final word its result."""

from __future__ import annotations

import pytest

from classifiers.call import ExecutedBy, Outcome

from .agui_stream import calls, facts, results
from .mcp_wire import answer, ask, failure, post

MESSAGE = {"messageId": "m1", "role": "user", "contextId": "ctx", "parts": [{"text": "book it"}]}


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (answer({"id": "t1", "status": {"state": "completed"}}), Outcome.OK),
        (answer({"task": {"id": "t1", "status": {"state": "TASK_STATE_FAILED"}}}), Outcome.ERROR),
        (answer({"task": {"id": "t1", "status": {"state": "TASK_STATE_REJECTED"}}}), Outcome.REJECTED),
        (answer({"message": {"role": "ROLE_AGENT", "parts": [{"text": "done"}]}}), Outcome.UNKNOWN),
        (failure(-32603, "broke"), Outcome.ERROR),
        (answer({"id": "t1", "status": {"state": "input-required"}}), None),
    ],
)
@pytest.mark.parametrize("method", ["message/send", "SendMessage"])
def test_a_message_to_another_agent_is_one_call(method, reply, outcome):
    events = post(ask(method, 1, message=MESSAGE), reply, target="/agent")
    (found,) = calls(events)
    assert (found.name, found.kind, found.executed_by, found.server) == (
        method,
        "a2a_message",
        ExecutedBy.AGENT,
        "tools.example",
    )
    assert [r.outcome for r in results(events)] == ([outcome] if outcome else [])
    assert facts(events)["session_ids"] == {"a2a.contextId": "ctx"}


def test_a_stream_of_states_ends_once():
    states = [
        {"statusUpdate": {"taskId": "t", "status": {"state": s}}}
        for s in ("TASK_STATE_WORKING", "TASK_STATE_COMPLETED")
    ]
    events = post(ask("SendStreamingMessage", 1, message=MESSAGE), *map(answer, [*states, states[-1]]), stream=True)
    assert [(r.id, r.outcome) for r in results(events)] == [(1, Outcome.OK)]


def test_the_rest_binding_has_no_method_and_is_named_by_its_path():
    (found,) = calls(post({"message": MESSAGE}, {"message": {"role": "agent", "parts": []}}, target="/v1/message:send"))
    assert (found.id, found.name) == ("m1", "message:send")
