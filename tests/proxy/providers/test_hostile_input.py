"""Random bytes, random JSON and random cuts through the application protocols: no exception, no cut that matters."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proxy.assembly import ExchangeAssembler
from proxy.events import Unread
from proxy.exchange import Exchange, Head, Side
from proxy.providers.a2a import PROVIDER as A2A
from proxy.providers.acp import PROVIDER as ACP
from proxy.providers.ag_ui_proto import PROVIDER as AG_UI_PROTO
from proxy.providers.ag_ui_sse import PROVIDER as AG_UI
from proxy.providers.claude_code_hooks import PROVIDER as HOOKS
from proxy.providers.generic import PROVIDER as GENERIC
from proxy.providers.mcp_http import PROVIDER as MCP
from proxy.providers.mcp_stdio import PROVIDER as MCP_PIPE
from proxy.providers.toolcall_schema import PROVIDER as TOOLCALL
from proxy.wire import Frame

PROVIDERS = [AG_UI, AG_UI_PROTO, TOOLCALL, MCP, MCP_PIPE, ACP, A2A, HOOKS, GENERIC]
WORDS = [
    *("type", "toolCallId", "toolCallName", "delta", "subagentRunId", "parentMessageId", "content", "messages", "role"),
    *("outcome", "interrupts", "pendingToolCallIds", "resume", "interruptId", "status", "payload", "approved", "tools"),
    *("threadId", "runId", "jsonrpc", "id", "method", "params", "result", "error", "name", "arguments", "_meta"),
    *(
        "argumentsJson",
        "isClientTool",
        "serverId",
        "endReason",
        "toolCall",
        "toolCalls",
        "conversationKey",
        "messageId",
    ),
    *("inputRequests", "inputResponses", "requestState", "resultType", "task", "taskId", "update", "sessionUpdate"),
    *("options", "subject", "message", "parts", "tool_input", "tool_name", "hook_event_name", "session_id", "usage"),
]
VALUES = [
    *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END"),
    *("TOOL_CALL_CHUNK", "TOOL_CALL_RESULT", "MESSAGES_SNAPSHOT", "2.0", "tools/call", "tools/list", "initialize"),
    *("tasks/get", "tasks/result", "session/update", "session/request_permission", "terminal/create", "input_required"),
    *("tool_call", "tool_call_update", "completed", "message/send", "PreToolUse", "PostToolUse", "a", "b", "tool"),
    *("notifications/cancelled", "elicitation/create", "TOOL_EXECUTION_STATUS_FAILED", "cancelled", "resolved", "{"),
]
leaf = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 2**70),
    st.floats(allow_nan=False),
    st.sampled_from(VALUES),
    st.text(max_size=6),
)
value = st.recursive(
    leaf,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=25,
)
message = st.dictionaries(st.sampled_from(WORDS), value, max_size=9)
SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda p: p.name)
@SETTINGS
@given(request_json=value, frames=st.lists(st.tuples(st.sampled_from(list(Side)), value | message), max_size=8))
def test_no_json_shape_makes_a_provider_raise(provider, request_json, frames):
    exchange = Exchange("x", request=Head("POST", "/api/v1/llm/mcp-call-tool"), request_json=request_json)
    exchange.response = Head(status=200)
    provider.claims(exchange, None)
    assembly = provider.open(exchange)
    events = list(assembly.request(exchange))
    for side, data in frames:
        frame = Frame(data, side=side, size_bytes=1)
        provider.claims(exchange, frame)
        events += assembly.frame(frame)
    events += assembly.close("complete")
    json.dumps([repr(event) for event in events])


def run(body, pieces, kind, request=b""):
    assembler = ExchangeAssembler(
        Exchange("x", request=Head("POST", "/agui", headers=(("content-type", "application/json"),)))
    )
    events = assembler.request_body(request) + assembler.request_end()
    events += assembler.response_head(Head(status=200, headers=(("content-type", kind),)))
    for piece in pieces:
        events += assembler.response_body(piece)
    events += assembler.end()
    assert not [e for e in events if isinstance(e, Unread) and "failed:" in e.reason], body
    return events


def pieces_of(body, marks):
    edges = [0, *sorted(mark % (len(body) + 1) for mark in marks), len(body)]
    return [body[a:b] for a, b in itertools.pairwise(edges)]


@SETTINGS
@given(st.lists(message, max_size=6), st.lists(st.integers(0, 5000), max_size=6), message)
def test_random_events_read_the_same_whole_or_cut(events, marks, asked):
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in [{"type": "RUN_STARTED"}, *events])
    sent = json.dumps({"jsonrpc": "2.0", "method": "tools/call", "id": 1, "params": asked}).encode()
    for request in (b"", sent):
        whole = run(body, [body], "text/event-stream", request)
        assert run(body, pieces_of(body, marks), "text/event-stream", request) == whole


@SETTINGS
@given(
    st.binary(max_size=300),
    st.lists(st.integers(0, 300), max_size=6),
    st.sampled_from(
        ["text/event-stream", "application/json", "application/vnd.ag-ui.event+proto", "application/x-ndjson"]
    ),
)
def test_random_bytes_read_the_same_whole_or_cut(body, marks, kind):
    assert run(body, pieces_of(body, marks), kind) == run(body, [body], kind)
