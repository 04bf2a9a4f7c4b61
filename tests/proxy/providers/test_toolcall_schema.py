"""The ToolCall object in every status, view and envelope; one call however often it is shown."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from classifiers.call import ApprovalState, ExecutedBy, Outcome, Status
from proxy.assembly import ExchangeAssembler
from proxy.events import HistorySeen
from proxy.exchange import Exchange, Head

from .agui_stream import calls, results

STATUSES = list(Status)
PREFIX = "TOOL_EXECUTION_STATUS_"
CALL = {"id": "tc_1", "name": "restart_service", "argumentsJson": {"unit": "nginx"}}
OUTCOMES = {
    Status.COMPLETED: Outcome.OK,
    Status.FAILED: Outcome.ERROR,
    Status.CANCELLED: Outcome.CANCELLED,
    Status.TIMED_OUT: Outcome.TIMED_OUT,
}


def exchange(
    action: str,
    body: Any = None,
    reply: bytes = b"{}",
    *,
    kind: str = "application/json",
    shared=None,
    at_ns=0,
    status=200,
):
    head = Head("POST", f"/api/v1/llm/{action}", headers=(("content-type", "application/json"),))
    assembler = ExchangeAssembler(
        Exchange("x", request=head, upstream="calls.example:443", started_ns=at_ns), {} if shared is None else shared
    )
    found = assembler.request_body(b"" if body is None else json.dumps(body).encode()) + assembler.request_end()
    found += assembler.response_head(Head(status=status, headers=(("content-type", kind),)))
    return found + assembler.response_body(reply) + assembler.end()


def as_json(*envelopes: Any) -> tuple[bytes, str]:
    return json.dumps({"events": list(envelopes)}).encode(), "application/json"


def as_sse(*envelopes: Any) -> tuple[bytes, str]:
    lines = (f"event: ToolCallStartedEvent\ndata: {json.dumps(envelope)}\n\n" for envelope in envelopes)
    return "".join(lines).encode(), "text/event-stream"


def as_lines(*envelopes: Any) -> tuple[bytes, str]:
    return b"".join(json.dumps(envelope).encode() + b"\n" for envelope in envelopes), "application/x-ndjson"


ENVELOPES = [
    lambda call: {"toolCall": call},
    lambda call: {"type": "ToolCallStartedEvent", **call},
    lambda call: {"toolCallStarted": {"toolCall": call}},
    lambda call: {"message": {"role": "ROLE_ASSISTANT", "toolCalls": [call]}},
    lambda call: {"dispatches": [{"toolCall": call}]},
    lambda call: {"anything": [[{"deep": call}]]},
]


def reply_of(form: str, *calls_: dict[str, Any]) -> tuple[bytes, str]:
    wrapped = [{"toolCall": call} for call in calls_]
    return {"json": as_json, "sse": as_sse, "ndjson": as_lines}[form](*wrapped)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("form", ["json", "sse", "ndjson"])
@pytest.mark.parametrize("spelling", ["name", "number"])
def test_a_reply_shows_the_call_with_its_status(status, form, spelling):
    told = PREFIX + status if spelling == "name" else STATUSES.index(status)
    reply, kind = reply_of(form, {**CALL, "status": told})
    events = exchange("get-tool-call", {"toolCallId": "tc_1"}, reply, kind=kind)
    (found,) = calls(events)
    assert (found.id, found.name, found.arguments, found.kind) == (
        "tc_1",
        "restart_service",
        {"unit": "nginx"},
        "toolcall_schema",
    )
    assert (found.status, found.complete, found.executed_by) == (status, True, ExecutedBy.UNKNOWN)
    ended = [(r.outcome, r.final, r.status) for r in results(events)]
    assert ended == ([(OUTCOMES[status], True, status)] if status in OUTCOMES else [])


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("action", ["append-message", "rate-message", "send-message-sync"])
def test_a_request_that_shows_a_call_claims_and_creates_nothing(status, action):
    claim = {"conversationKey": "k", "message": {"toolCalls": [{**CALL, "status": PREFIX + status}]}}
    events = exchange(action, claim)
    assert calls(events) == results(events) == []
    assert [e.call_ids for e in events if isinstance(e, HistorySeen)] == [("tc_1",)]


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("form", ["json", "sse", "ndjson"])
def test_polling_creates_a_call_once_and_reports_each_change_once(status, form):
    shared: dict = {}
    seen: list[tuple[int, int]] = []
    for told in (Status.PENDING, Status.PENDING, status, status):
        reply, kind = reply_of(form, {**CALL, "status": PREFIX + told})
        events = exchange("conversation-state", {"conversationKey": "k"}, reply, kind=kind, shared=shared)
        seen.append((len(calls(events)), len(results(events))))
    assert seen == [(1, 0), (0, 0), (0, 0 if status is Status.PENDING else 1), (0, 0)]


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("style", ["camel", "snake"])
def test_any_envelope_and_either_spelling_will_do(envelope, style):
    call = {**CALL, "isClientTool": True, "clientToolDeadlineAt": "2026-11-30T08:00:00Z", "status": PREFIX + "PENDING"}
    if style == "snake":
        snake = {
            "argumentsJson": "arguments_json",
            "isClientTool": "is_client_tool",
            "clientToolDeadlineAt": "client_tool_deadline_at",
        }
        call = {snake.get(key, key): value for key, value in call.items()}
    reply, kind = as_json(envelope(call))
    (found,) = calls(exchange("unknown-endpoint", {}, reply, kind=kind))
    assert (found.executed_by, found.arguments, found.extra) == (
        ExecutedBy.CLIENT,
        {"unit": "nginx"},
        {"client_deadline": "2026-11-30T08:00:00Z"},
    )


def test_a_status_that_is_absent_is_not_reported():
    reply, kind = as_json({"toolCall": {**CALL, "parametersJsonSchema": {"type": "object"}, "description": "d"}})
    (found,) = calls(exchange("get-tool-call", {}, reply, kind=kind))
    assert found.status is None
    assert (found.definition.description, found.definition.schema) == ("d", {"type": "object"})


@pytest.mark.parametrize(
    ("told", "kept"), [(17, 17), ("TOOL_EXECUTION_STATUS_LIMBO", "TOOL_EXECUTION_STATUS_LIMBO"), (True, None)]
)
def test_an_unknown_status_stays_raw(told, kept):
    reply, kind = as_json({"toolCall": {**CALL, "status": told}})
    assert calls(exchange("get-tool-call", {}, reply, kind=kind))[0].status == kept


DEADLINE = {"requiresApprovalAt": "2026-11-30T08:05:00Z"}
DECIDED = {"approvedAt": "2026-11-30T08:01:00Z", "approvedBy": "someone"}


@pytest.mark.parametrize(
    ("fields", "state", "outcome"),
    [
        ({"status": "REQUIRES_CONFIRMATION", **DEADLINE}, ApprovalState.REQUIRED, None),
        ({"status": "PENDING", **DEADLINE}, ApprovalState.REQUIRED, None),
        ({"status": "EXECUTING", **DEADLINE, **DECIDED}, ApprovalState.APPROVED, None),
        ({"status": "COMPLETED", **DEADLINE, **DECIDED}, ApprovalState.APPROVED, Outcome.OK),
        (
            {"status": "FAILED", **DEADLINE, **DECIDED, "endReason": "approval rejected"},
            ApprovalState.REJECTED,
            Outcome.REJECTED,
        ),
        (
            {"status": "CANCELLED", **DECIDED, "endReason": "approval rejected"},
            ApprovalState.REJECTED,
            Outcome.REJECTED,
        ),
        ({"status": "TIMED_OUT", **DEADLINE, "endReason": "approval timeout"}, ApprovalState.EXPIRED, Outcome.EXPIRED),
        ({"status": "FAILED", **DEADLINE, **DECIDED, "endReason": "tool error"}, ApprovalState.UNKNOWN, Outcome.ERROR),
        ({"status": "FAILED", **DECIDED, "executedAt": "2026-11-30T08:02:00Z"}, ApprovalState.APPROVED, Outcome.ERROR),
        ({"status": "TIMED_OUT", **DEADLINE}, ApprovalState.UNKNOWN, Outcome.TIMED_OUT),
        (
            {"status": "TIMED_OUT", **DEADLINE, "approvedAt": "2026-11-30T08:06:00Z"},
            ApprovalState.LATE,
            Outcome.TIMED_OUT,
        ),
        ({"status": "PENDING"}, ApprovalState.NONE, None),
        ({**DECIDED}, ApprovalState.UNKNOWN, None),
    ],
)
def test_approvals_rejections_and_lapses_are_told_apart(fields, state, outcome):
    told = {**fields, "status": PREFIX + fields["status"]} if "status" in fields else fields
    reply, kind = as_json({"toolCall": {**CALL, **told}})
    events = exchange("get-tool-call", {}, reply, kind=kind)
    (found,) = calls(events)
    assert found.approval.state is state
    assert found.end_reason == fields.get("endReason")
    assert (found.approval.decided_at, found.approval.decided_by) == (
        fields.get("approvedAt"),
        fields.get("approvedBy"),
    )
    assert [r.outcome for r in results(events)] == ([outcome] if outcome else [])


@pytest.mark.parametrize(("told", "ms"), [("1.25s", 1250.0), ("0s", 0.0), ("-0.5s", -500.0), ("1s2", None), (3, None)])
def test_durations_are_milliseconds(told, ms):
    reply, kind = as_json(
        {"toolCall": {**CALL, "status": PREFIX + "COMPLETED", "executionDuration": told, "resultJson": {"ok": 1}}}
    )
    (found,) = results(exchange("get-tool-call", {}, reply, kind=kind))
    assert found.duration_ms == ms
    assert found.size_bytes == len('{"ok":1}')


def test_a_tool_of_a_server_is_run_by_that_server():
    reply, kind = as_json({"toolCall": {**CALL, "serverId": "srv-1"}})
    (found,) = calls(exchange("get-tool-call", {}, reply, kind=kind))
    assert (found.executed_by, found.server) == (ExecutedBy.MCP_SERVER, "srv-1")


@pytest.mark.parametrize(
    ("reply", "status", "outcome"),
    [
        ({"resultJson": {"ok": True}}, 200, Outcome.UNKNOWN),
        ({"resultJson": {}, "isError": True}, 200, Outcome.ERROR),
        ({"error": {"message": "no"}}, 400, Outcome.ERROR),
        ({"toolCall": {"id": "tc_9", "name": "write", "argumentsJson": {}, "status": 2}}, 200, Outcome.OK),
    ],
)
def test_asking_a_tool_server_directly_is_a_call_in_the_request(reply, status, outcome):
    shared: dict = {}
    body = {"serverId": "srv", "name": "write", "argumentsJson": {"path": "/srv/x"}}
    events = exchange("mcp-call-tool", body, json.dumps(reply).encode(), shared=shared, status=status)
    (found,) = calls(events)
    assert (found.id, found.name, found.executed_by, found.server, found.asserted_by) == (
        None,
        "write",
        ExecutedBy.MCP_SERVER,
        "srv",
        "request",
    )
    assert [(r.id, r.name, r.outcome) for r in results(events)] == [(None, "write", outcome)]
    again, kind = as_json(reply)
    assert calls(exchange("get-tool-call", {}, again, kind=kind, shared=shared)) == []


@pytest.mark.parametrize(("at_ns", "late"), [(0, False), (4_000_000_000 * 10**9, True)])
@pytest.mark.parametrize("action", ["submit-client-tool-results", "submit-client-tool-results-sync"])
def test_a_client_hands_in_its_results_and_lateness_is_said(at_ns, late, action):
    shared: dict = {}
    call = {**CALL, "isClientTool": True, "clientToolDeadlineAt": "2026-11-30T08:00:00Z"}
    reply, kind = as_json({"dispatch": call})
    exchange("list-pending-client-tools", {"conversationKey": "k"}, reply, kind=kind, shared=shared)
    body = {"conversationKey": "k", "results": [{"toolCallId": "tc_1", "resultJson": {"file": "a"}}]}
    (found,) = results(exchange(action, body, shared=shared, at_ns=at_ns))
    assert (found.id, found.name, found.source, found.asserted_by) == ("tc_1", "restart_service", "request", "request")
    assert found.extra.get("late", False) is late


def test_a_decision_in_a_request_is_the_callers_word():
    shared: dict = {}
    reply, kind = as_json({"toolCall": {**CALL, **DEADLINE, "status": 4}})
    exchange("list-pending-approvals", {"conversationKey": "k"}, reply, kind=kind, shared=shared)
    body = {"conversationKey": "k", "toolCallId": "tc_1", "approved": False, "approvedBy": "someone"}
    (found,) = results(exchange("decide-tool-call", body, shared=shared))
    assert (found.approval.state, found.approval.asserted_by, found.final) == (ApprovalState.REJECTED, "request", False)
    assert found.approval.deadline == DEADLINE["requiresApprovalAt"]


def test_one_id_in_two_conversations_is_two_calls():
    shared: dict = {}
    reply, kind = as_json({"toolCall": CALL})
    counts = [
        len(calls(exchange("conversation-state", {"conversationKey": k}, reply, kind=kind, shared=shared)))
        for k in "abab"
    ]
    assert counts == [1, 1, 0, 0]


def test_a_lookup_without_a_conversation_finds_the_call_and_creates_none():
    shared: dict = {}
    reply, kind = as_json({"toolCall": CALL})
    first = exchange("conversation-state", {"conversationKey": "k"}, reply, kind=kind, shared=shared)
    second = exchange("get-tool-call", {"toolCallId": "tc_1"}, reply, kind=kind, shared=shared)
    third = exchange("conversation-state", {"conversationKey": "k"}, reply, kind=kind, shared=shared)
    assert [len(calls(events)) for events in (first, second, third)] == [1, 0, 0]


def test_arguments_told_later_complete_the_call_and_changed_ones_supersede_it():
    shared: dict = {}
    bare = {"id": "tc_1", "name": "restart_service", "status": PREFIX + "PENDING", "serverId": "s"}
    told = [bare, {**bare, "argumentsJson": {"unit": "a"}}, {**bare, "argumentsJson": {"unit": "b"}}]
    found = [calls(exchange("get-tool-call", {}, as_json({"toolCall": one})[0], shared=shared)) for one in told]
    assert [(c.arguments, c.reopened, c.conflicts) for (c,) in found] == [
        (None, False, ()),
        ({"unit": "a"}, True, ()),
        ({"unit": "b"}, True, ("arguments: differ from the first sight",)),
    ]


def test_a_history_that_contradicts_what_was_reported_is_said():
    shared: dict = {}
    exchange("get-tool-call", {"conversationKey": "k"}, as_json({"toolCall": CALL})[0], shared=shared)
    claim = {"conversationKey": "k", "message": {"toolCalls": [{**CALL, "argumentsJson": {"unit": "sshd"}}]}}
    (found,) = results(exchange("append-message", claim, shared=shared))
    assert (found.id, found.final, found.asserted_by, found.extra) == (
        "tc_1",
        False,
        "request",
        {"history_disagrees": True},
    )


def test_calls_without_ids_are_told_apart_by_place():
    shared: dict = {}
    nameless = {"name": "step", "argumentsJson": {"n": 1}}
    reply, kind = as_json(
        {"messageId": "m1", "toolCalls": [nameless, nameless, {**nameless, "argumentsJson": {"n": 2}}]}
    )
    counts = [
        len(calls(exchange("conversation-state", {"conversationKey": "k"}, reply, kind=kind, shared=shared)))
        for _ in range(2)
    ]
    assert counts == [3, 0]


def test_a_calls_own_arguments_are_not_searched():
    inner = {"id": "x", "name": "y", "argumentsJson": {"a": 1}}
    reply, kind = as_json({"toolCall": {**CALL, "argumentsJson": {"copy": inner}, "resultJson": inner}})
    assert [c.id for c in calls(exchange("get-tool-call", {}, reply, kind=kind))] == ["tc_1"]


@pytest.mark.parametrize(
    "thing",
    [
        {"name": "x", "status": "TOOL_EXECUTION_STATUS_PENDING"},
        {"id": "1", "serverId": "s", "resultJson": {}},
        {"name": "x", "serverId": "s", "endReason": "stopped"},
        {"id": "1", "name": "x", "isClientTool": True, "parametersJsonSchema": {}},
    ],
)
def test_a_call_that_leaves_defaults_out_is_still_one(thing):
    """protobuf-JSON may omit an empty argument object."""
    (found,) = calls(exchange("list-something", {}, as_json({"seen": thing})[0]))
    assert (found.id, found.name, found.arguments) == (thing.get("id"), thing.get("name", ""), None)


@pytest.mark.parametrize(
    "thing",
    [
        {"name": "x"},
        {"name": "x", "description": "d", "parametersJsonSchema": {}},
        {"id": "1", "status": "TOOL_EXECUTION_STATUS_PENDING"},
        {"serverId": "s", "name": "x"},
        {"serverId": "s", "name": "x", "parametersJsonSchema": {}, "description": "a tool, not a call"},
        {"argumentsJson": {"a": 1}},
    ],
)
def test_what_only_resembles_a_call_is_none(thing):
    reply, kind = as_json({"tool": thing})
    assert calls(exchange("list-tools", {}, reply, kind=kind)) == []


def test_every_cut_of_a_stream_gives_the_same_calls():
    reply, kind = reply_of("sse", {**CALL, "argumentsJson": {"città": "☔"}, "status": 1}, {**CALL, "status": 2})
    whole = exchange("send-message", {"conversationKey": "k"}, reply, kind=kind)
    for step in (1, 2, 5):
        head = Head("POST", "/api/v1/llm/send-message")
        assembler = ExchangeAssembler(Exchange("x", request=head, upstream="calls.example:443"))
        found = assembler.request_body(b'{"conversationKey": "k"}') + assembler.request_end()
        found += assembler.response_head(Head(status=200, headers=(("content-type", kind),)))
        found += itertools.chain.from_iterable(
            assembler.response_body(reply[at : at + step]) for at in range(0, len(reply), step)
        )
        assert found + assembler.end() == whole
