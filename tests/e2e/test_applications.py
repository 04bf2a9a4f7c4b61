"""In front of an application: AG-UI events and the vendor's ToolCall objects."""

import json
import uuid


def agui(live, upstream, bodies, case, events, **run):
    body = bodies.sse(events, named=False)
    upstream.answer(case, body, content_type="text/event-stream")
    asked = {
        "threadId": f"t-{case}",
        "runId": "r1",
        "messages": [{"id": "1", "role": "user", "content": "x"}],
        "tools": [],
        "context": [],
        "state": {},
        "forwardedProps": {},
    } | run
    got = live.post(
        f"/{case}", json.dumps(asked).encode(), "Content-Type: application/json", "Accept: text/event-stream"
    )
    assert got.partition(b"\r\n\r\n")[2] == body


def call_events(call, name, arguments):
    text = json.dumps(arguments)
    return [
        {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": text[:4]},
        {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": text[4:]},
        {"type": "TOOL_CALL_END", "toolCallId": call},
    ]


def test_an_ag_ui_run_gives_actions_and_outcomes(live, upstream, bodies):
    call = f"tc-{uuid.uuid4().hex}"
    ids = {"threadId": "t-agui1", "runId": "r1"}
    result = {"type": "TOOL_CALL_RESULT", "messageId": "m1", "toolCallId": call, "content": "3 rows", "role": "tool"}
    events = [
        {"type": "RUN_STARTED", **ids},
        *call_events(call, "run_sql", {"sql": "DROP TABLE orders"}),
        result,
        {"type": "RUN_FINISHED", **ids},
    ]
    agui(live, upstream, bodies, "agui1", events)
    (action,) = live.calls(call)
    assert (action["exchange"]["protocol"], action["session"]["id"]) == ("ag-ui-sse", "t-agui1")
    (outcome,) = live.wait(lambda r: r["kind"] == "outcome" and r["action"] == action["id"])
    assert outcome["call"]["id"] == call


def test_a_front_end_tool_is_answered_in_the_next_runs_input(live, upstream, bodies):
    call = f"tc-{uuid.uuid4().hex}"
    ids = {"threadId": "t-agui2", "runId": "r1"}
    tool = {"name": "confirm", "description": "ask", "parameters": {"type": "object"}}
    events = [
        {"type": "RUN_STARTED", **ids},
        *call_events(call, "confirm", {"what": "refund"}),
        {"type": "RUN_FINISHED", **ids},
    ]
    agui(live, upstream, bodies, "agui2", events, tools=[tool])
    messages = [
        {"id": "1", "role": "user", "content": "x"},
        {
            "id": "2",
            "role": "assistant",
            "toolCalls": [
                {"id": call, "type": "function", "function": {"name": "confirm", "arguments": '{"what": "refund"}'}}
            ],
        },
        {"id": "3", "role": "tool", "toolCallId": call, "content": "yes"},
    ]
    ids2 = ids | {"runId": "r2"}
    agui(
        live,
        upstream,
        bodies,
        "agui2",
        [{"type": "RUN_STARTED", **ids2}, {"type": "RUN_FINISHED", **ids2}],
        messages=messages,
        runId="r2",
        tools=[tool],
    )
    (action,) = live.calls(call)
    assert action["call"]["executed_by"] == "client"
    (outcome,) = live.wait(lambda r: r["kind"] == "outcome" and r["action"] == action["id"])
    assert (outcome["asserted_by"], outcome["reported_by"]) == ("request", "harness")


def test_the_vendors_tool_calls_are_one_action_however_often_polled(live, upstream):
    call = {
        "id": "vendor-call-0001",
        "name": "send_mail",
        "argumentsJson": {"to": "a@shop.example"},
        "status": "TOOL_EXECUTION_STATUS_EXECUTING",
    }
    state = {"messageHistory": [{"role": "ROLE_ASSISTANT", "generatedBy": "run-1", "content": [], "toolCalls": [call]}]}
    ask = json.dumps({"conversationKey": {"threadId": "thr-1"}}).encode()
    for status in ("EXECUTING", "EXECUTING", "COMPLETED", "COMPLETED"):
        call["status"] = f"TOOL_EXECUTION_STATUS_{status}"
        upstream.answer("vendor", json.dumps(state).encode(), content_type="application/json")
        live.post("/vendor/api/v1/llm/conversation-state", ask, "Content-Type: application/json")
    (action,) = live.calls("vendor-call-0001")
    assert action["exchange"]["protocol"] == "toolcall-schema"
    (outcome,) = live.wait(lambda r: r["kind"] == "outcome" and r["action"] == action["id"])
    assert outcome["outcome"] == "ok"
    assert len([r for r in live.records() if r["kind"] == "action" and r["call"]["id"] == "vendor-call-0001"]) == 1
