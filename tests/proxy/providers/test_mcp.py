"""MCP in every era: the request is the call, the reply is the result, wherever it comes back."""

from __future__ import annotations

import pytest

from classifiers.call import Advertised, ExecutedBy, ObservedAt, Outcome
from proxy.events import ToolsOffered, Unread

from .agui_stream import calls, facts, results
from .mcp_wire import META, MODERN, answer, ask, call, events_body, failure, pipe, post, tell, text

SESSION = {"mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25"}
PROGRESS = tell("notifications/progress", progressToken=1, progress=1)


def test_the_call_is_known_before_the_reply_begins():
    (found,) = calls(post(call(), answer(text("ok", isError=False))))
    assert (found.name, found.id, found.arguments, found.kind) == ("delete_rows", 1, {"table": "t"}, "function")
    assert (found.executed_by, found.observed_at, found.asserted_by) == (
        ExecutedBy.MCP_SERVER,
        ObservedAt.MCP_REQUEST,
        "request",
    )
    assert found.advertised is Advertised.NOT_NEEDED


@pytest.mark.parametrize(
    ("reply", "outcome", "error"),
    [
        (answer(text("ok", isError=False)), Outcome.OK, None),
        (answer(text("no", isError=True)), Outcome.ERROR, None),
        (answer(text("well")), Outcome.UNKNOWN, None),
        (failure(-32602, "no such tool"), Outcome.ERROR, "no such tool"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_only_marks_decide_the_outcome(reply, outcome, error, stream):
    (found,) = results(post(call(), reply, stream=stream))
    assert (found.id, found.name, found.outcome, found.error) == (1, "delete_rows", outcome, error)
    assert (found.source, found.reported_by, found.final) == ("reply", "tool_server", True)


def test_progress_and_log_lines_come_before_the_result_and_priming_events_are_nothing():
    """envoy ai-gateway#2219 (an empty first event) and atryum#145 (progress held back and dropped)."""
    events = post(
        call(),
        "id: 7\r\ndata: ",
        "retry: 50",
        PROGRESS,
        tell("notifications/message", data="x"),
        answer(text("ok")),
        stream=True,
    )
    assert [r.id for r in results(events)] == [1]
    assert not any(isinstance(e, Unread) for e in events)


def test_events_without_a_name_are_read():
    """agentgateway#2167: a gateway that left out ``event: message`` hung its client; the bytes pass as they are."""
    events = post(call(), stream=True, raw=events_body(answer(text("ok")), newline="\n", names=False))
    assert [r.id for r in results(events)] == [1]


def test_a_reply_with_another_id_answers_nothing():
    assert results(post(call(ident=1), answer(text("x"), ident="1"), stream=True)) == []


@pytest.mark.parametrize("ident", [0, 7, "req-7", 2**70])
def test_ids_keep_their_json_type(ident):
    events = post(call(ident=ident), answer(text("x"), ident=ident))
    assert [c.id for c in calls(events)] == [r.id for r in results(events)] == [ident]


def test_absent_arguments_are_not_reported_and_not_made_up():
    (found,) = calls(post(ask("tools/call", name="ping"), answer(text("x"))))
    assert (found.arguments, found.arguments_text, found.arguments_valid) == (None, "", None)


def test_a_batch_of_the_old_era_is_several_calls_with_places():
    events = post([call(ident=1), call("other", ident=2)], [answer(text("a"), 1), answer(text("b", isError=True), 2)])
    assert [(c.id, c.name, c.ordinal) for c in calls(events)] == [(1, "delete_rows", 0), (2, "other", 1)]
    assert [(r.id, r.outcome) for r in results(events)] == [(1, Outcome.UNKNOWN), (2, Outcome.ERROR)]


def test_a_session_remembers_its_server_and_its_tools_with_their_hints():
    shared: dict = {}
    hello = ask("initialize", protocolVersion="2025-11-25", clientInfo={"name": "cli", "version": "2"}, capabilities={})
    info = answer({"protocolVersion": "2025-11-25", "serverInfo": {"name": "warehouse"}})
    started = facts(post(hello, info, shared=shared, reply_headers={"mcp-session-id": "s-1"}))
    assert (started["mcp_session"], started["agent"]) == ("s-1", {"name": "cli", "version": "2"})
    tool = {
        "name": "delete_rows",
        "description": "d",
        "inputSchema": {"type": "object"},
        "annotations": {"destructiveHint": False},
    }
    listed = post(ask("tools/list"), answer({"tools": [tool]}), shared=shared, headers=SESSION)
    (offer,) = [e for e in listed if isinstance(e, ToolsOffered)]
    assert offer.definitions[0].annotations == {"destructiveHint": False}
    (found,) = calls(post(call(ident=3), answer(text("x"), 3), shared=shared, headers=SESSION))
    assert found.server == "warehouse"
    assert found.definition.annotations == {"destructiveHint": False}
    assert found.definition.schema_hash == offer.definitions[0].schema_hash


def test_two_sessions_do_not_share_a_server():
    shared: dict = {}
    info = answer({"protocolVersion": "x", "serverInfo": {"name": "one"}})
    post(ask("initialize", protocolVersion="x"), info, shared=shared, reply_headers={"mcp-session-id": "s-1"})
    (found,) = calls(post(call(), answer(text("x")), shared=shared, headers={"mcp-session-id": "s-2"}))
    assert found.server is None


def test_a_stateless_reply_names_the_server_and_the_next_call_has_it():
    shared: dict = {}
    done = answer(text("x", _meta={"io.modelcontextprotocol/serverInfo": {"name": "warehouse"}}, resultType="complete"))
    events = post(call(_meta=META), done, shared=shared, headers=MODERN)
    assert results(events)[0].extra == {"server": "warehouse"}
    assert facts(events)["agent"]["name"] == "cli"
    assert calls(post(call(_meta=META), done, shared=shared, headers=MODERN))[0].server == "warehouse"


def test_the_route_names_a_server_that_does_not_name_itself():
    assert calls(post(call(), answer(text("x")), route="/tickets/"))[0].server == "tickets"


@pytest.mark.parametrize(
    ("header", "conflicts"),
    [
        ("delete_rows", ()),
        ("=?base64?ZGVsZXRlX3Jvd3M=?=", ()),
        ("=?base64?***?=", ()),
        ("list_rows", ("name: delete_rows | list_rows",)),
    ],
)
def test_the_name_header_is_compared_with_the_body(header, conflicts):
    headers = {**MODERN, "mcp-method": "tools/call", "mcp-name": header}
    assert calls(post(call(), answer(text("x")), headers=headers))[0].conflicts == conflicts


def test_a_call_whose_body_cannot_be_read_keeps_the_name_of_its_header():
    headers = {**MODERN, "mcp-method": "tools/call", "mcp-name": "=?base64?bmHDr3Zl?="}
    (found,) = calls(post(b"{broken", answer(text("x")), headers=headers))
    assert (found.name, found.complete, found.arguments_valid, found.extra) == (
        "naïve",
        False,
        None,
        {"read_from": "headers"},
    )


def test_several_steps_are_one_call_and_what_they_ask_is_a_question():
    shared: dict = {}
    wanted = {"ok": {"method": "elicitation/create", "params": {"message": "Really?", "requestedSchema": {}}}}
    pause = answer({"resultType": "input_required", "inputRequests": wanted, "requestState": "opaque-1"}, 4)
    first = post(call(ident=4), pause, shared=shared, headers=MODERN)
    assert [(c.id, c.kind, c.purpose) for c in calls(first)] == [
        (4, "function", "action"),
        ("4:ok", "elicitation/create", "question"),
    ]
    assert [r.final for r in results(first)] == [False]
    retry = call(ident=5, requestState="opaque-1", inputResponses={"ok": {"action": "decline"}})
    second = post(retry, answer(text("stopped", isError=False), 5), shared=shared, headers=MODERN)
    assert calls(second) == []
    assert [(r.id, r.outcome, r.source) for r in results(second)] == [
        ("4:ok", Outcome.REJECTED, "request"),
        (4, Outcome.OK, "reply"),
    ]


def test_a_retry_without_a_state_is_known_by_what_it_answers():
    shared: dict = {}
    wanted = {"name": {"method": "elicitation/create", "params": {}}}
    post(
        call(ident=4),
        answer({"resultType": "input_required", "inputRequests": wanted}, 4),
        shared=shared,
        headers=MODERN,
    )
    again = call(ident=9, inputResponses={"name": {"action": "accept", "content": {}}})
    events = post(again, answer(text("x"), 9), shared=shared, headers=MODERN)
    assert [r.id for r in results(events)] == ["4:name", 4]


def test_a_retry_of_a_call_nobody_saw_is_a_call_and_says_it_continues():
    events = post(call(requestState="z", inputResponses={}), answer(text("x")), headers=MODERN)
    assert [c.extra for c in calls(events)] == [{"continuation": True}]


@pytest.mark.parametrize(
    "handle",
    [{"task": {"taskId": "k1", "status": "working"}}, {"resultType": "task", "taskId": "k1", "status": "working"}],
)
def test_a_task_is_the_same_call_until_its_result_is_fetched(handle):
    shared: dict = {}
    begun = post(call(ident=2, task={"ttl": 1}), answer(handle, 2), shared=shared, headers=SESSION)
    assert [(r.final, r.extra["task"]) for r in results(begun)] == [(False, "k1")]
    polled = post(
        ask("tasks/get", 3, taskId="k1"),
        answer({"taskId": "k1", "status": "completed"}, 3),
        shared=shared,
        headers=SESSION,
    )
    assert [(r.id, r.final) for r in results(polled)] == [(2, False)]
    fetched = post(
        ask("tasks/result", 4, taskId="k1"), answer(text("done", isError=False), 4), shared=shared, headers=SESSION
    )
    assert [(r.id, r.final, r.outcome) for r in results(fetched)] == [(2, True, Outcome.OK)]
    again = post(ask("tasks/result", 5, taskId="k1"), answer(text("done"), 5), shared=shared, headers=SESSION)
    assert results(again) == []


@pytest.mark.parametrize(("status", "outcome"), [("failed", Outcome.ERROR), ("cancelled", Outcome.CANCELLED)])
def test_a_task_that_ends_badly_is_final(status, outcome):
    shared: dict = {}
    post(call(ident=2), answer({"task": {"taskId": "k1", "status": "working"}}, 2), shared=shared, headers=SESSION)
    ended = post(
        ask("tasks/get", 3, taskId="k1"), answer({"taskId": "k1", "status": status}, 3), shared=shared, headers=SESSION
    )
    assert [(r.id, r.final, r.outcome) for r in results(ended)] == [(2, True, outcome)]


def test_a_completed_task_may_carry_its_result_inline():
    shared: dict = {}
    post(
        call(ident=2),
        answer({"resultType": "task", "taskId": "k1", "status": "working"}, 2),
        shared=shared,
        headers=MODERN,
    )
    done = {"taskId": "k1", "status": "completed", "result": text("x", isError=True)}
    ended = post(ask("tasks/get", 3, taskId="k1"), answer(done, 3), shared=shared, headers=MODERN)
    assert [(r.id, r.final, r.outcome) for r in results(ended)] == [(2, True, Outcome.ERROR)]


def test_the_older_transport_joins_a_post_with_the_event_stream():
    shared: dict = {}
    sent = post(call(ident=6), status=202, raw=b"Accepted", shared=shared, target="/messages?session_id=abc")
    assert [c.id for c in calls(sent)] == [6]
    stream = post(
        None,
        "event: endpoint\r\ndata: /messages?session_id=abc",
        answer(text("x", isError=False), 6),
        method="GET",
        target="/sse",
        stream=True,
        shared=shared,
    )
    assert [(r.id, r.name, r.outcome) for r in results(stream)] == [(6, "delete_rows", Outcome.OK)]
    assert facts(stream)["mcp_session"] == "abc"


def test_an_answer_that_is_read_before_its_request_waits_for_it():
    """Two relays, two spools: which connection is read first is chance."""
    shared: dict = {}
    assert (
        results(
            post(None, answer(text("x", isError=False), 6), method="GET", stream=True, shared=shared, headers=SESSION)
        )
        == []
    )
    late = post(call(ident=6), status=202, raw=b"", shared=shared, headers=SESSION)
    assert [c.id for c in calls(late)] == [6]
    assert [(r.id, r.name, r.outcome) for r in results(late)] == [(6, "delete_rows", Outcome.OK)]


def test_a_resumed_stream_brings_a_result_once():
    shared: dict = {}
    post(call(ident=6), "id: 1\r\ndata: ", stream=True, shared=shared, headers=SESSION)
    for expected in ([6], []):
        resumed = post(None, answer(text("x"), 6), method="GET", stream=True, shared=shared, headers=SESSION)
        assert [r.id for r in results(resumed)] == expected


def test_the_server_asks_for_a_model_or_a_person_inside_the_reply():
    shared: dict = {}
    sampling, question = ask("sampling/createMessage", 90, messages=[]), ask("elicitation/create", 91, message="Sure?")
    events = post(call(), sampling, question, answer(text("x")), stream=True, shared=shared, headers=SESSION)
    assert [(c.id, c.kind, c.purpose, c.executed_by, c.asserted_by) for c in calls(events)][1:] == [
        (90, "sampling/createMessage", "context", ExecutedBy.CLIENT, "response"),
        (91, "elicitation/create", "question", ExecutedBy.CLIENT, "response"),
    ]
    said = post(answer({"action": "cancel"}, 91), status=202, raw=b"", shared=shared, headers=SESSION)
    assert [(r.id, r.outcome, r.reported_by) for r in results(said)] == [(91, Outcome.CANCELLED, "harness")]


@pytest.mark.parametrize(
    ("method", "params"), [("resources/read", {"uri": "file:///srv/a"}), ("prompts/get", {"name": "p"})]
)
def test_reads_of_context_are_kinds_of_their_own(method, params):
    events = post(ask(method, 1, **params, _meta={}), answer({"contents": []}))
    (found,) = calls(events)
    assert (found.kind, found.name, found.arguments, found.purpose) == (method, method, params, "context")
    assert [r.id for r in results(events)] == [1]


def test_a_cancellation_is_a_sight_and_not_the_result():
    shared: dict = {}
    post(call(ident=6), "id: 1\r\ndata: ", stream=True, shared=shared, headers=SESSION)
    told = tell("notifications/cancelled", requestId=6, reason="user pressed stop")
    (found,) = results(post(told, status=202, raw=b"", shared=shared, headers=SESSION))
    assert (found.id, found.outcome, found.final, found.end_reason) == (
        6,
        Outcome.CANCELLED,
        False,
        "user pressed stop",
    )


def test_trace_context_and_the_models_call_id_are_kept():
    meta = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "claudecode/toolUseId": "toolu_x"}
    events = post(call(_meta=meta), answer(text("x")))
    assert facts(events)["traceparent"] == meta["traceparent"]
    assert calls(events)[0].extra == {"tool_use_id": "toolu_x"}


def test_pipes_speak_both_ways_and_name_the_server():
    hello = ask("initialize", 0, protocolVersion="2025-11-25", clientInfo={"name": "cli"}, capabilities={})
    events = pipe(
        ("client", hello),
        ("server", answer({"protocolVersion": "2025-11-25", "serverInfo": {"name": "files"}}, 0)),
        ("client", call(ident=1)),
        ("client", call("slow", ident=2)),
        ("server", ask("elicitation/create", 1, message="Sure?")),
        ("server", answer(text("b", isError=True), 2)),
        ("client", answer({"action": "accept"}, 1)),
        ("server", answer(text("a", isError=False), 1)),
    )
    assert [(c.id, c.name, c.server) for c in calls(events)] == [
        (1, "delete_rows", "files"),
        (2, "slow", "files"),
        (1, "elicitation/create", "files"),
    ]
    assert [(r.id, r.name, r.outcome) for r in results(events)] == [
        (2, "slow", Outcome.ERROR),
        (1, "elicitation/create", Outcome.OK),
        (1, "delete_rows", Outcome.OK),
    ]


def test_every_cut_of_a_streamed_reply_gives_the_same_events():
    replies = ("id: 1\r\ndata: ", PROGRESS, answer(text("päivää ✓", isError=False)))
    whole = post(call(), *replies, stream=True)
    for step in (1, 2, 3, 11):
        assert post(call(), *replies, stream=True, step=step) == whole
