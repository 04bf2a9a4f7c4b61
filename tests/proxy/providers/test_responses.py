"""OpenAI Responses: what golden streams do not have."""

from __future__ import annotations

import pytest

from classifiers.call import Advertised, ApprovalState, ExecutedBy, Outcome
from proxy.assembly import ExchangeAssembler
from proxy.exchange import Exchange, Head, Side
from proxy.wire import Frame
from tests.proxy.providers.streams import (
    added,
    brief,
    calls,
    completed,
    created,
    done,
    exchange,
    facts,
    grows,
    history,
    item,
    offered,
    responses,
    results,
    sse,
)


def whole(*items, request=None, **more):
    body = {"id": "r", "object": "response", "status": "completed", "output": list(items)}
    return exchange(body, request or {"input": "x"}, target="/v1/responses", **more)


@pytest.mark.parametrize("name", ["x_keyword_search", "x_thread_fetch"])
def test_a_search_the_provider_shows_as_a_custom_call_is_its_own(name):
    (found,) = calls(whole({"type": "custom_tool_call", "id": "c", "call_id": "k", "name": name, "input": '{"q":1}'}))
    assert (found.executed_by, found.advertised) == (ExecutedBy.PROVIDER, Advertised.NOT_NEEDED)


def test_tools_in_a_namespace_and_tools_a_search_loaded_are_on_offer():
    tools = [
        {"type": "namespace", "name": "bank", "tools": [{"type": "function", "name": "rate"}]},
        {"type": "web_search_preview"},
    ]
    loaded = {"type": "tool_search_output", "call_id": "s", "tools": [{"type": "function", "name": "late"}]}
    events = whole(item(name="late"), item("fc_2", "call_2", "rate"), request={"input": [loaded], "tools": tools})
    assert [d.name for d in offered(events).definitions] == ["rate", "web_search", "late"]
    assert [c.advertised for c in calls(events)] == [Advertised.YES, Advertised.YES]


def test_a_request_that_only_continues_says_nothing_of_tools():
    request = {"previous_response_id": "r0", "input": [{"type": "function_call_output", "call_id": "c0", "output": ""}]}
    events = whole(item(), request=request)
    assert facts(events)["previous_response_id"] == "r0"
    assert calls(events)[0].advertised is Advertised.UNKNOWN
    assert [(r.id, r.outcome) for r in results(events)] == [("c0", Outcome.ANSWERED_EMPTY)]


def test_history_of_every_item_type_creates_nothing():
    items = [item(), {"type": "local_shell_call", "call_id": "l", "action": {}}, {"type": "web_search_call", "id": "w"}]
    events = whole(request={"input": [{"role": "user", "content": "x"}, *items]})
    assert (calls(events), history(events).call_ids) == ([], ("call_1", "l", "w"))
    assert len(history(events).prefix_hashes) == 4


@pytest.mark.parametrize(("approve", "state"), [(True, ApprovalState.APPROVED), (False, ApprovalState.REJECTED)])
def test_an_approval_answer_is_a_decision_and_only_a_refusal_is_final(approve, state):
    answer = {"type": "mcp_approval_response", "approval_request_id": "m", "approve": approve}
    (found,) = results(whole(request={"input": [answer]}))
    assert (found.id, found.approval.state, found.final) == ("m", state, not approve)


def test_a_resumed_stream_without_its_beginning_still_has_its_calls():
    events = exchange_get(grows("fc_1", '"x":1}'), done(item(args='{"x":1}')), completed(item(args='{"x":1}')))
    assert brief(events) == [("call_1", "run", {"x": 1})]


def test_a_call_cut_off_in_one_stream_comes_whole_in_the_resumed_one():
    shared = {}
    broken = responses(created("r"), done(item("fc_0", "call_0")), added(item()), grows("fc_1", '{"x'), shared=shared)
    assert brief(broken) == [("call_0", "run", {}), ("call_1", "run…", '{"x')]
    both = (item("fc_0", "call_0"), item(args='{"x":1}'))
    resumed = exchange_get(done(both[1], 1), completed(*both, id_="r"), shared=shared, id_="later")
    assert brief(resumed) == [("call_1", "run", {"x": 1})]


def exchange_get(*events, **more):
    target = "/v1/responses/r?stream=true&starting_after=4"
    return exchange(sse(*events, named=True), target=target, method="GET", **more)


@pytest.mark.parametrize("status", ["failed", "incomplete", "cancelled"])
def test_what_is_open_when_a_response_ends_badly_is_incomplete(status):
    events = responses(created(), added(item()), grows("fc_1", '{"x'), completed(status=status))
    assert brief(events) == [("call_1", "run…", '{"x')]


def test_a_queued_background_response_has_no_calls_yet():
    body = {"id": "r", "object": "response", "status": "queued", "output": [item()]}
    assert calls(exchange(body, {"input": "x"}, target="/v1/responses")) == []


def socket(*frames):
    assembler = ExchangeAssembler(Exchange("x", Head("GET", "/v1/responses")), {})
    assembler.request_end()
    assembler.response_head(Head(status=101, headers=(("upgrade", "websocket"),)))
    events = [e for side, data in frames for e in assembler.frames([Frame(data, side=side)])]
    return events + assembler.response_end(), assembler


def test_outputs_sent_down_a_socket_are_results():
    ask = {"type": "response.create", "model": "m", "input": [{"role": "user", "content": "x"}], "tools": []}
    more = {"type": "response.append", "input": [{"type": "function_call_output", "call_id": "call_1", "output": "y"}]}
    events, assembler = socket(
        (Side.REQUEST, ask), (Side.RESPONSE, created()), (Side.RESPONSE, done(item())), (Side.REQUEST, more)
    )
    assert assembler.api == "openai-responses-ws"
    assert (brief(events), [r.id for r in results(events)]) == ([("call_1", "run", {})], ["call_1"])


def test_a_socket_that_breaks_leaves_an_incomplete_call():
    ask = {"type": "response.create", "model": "m", "input": "x"}
    events, _ = socket((Side.REQUEST, ask), (Side.RESPONSE, created()), (Side.RESPONSE, added(item())))
    assert [c.complete for c in calls(events)] == [False]
