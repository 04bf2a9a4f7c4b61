"""Anthropic Messages: what golden streams do not have."""

from __future__ import annotations

import json

import pytest

from classifiers.call import ExecutedBy, Outcome
from proxy.exchange import Ending
from tests.proxy.providers.streams import (
    anthropic,
    block,
    brief,
    calls,
    exchange,
    facts,
    history,
    offered,
    piece,
    results,
    sse,
    started,
    stop,
)


def test_the_same_start_twice_is_one_message():
    events = anthropic(started(), block(0), started(), piece(0, '{"x":1}'), stop(0))
    assert brief(events) == [("t1", "run", {"x": 1})]
    assert calls(events)[0].batch == 0


def test_a_block_started_again_is_not_a_second_call():
    assert brief(anthropic(started(), block(0), block(0), piece(0, "{}"), stop(0))) == [("t1", "run", {})]


def test_another_call_on_an_open_index_cuts_the_first_off():
    events = anthropic(started(), block(0, "a"), piece(0, '{"x'), block(0, "b"), piece(0, "{}"), stop(0))
    assert brief(events) == [("a", "run…", '{"x'), ("b", "run", {})]


def test_two_messages_in_one_body_have_their_own_turns():
    end = {"type": "message_stop"}
    events = anthropic(started("m1"), block(0, "a"), stop(0), end, started("m2"), block(0, "b"), stop(0), end)
    assert [(c.id, c.batch, c.ordinal, c.parent_message) for c in calls(events)] == [
        ("a", 0, 0, "m1"),
        ("b", 1, 0, "m2"),
    ]


def test_a_stop_for_nothing_and_deltas_for_nothing_are_passed_over():
    assert calls(anthropic(started(), stop(4), piece(7, "{}"), {"type": "content_block_stop"})) == []


@pytest.mark.parametrize("ending", list(Ending))
def test_an_open_call_is_incomplete_however_the_body_ended(ending):
    events = anthropic(started(), block(0), piece(0, '{"path":"/'), ending=ending)
    assert brief(events) == [("t1", "run…", '{"path":"/')]


@pytest.mark.parametrize(
    ("kind", "content", "outcome"),
    [
        ("web_search_tool_result", [{"type": "web_search_result"}], Outcome.OK),
        ("web_search_tool_result", {"type": "web_search_tool_result_error", "error_code": "max_uses"}, Outcome.ERROR),
        ("code_execution_tool_result", {"type": "code_execution_result", "return_code": 0}, Outcome.OK),
        ("bash_code_execution_tool_result", {"type": "bash_code_execution_result", "return_code": 2}, Outcome.ERROR),
        ("mcp_tool_result", [], Outcome.UNKNOWN),
    ],
)
def test_server_results_say_by_their_type_how_it_went(kind, content, outcome):
    inner = {"type": kind, "tool_use_id": "s1", "content": content}
    event = {"type": "content_block_start", "index": 1, "content_block": inner}
    (found,) = results(anthropic(started(), event, stop(1)))
    assert (found.id, found.source, found.asserted_by, found.reported_by) == ("s1", "stream", "response", "provider")
    assert found.outcome is outcome or (outcome is Outcome.UNKNOWN and found.outcome is Outcome.ANSWERED_EMPTY)


def test_tools_declared_by_type_are_on_offer_by_name():
    tools = [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "custom", "name": "x", "input_schema": {}},
        {"type": "mcp_toolset"},
    ]
    found = offered(anthropic(started(), request={"tools": tools})).definitions
    assert [(d.name, d.annotations) for d in found] == [("bash", {"type": "bash_20250124"}), ("x", None)]


@pytest.mark.parametrize(
    ("user", "session"),
    [
        ('{"session_id":"s1","device_id":"d"}', {"metadata.user_id": "s1"}),
        ("user_abc_account_def_session_s2", {"metadata.user_id": "s2"}),
        ("somebody", None),
        ("{broken", None),
    ],
)
def test_the_session_in_the_user_id(user, session):
    assert facts(anthropic(started(), request={"metadata": {"user_id": user}})).get("session_ids") == session


def test_counting_tokens_is_not_a_turn():
    told = {"type": "tool_result", "tool_use_id": "a", "content": "x"}
    body = {"messages": [{"role": "user", "content": [told]}], "tools": [{"name": "f", "input_schema": {}}]}
    events = exchange({"input_tokens": 9}, body, target="/v1/messages/count_tokens", headers={"anthropic-version": "1"})
    assert (results(events), calls(events)) == ([], [])
    assert offered(events).definitions[0].name == "f"


def test_vertex_carries_the_same_events():
    body = sse(started(), block(0), piece(0, "{}"), stop(0), named=True)
    target = "/v1/projects/p/locations/l/publishers/anthropic/models/m:streamRawPredict"
    events = exchange(body, {"anthropic_version": "vertex-2023-10-16", "messages": [], "max_tokens": 1}, target=target)
    assert (brief(events), facts(events)["protocol"]) == ([("t1", "run", {})], "anthropic-messages")


def test_server_calls_in_the_history_are_claims_too():
    turn = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        {"type": "tool_use", "id": "t1", "name": "f"},
    ]
    events = anthropic(started(), request={"messages": [{"role": "assistant", "content": turn}]})
    assert (history(events).call_ids, calls(events), results(events)) == (("s1", "t1"), [], [])


def test_a_connector_s_call_names_its_server():
    events = anthropic(
        started(), block(0, kind="mcp_tool_use", server_name="yard"), piece(0, json.dumps({"a": 1})), stop(0)
    )
    (found,) = calls(events)
    assert (found.server, found.executed_by, found.kind) == ("yard", ExecutedBy.PROVIDER, "mcp_tool_use")
