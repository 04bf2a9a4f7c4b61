"""The driver: whose exchange is it, what was offered, what could not be read; nothing it is given makes it raise."""

from __future__ import annotations

import gzip
import json
import tracemalloc

import pytest
import zstandard

from classifiers.call import Advertised, ExecutedBy
from proxy.assembly import ExchangeAssembler
from proxy.events import UNREAD_LABELS, Unread
from proxy.exchange import Ending, Exchange, Head
from tests.proxy.providers.streams import (
    anthropic,
    block,
    brief,
    calls,
    candidate,
    chunk,
    completed,
    created,
    done,
    entry,
    exchange,
    facts,
    gemini,
    history,
    item,
    offered,
    piece,
    responses,
    results,
    sse,
    started,
    stop,
    unread,
)

CALL = sse(chunk(entry(0, "a", "f", '{"x":1}'), finish="tool_calls"), "[DONE]")
ONE = [("a", "f", {"x": 1})]


def raw(body, headers=(), request=b"", request_headers=(), *, status=200):
    assembler = ExchangeAssembler(Exchange("x", Head("POST", "/p", headers=tuple(request_headers))))
    events = assembler.request_body(request) + assembler.request_end()
    events += assembler.response_head(Head(status=status, headers=tuple(headers)))
    events += assembler.response_body(body)
    return events + assembler.response_end(Ending.COMPLETE), assembler


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("text/event-stream; charset=utf-8", "as labelled"),
        ("", "no label"),
        ("application/json", "labelled JSON"),
        ("text/plain", "labelled text"),
        ("application/octet-stream", "labelled bytes"),
    ],
)
def test_an_event_stream_is_known_by_its_bytes(kind, why):
    assert brief(raw(CALL, [("content-type", kind)])[0]) == ONE


@pytest.mark.parametrize("kind", ["application/json", "", "text/plain", "text/event-stream"])
def test_a_json_body_is_known_by_its_bytes(kind):
    message = {"role": "assistant", "tool_calls": [entry(0, "a", "f", '{"x":1}')]}
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    assert brief(raw(json.dumps(body).encode(), [("content-type", kind)])[0]) == ONE


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("zstd", zstandard.compress)])
def test_coded_requests_and_replies_are_read(name, pack):
    said = {"messages": [{"role": "tool", "tool_call_id": "t", "content": "ok"}]}
    events, _ = raw(
        pack(CALL),
        [("content-encoding", name), ("content-type", "text/event-stream")],
        pack(json.dumps(said).encode()),
        [("content-encoding", name), ("content-type", "application/json")],
    )
    assert brief(events) == ONE
    assert [r.id for r in results(events)] == ["t"]


@pytest.mark.parametrize(
    ("headers", "body", "status", "reason"),
    [
        ([("content-encoding", "gzip")], CALL, 200, "body is not gzip as labelled"),
        ([("content-encoding", "rot13")], CALL, 200, "content-encoding rot13 is not known"),
        ([("content-encoding", "gzip")], gzip.compress(CALL, mtime=0)[:-20], 200, "gzip body stopped before its end"),
        ([("content-type", "text/html")], b"<html>", 502, "no_provider"),
        ([("content-type", "image/png")], b"\x89PNG", 200, "no_provider"),
        ([("content-type", "application/json")], b'{"a":', 200, "no_provider"),
        ([("content-type", "application/json")], b'{"weather": "fine"}', 200, "no_provider"),
    ],
)
def test_what_nobody_read_is_counted_with_its_reason(headers, body, status, reason):
    events, _ = raw(body, headers, status=status)
    assert any(reason in r for r in unread(events))


def test_an_html_error_of_a_known_api_says_what_it_was():
    events = exchange(
        b"<html>bad gateway</html>", {"messages": []}, target="/v1/chat/completions", kind="text/html", status=502
    )
    assert unread(events) == ["no framing for text/html"]


def test_a_declared_api_is_not_guessed():
    one = Exchange("x", Head("POST", "/whatever"), declared_api="openai-chat")
    assembler = ExchangeAssembler(one)
    events = assembler.request_end() + assembler.response_head(Head(status=200))
    events += assembler.response_body(CALL) + assembler.response_end()
    assert (brief(events), assembler.api) == (ONE, "openai-chat")


def test_interim_heads_are_passed_over():
    assembler = ExchangeAssembler(Exchange("x"))
    assembler.request_end()
    assembler.response_head(Head(status=103))
    assembler.response_head(Head(status=200, headers=(("content-type", "text/event-stream"),)))
    assert brief(assembler.response_body(CALL) + assembler.response_end()) == ONE


def test_an_answer_that_overtakes_its_request_waits_for_it():
    said = json.dumps({"messages": [{"role": "tool", "tool_call_id": "t", "content": "ok"}]}).encode()
    assembler = ExchangeAssembler(Exchange("x", Head("POST", "/v1/chat/completions")))
    events = assembler.request_body(said[:10]) + assembler.response_head(Head(status=200))
    events += assembler.response_body(CALL)
    assert calls(events) == []
    events += assembler.request_body(said[10:]) + assembler.request_end() + assembler.response_end()
    assert ([r.id for r in results(events)], brief(events)) == (["t"], ONE)


def test_calls_come_as_soon_as_they_close():
    assembler = ExchangeAssembler(Exchange("x"))
    assembler.request_end()
    assembler.response_head(Head(status=200, headers=(("content-type", "text/event-stream"),)))
    assert brief(assembler.response_body(CALL[: CALL.index(b"data: [DONE]")])) == ONE
    assert calls(assembler.response_end()) == []


def test_ending_twice_tells_nothing_twice():
    _, assembler = raw(CALL)
    assert assembler.response_end() == []
    assert assembler.request_end() == []


def test_a_reply_without_any_call_word_is_skipped_and_counted():
    quiet = sse(*[chunk(content=f"word {i}") for i in range(200)])
    first = sse(chunk(role="assistant", content=""))
    assembler = ExchangeAssembler(Exchange("x"))
    assembler.request_end()
    assembler.response_head(Head(status=200, headers=(("content-type", "text/event-stream"),)))
    events = assembler.response_body(first) + assembler.response_body(quiet) + assembler.response_body(CALL)
    events += assembler.response_end()
    assert brief(events) == ONE
    assert assembler.counted.skipped_bytes == len(quiet)


def test_escaped_markers_are_not_skipped():
    text = json.dumps(chunk(entry(0, "a", "f", '{"x":1}'), finish="tool_calls"))
    hidden = text.replace("tool_calls", "\\u0074ool_calls")
    body = sse(chunk(content="x")) + f"data: {hidden}\n\n".encode()
    assembler = ExchangeAssembler(Exchange("x"))
    assembler.request_end()
    assembler.response_head(Head(status=200))
    events = assembler.response_body(body[:40]) + assembler.response_body(body[40:]) + assembler.response_end()
    assert brief(events) == ONE


# --- what was offered

TOOL = {"name": "run", "description": "d", "input_schema": {"type": "object"}}


@pytest.mark.parametrize(
    ("tools", "kind", "expected"),
    [
        ([TOOL], "tool_use", Advertised.YES),
        ([{**TOOL, "name": "other"}], "tool_use", Advertised.NO),
        ([], "tool_use", Advertised.NO),
        ([], "server_tool_use", Advertised.NOT_NEEDED),
        ([], "mcp_tool_use", Advertised.NOT_NEEDED),
    ],
)
def test_only_a_client_call_that_a_present_list_lacks_is_not_advertised(tools, kind, expected):
    (found,) = calls(anthropic(started(), block(0, kind=kind), stop(0), request={"tools": tools}))
    assert found.advertised is expected


def test_without_a_list_nothing_is_known():
    body = sse(started(), block(0), stop(0), named=True)
    (found,) = calls(exchange(body, {"messages": [], "max_tokens": 1}, target="/v1/messages"))
    assert (found.advertised, found.definition) == (Advertised.UNKNOWN, None)


def test_a_call_carries_the_definition_it_was_advertised_with():
    events = anthropic(started(), block(0), stop(0), request={"tools": [TOOL]})
    (found,) = calls(events)
    assert found.definition == offered(events).definitions[0]
    assert (len(found.definition.schema_hash), len(found.definition.description_hash)) == (64, 64)


@pytest.mark.parametrize(
    ("choice", "name", "purpose"),
    [
        ({"type": "tool", "name": "final_result"}, "final_result", "structured_output"),
        ({"type": "any"}, "final_result", "structured_output"),
        ({"type": "auto"}, "final_result", "action"),
        ({"type": "tool", "name": "bash"}, "bash", "action"),
        (None, "json", "action"),
    ],
)
def test_a_forced_tool_that_shapes_the_answer_is_no_action(choice, name, purpose):
    request = {"tools": [{**TOOL, "name": name}], **({"tool_choice": choice} if choice else {})}
    (found,) = calls(anthropic(started(), block(0, name=name), stop(0), request=request))
    assert found.purpose == purpose


# --- requests: history, results, facts


def test_a_resent_history_makes_no_calls_and_its_hashes_ignore_cache_marks():
    def turn(marked):
        text = {"type": "text", "text": "go", **({"cache_control": {"type": "ephemeral"}} if marked else {})}
        told = [{"type": "tool_use", "id": "t0", "name": "run", "input": {}}]
        messages = [{"role": "user", "content": [text]}, {"role": "assistant", "content": told}]
        return anthropic(started(), request={"messages": messages})

    one, two = history(turn(True)), history(turn(False))
    assert one.call_ids == ("t0",)
    assert one.prefix_hashes == two.prefix_hashes
    assert len(set(one.prefix_hashes)) == 2
    assert calls(turn(True)) == []


def test_every_result_of_a_request_is_told_with_who_says_so():
    blocks = [{"type": "tool_result", "tool_use_id": i, "content": "x"} for i in ("a", "b")]
    found = results(anthropic(started(), request={"messages": [{"role": "user", "content": blocks}]}))
    assert [(r.id, r.source, r.asserted_by, r.reported_by) for r in found] == [
        (i, "request", "request", "harness") for i in ("a", "b")
    ]
    assert all(r.digest and r.size_bytes == 3 for r in found)


def test_claude_code_says_its_session_in_the_body():
    user = json.dumps({"device_id": "d", "account_uuid": "", "session_id": "s-1"})
    events = anthropic(started(), request={"metadata": {"user_id": user}})
    assert facts(events)["session_ids"] == {"metadata.user_id": "s-1"}


def test_codex_says_its_directory_in_turn_metadata():
    said = json.dumps({"thread_id": "th", "turn_id": "tu", "workspaces": {"/srv/app": {}}})
    events = responses(done(item()), headers={"x-codex-turn-metadata": said})
    known = facts(events)
    assert (known["cwd"], known["cwd_source"], known["thread_id"]) == ("/srv/app", "turn_metadata", "th")


def test_usage_has_our_four_names():
    whole = {
        "id": "r",
        "object": "response",
        "status": "completed",
        "output": [],
        "usage": {
            "input_tokens": 9,
            "output_tokens": 8,
            "input_tokens_details": {"cached_tokens": 7},
            "output_tokens_details": {"reasoning_tokens": 6},
        },
    }
    events = exchange(whole, {"input": "x"}, target="/v1/responses")
    assert facts(events)["usage"] == {"input": 9, "output": 8, "cached": 7, "reasoning": 6}


def test_polling_shows_a_call_once_and_reading_again_shows_it_again():
    shared = {}
    whole = {"id": "resp_1", "object": "response", "status": "completed", "output": [item()]}

    def poll(id_):
        return len(calls(exchange(whole, target="/v1/responses/resp_1", method="GET", shared=shared, id_=id_)))

    assert [poll("1"), poll("2"), poll("1")] == [1, 0, 1]


def test_duplicate_keys_in_arguments_are_said():
    (found,) = calls(anthropic(started(), block(0), piece(0, '{"cmd":"ls","cmd":"rm"}'), stop(0)))
    assert found.arguments == {"cmd": "rm"}
    assert found.conflicts == ("arguments: key cmd stands twice",)


def test_a_provider_that_fails_costs_an_unread_record_and_nothing_else():
    assembler = ExchangeAssembler(Exchange("x"))
    assembler.request_end()
    assembler.response_head(Head(status=200, headers=(("content-type", "text/event-stream"),)))
    events = assembler.response_body(sse(chunk(entry(0, "a", "f", '{"x":1}'))))
    assembler._reading._assembly = Broken(assembler._reading._assembly)
    events += assembler.response_body(sse(chunk(function_call="boom")))
    events += assembler.response_body(sse(chunk(finish="tool_calls"))) + assembler.response_end()
    assert brief(events) == ONE
    assert unread(events) == ["openai-chat failed: RuntimeError: boom"]


class Broken:
    """An assembly that trips over one frame."""

    def __init__(self, inner):
        self.inner = inner

    def frame(self, frame):
        if "boom" in str(frame.data):
            raise RuntimeError("boom")
        return self.inner.frame(frame)

    def close(self, ending):
        return self.inner.close(ending)


def test_gemini_calls_without_ids_have_their_places():
    parts = [{"functionCall": {"name": "f", "args": {}}}, {"functionCall": {"name": "f", "args": {}}}]
    found = calls(gemini(candidate(*parts)))
    assert [(c.id, c.ordinal, c.executed_by) for c in found] == [
        (None, 0, ExecutedBy.CLIENT),
        (None, 1, ExecutedBy.CLIENT),
    ]


def test_nobodys_long_stream_is_given_up_and_counted_whole():
    body = sse(*[{"tick": n} for n in range(5000)])
    events, assembler = raw(body, [("content-type", "text/event-stream")])
    assert [(e.reason, e.size_bytes) for e in events] == [("no_provider", len(body))]
    assert assembler.counted.frames < 100


def test_a_large_body_without_any_call_word_is_not_parsed():
    body = json.dumps({"vectors": [[0.25] * 100] * 3000}).encode()
    events, assembler = raw(body, [("content-type", "application/json")])
    assert [(e.reason, e.size_bytes) for e in events] == [("no_provider", len(body))]
    assert assembler.counted.skipped_bytes == len(body)


def test_two_items_that_share_a_call_id_are_two_calls():
    one, two = item("fc_1", "call_0", "f"), item("fc_2", "call_0", "g")
    events = responses(created(), done(one), done(two, 1), completed(one, two))
    assert brief(events) == [("call_0", "f", {}), ("call_0", "g", {})]


def test_an_item_repeated_under_another_id_is_one_call():
    events = responses(created(), done(item("fc_1", args='{"x":1}')), completed(item("other", args='{"x":1}')))
    assert brief(events) == [("call_1", "run", {"x": 1})]


def test_a_call_names_the_response_it_came_in():
    (found,) = calls(responses(created("resp_7"), done(item()), completed(item(), id_="resp_7")))
    assert found.parent_message == "resp_7"


def test_what_a_provider_side_server_lists_is_offered_under_its_name():
    listed = {
        "type": "mcp_list_tools",
        "id": "l",
        "server_label": "yard",
        "tools": [{"name": "dig", "input_schema": {}}],
    }
    used = {
        "type": "mcp_call",
        "id": "m",
        "name": "dig",
        "server_label": "yard",
        "arguments": "{}",
        "status": "completed",
    }
    (found,) = calls(responses(created(), done(listed), done(used, 1), completed(listed, used)))
    assert (found.definition.name, found.server) == ("mcp:yard/dig", "yard")


def test_a_stored_completion_fetched_again_makes_no_new_calls():
    shared = {}
    message = {"role": "assistant", "tool_calls": [entry(0, "a", "f", '{"x":1}')]}
    body = {
        "id": "cc",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
    }

    def fetched(method, id_):
        return brief(exchange(body, target="/v1/chat/completions/cc", method=method, shared=shared, id_=id_))

    assert [fetched("POST", "1"), fetched("GET", "2"), fetched("GET", "3"), fetched("POST", "4")] == [ONE, [], [], ONE]


def test_a_definition_in_another_key_order_has_the_same_hash():
    def hashes(schema):
        tools = [{"name": "run", "description": "d", "input_schema": schema}]
        return offered(anthropic(started(), request={"tools": tools})).definitions[0].schema_hash

    one = hashes({"type": "object", "properties": {"a": {}, "b": {}}})
    assert one == hashes({"properties": {"b": {}, "a": {}}, "type": "object"})
    assert one != hashes({"properties": {"b": {}, "c": {}}, "type": "object"})


@pytest.mark.parametrize(
    ("headers", "body", "label"),
    [
        ([("content-encoding", "gzip")], b"plain", "coding"),
        ([("content-encoding", "rot13")], b"plain", "coding"),
        ([("content-encoding", "gzip")], gzip.compress(CALL)[:-20], "cut_off"),
        ([("content-type", "image/png")], b"\x89PNG", "no_provider"),
        ([("content-type", "text/event-stream")], CALL + b'data: {"tool_calls":}\n\n', "not_json"),
    ],
)
def test_a_reason_has_a_label_of_a_closed_list(headers, body, label):
    events, _ = raw(body, headers)
    assert {e.label for e in events if isinstance(e, Unread)} == {label}
    assert label in UNREAD_LABELS


def test_a_damaged_event_without_a_mark_is_passed_over_wherever_the_bytes_are_cut():
    text = b'data: {"type": "content_block_delta", "delta":}\n\n'
    for pieces in ([CALL + text], [CALL, text]):
        assembler = ExchangeAssembler(Exchange("x", Head("POST", "/v1/messages")), {})
        events = assembler.response_head(Head(status=200, headers=(("content-type", "text/event-stream"),)))
        events += [e for p in pieces for e in assembler.response_body(p)] + assembler.response_end()
        assert [e for e in events if isinstance(e, Unread)] == []


def test_an_open_exchange_holds_little_of_what_it_has_read():
    request = {"messages": [{"role": "user", "content": "x" * 2000} for _ in range(300)], "max_tokens": 1}
    body = json.dumps(request).encode()

    def opened():
        one = ExchangeAssembler(Exchange("x", Head("POST", "/v1/messages")), {})
        one.request_body(body)
        one.request_end()
        one.response_head(Head(status=200, headers=(("content-type", "text/event-stream"),)))
        for _ in range(100):
            one.response_body(CALL)
        one.forget_request()
        return one

    opened()  # what is loaded once
    tracemalloc.start()
    try:
        held = [opened() for _ in range(4)]
        assert tracemalloc.get_traced_memory()[0] / len(held) < 256 << 10
    finally:
        tracemalloc.stop()
