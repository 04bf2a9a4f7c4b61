"""Requests nobody would write, or that another API answers, wait for their answer: the same is said, in bounded memory."""

from __future__ import annotations

import copy
import gc
import gzip
import json
import random
import string
import tracemalloc
from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.assembly import ExchangeAssembler
from proxy.assembly.waiting import OUTLINE
from proxy.events import CallClosed, Facts, HistorySeen, ResultSeen, ToolsOffered, Unread
from proxy.exchange import Ending, Exchange, Head

JSON = (("content-type", "application/json"),)
ASKED = {
    "/v1/messages": {
        "model": "m",
        "max_tokens": 9,
        "metadata": {"user_id": "user_a_session_s1"},
        "tools": [{"name": "dig", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "dig", "input": {"deep": 2}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]},
        ],
    },
    "/v1/chat/completions": {
        "model": "m",
        "tools": [{"type": "function", "function": {"name": "dig", "parameters": {}}}],
        "messages": [
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "dig", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ],
    },
    "/v1/responses": {
        "model": "m",
        "tools": [{"type": "function", "name": "dig", "parameters": {}}],
        "input": [
            {"type": "function_call", "call_id": "r1", "name": "dig", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "r1", "output": "done"},
        ],
    },
    "/v1beta/models/g:generateContent": {
        "contents": [
            {"role": "model", "parts": [{"functionCall": {"name": "dig", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "dig", "response": {"output": 1}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "dig"}]}],
    },
    "/model/x/converse": {
        "inferenceConfig": {},
        "messages": [{"role": "user", "content": [{"toolResult": {"toolUseId": "b1", "status": "error"}}]}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "dig", "inputSchema": {"json": {}}}}]},
    },
}
ANSWERS = {
    "/v1/messages": {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "t2", "name": "dig", "input": {}}],
    },
    "/v1/chat/completions": {
        "object": "chat.completion",
        "choices": [{"message": {"tool_calls": [{"id": "c2", "function": {"name": "dig", "arguments": "{}"}}]}}],
    },
    "/v1/responses": {
        "object": "response",
        "output": [{"type": "function_call", "id": "f", "call_id": "r2", "name": "dig", "arguments": "{}"}],
    },
    "/v1beta/models/g:generateContent": {
        "candidates": [{"content": {"parts": [{"functionCall": {"name": "dig"}}]}, "finishReason": "STOP"}]
    },
    "/model/x/converse": {
        "output": {"message": {"content": [{"toolUse": {"toolUseId": "b2", "name": "dig", "input": {}}}]}}
    },
    "nobody": {"error": {"message": "overloaded", "type": "server_error"}},
}
ODD = (None, True, 0, -1, 10**40, 1e308, "", "x" * 700, "\ud800", [], {}, [[]], [None, 1, "a", {}], {"type": 3})


def events_of(path, sent, answer, *, wait, headers=JSON, memory=None, large=0):
    one = ExchangeAssembler(Exchange("x", Head("POST", path, headers=headers)), memory, large=large)
    events = one.request_body(sent) + one.request_end()
    if wait:
        one.forget_request()
    if answer is None:
        return events + one.response_end(Ending.CLIENT_GONE)
    events += one.response_head(Head(status=200, headers=JSON))
    return events + one.response_body(json.dumps(answer).encode()) + one.response_end()


def same(path, sent, answer, **more):
    said = events_of(path, sent, answer, wait=False, **more)
    waited = events_of(path, sent, answer, wait=True, **more)
    if any(isinstance(e, Unread) and "before its answer began" in e.reason for e in waited):
        assert [e for e in waited if isinstance(e, CallClosed)] != [] or answer is None or "error" in answer
        return
    assert waited == said


def holders(value, path=()):
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from holders(item, (*path, key))


def changed(body, path, new):
    """``body`` with what stands at ``path`` replaced, or taken out (``new`` is ``...``)."""
    if not path:
        return body if new is ... else new
    body = copy.deepcopy(body)
    holder = body
    for key in path[:-1]:
        holder = holder[key]
    if new is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = new
    return body


@st.composite
def mutated(draw):
    path = draw(st.sampled_from(sorted(ASKED)))
    body = ASKED[path]
    if draw(st.booleans()):
        body = {**body, **ASKED[draw(st.sampled_from(sorted(ASKED)))]}
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.sampled_from(list(holders(body))))
        body = changed(body, at, draw(st.sampled_from([..., *ODD])))
    return path, body, draw(st.sampled_from([*sorted(ANSWERS), None]))


@given(mutated())
def test_a_request_that_is_wrong_anywhere_says_the_same_when_it_waited(case):
    path, body, answered = case
    same(path, json.dumps(body).encode(), ANSWERS.get(answered))


ODD_BYTES = {
    "not JSON": b'{"messages": [',
    "not a number": b'{"max_tokens": NaN, "messages": []}',
    "not UTF-8": b'{"max_tokens": 1, "messages": [{"role": "user", "content": "\xff\xfe"}]}',
    "a key twice": b'{"max_tokens":1,"messages":[],"messages":[{"role":"user","content":"a"}]}',
    "a huge integer": b'{"messages":[],"max_tokens":' + b"9" * 4000 + b"}",
    "deep": b'{"max_tokens":1,"messages":' + b"[" * 190 + b"]" * 190 + b"}",
    "too deep": b'{"max_tokens":1,"messages":' + b"[" * 300 + b"]" * 300 + b"}",
    "a list": b'[{"messages":[]}]',
    "half a surrogate": b'{"max_tokens":1,"messages":[{"role":"user","content":"\\ud800"}]}',
}


@pytest.mark.parametrize("sent", ODD_BYTES.values(), ids=ODD_BYTES)
@pytest.mark.parametrize("coded", [False, True], ids=["plain", "gzip"])
def test_odd_bytes_say_the_same_when_they_waited(sent, coded):
    more = {"headers": (*JSON, ("content-encoding", "gzip"))} if coded else {}
    for answer in (*ANSWERS.values(), None):
        same("/v1/messages", gzip.compress(sent) if coded else sent, answer, **more)


def test_the_tool_list_behind_many_other_tools_still_says_whose_request_it_is():
    tools = [{"type": f"own_{at}", "name": f"own_{at}"} for at in range(60)]
    body = {**ASKED["/v1/messages"], "tools": [*tools, *ASKED["/v1/messages"]["tools"]]}
    for answer in (*ANSWERS.values(), None):
        same("/elsewhere", json.dumps(body).encode(), answer)


def test_keys_before_those_that_say_whose_request_it_is_hide_nothing():
    junk = {f"{at:0250}": at for at in range(900)}
    sent = json.dumps({**junk, **ASKED["/v1/messages"]}).encode()
    for answer in (ANSWERS["/v1/messages"], ANSWERS["nobody"], None):
        same("/v1/messages", sent, answer)
    assert any(isinstance(e, ResultSeen) for e in events_of("/v1/messages", sent, None, wait=True))


def test_what_a_front_end_asks_is_kept_whole_when_only_its_key_says_so():
    body = {"conversationKey": "k", **ASKED["/v1/chat/completions"], "x": "y" * OUTLINE}
    answer = {"toolCalls": [{"id": "1", "name": "dig", "status": "TOOL_EXECUTION_STATUS_COMPLETED"}]}
    same("/chat", json.dumps(body).encode(), answer)


def test_a_request_answered_by_another_api_is_read_as_what_it_was_and_in_full():
    long = "é" * 5_000
    body = copy.deepcopy(ASKED["/v1/chat/completions"])
    body["messages"][1]["content"] = long
    body["tools"][0]["function"]["parameters"] = {"description": long}
    body["prompt_cache_key"] = "k" * 300
    sent, answer = json.dumps(body).encode(), {"model": "l", "message": {"content": "hm"}, "done": True}
    said = events_of("/chat", sent, answer, wait=False)
    waited = events_of("/chat", sent, answer, wait=True)
    for kind in (ToolsOffered, HistorySeen, ResultSeen):
        assert [e for e in waited if isinstance(e, kind)] == [e for e in said if isinstance(e, kind)]
    facts = [e.values for e in waited if isinstance(e, Facts)]
    assert [f["protocol"] for f in facts if "protocol" in f][-1] == "ollama"
    assert facts[0]["session_ids"]["prompt_cache_key"] == "k" * 300


def test_a_history_sent_again_each_turn_says_the_same_each_turn():
    memory, other, body = {}, {}, copy.deepcopy(ASKED["/v1/messages"])
    for turn in range(5):
        said = [
            events_of("/v1/messages", json.dumps(body).encode(), ANSWERS["/v1/messages"], wait=w, memory=m)
            for w, m in ((False, memory), (True, other))
        ]
        assert said[0] == said[1]
        assert sum(isinstance(e, ResultSeen) for e in said[1]) == turn + 1
        told = {"type": "tool_result", "tool_use_id": f"t{turn + 2}", "content": str(turn)}
        body["messages"].append({"role": "user", "content": [told]})


def hostile():
    noise = b64encode(random.Random(1).randbytes(768 << 10)).decode()
    names = random.Random(2).choices(string.ascii_letters, k=1 << 20)
    key = "".join(names)
    asked = {"model": "m", "max_tokens": 9}
    yield "one string of noise", {**asked, "messages": [{"role": "user", "content": noise}]}
    yield "100,000 tiny messages", {**asked, "messages": [{"role": "user", "content": "a"}] * 100_000}
    tools = [{"name": f"t{at}", "input_schema": {}} for at in range(50_000)]
    yield "50,000 tools", {**asked, "messages": [], "tools": tools}
    yield "one key of 1 MiB", {**asked, "messages": [], key: 1}
    yield "4,096 keys of 256", {**asked, "messages": [], **{key[at : at + 256]: 1 for at in range(0, 1 << 20, 256)}}
    yield "400 huge integers", {**asked, "messages": [], "n": [10**4000 + at for at in range(250)]}
    yield "nobody's noise", {"blob": noise, "messages": 1}


HOSTILE = dict(hostile())
HELD = {
    "100,000 tiny messages": 4 << 20,
    "50,000 tools": 2 << 20,
    "nobody's noise": 1 << 20,
    "4,096 keys of 256": 1 << 20,
}  # what will not pack, once


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_request_that_does_not_pack_is_held_in_no_more_than_it_has(kind):
    sent = json.dumps(HOSTILE[kind]).encode()

    def waiting():
        one = ExchangeAssembler(Exchange("x", Head("POST", "/v1/messages", headers=JSON)))
        one.request_body(sent)
        one.request_end()
        assert one.waits
        one.forget_request()
        return one

    waiting()
    gc.collect()
    tracemalloc.start()
    try:
        one = waiting()
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert one.provider is None
    assert held < HELD.get(kind, 256 << 10)
