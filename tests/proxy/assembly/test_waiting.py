"""A large request that waits for its answer is small in memory, and says the same when the answer comes."""

from __future__ import annotations

import gc
import json
import random
import tracemalloc
from base64 import b64encode
from pathlib import Path

import pytest

from proxy.assembly import ExchangeAssembler
from proxy.assembly.case import dialogue
from proxy.assembly.folder import exchanges, raw_body
from proxy.assembly.waiting import OUTLINE, outline
from proxy.events import Unread
from proxy.exchange import Exchange, Head
from proxy.wire.json_text import dump

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
CASES = sorted(p.parent for p in GOLDEN.glob("*/*/expected.json"))
IDS = [f"{c.parent.name}/{c.name}" for c in CASES]
PROMISE = 256 << 10


def events_of(case, *, wait, detect=True, filler=""):
    """All events of a case's session; with ``wait`` each request is let go before its answer begins."""
    meta = json.loads((case / "meta.json").read_text("utf-8"))
    memory, events = {}, []
    for exchange, body in exchanges(case, meta, None if detect else meta.get("api")):
        request, head = exchange.request_json, exchange.response or Head(status=200)
        if filler and isinstance(request, dict):
            request = {**request, "x_filler": [filler] * 3}
        exchange.response = exchange.request_json = None
        one = ExchangeAssembler(exchange, memory, large=0)
        if head.status in (0, 101):
            one.response_head(head) if head.status else None
            events += [*one.frames(dialogue(body)), *one.end()]
            continue
        events += one.request_body(b"" if request is None else raw_body(request)) + one.request_end()
        if wait:
            one.forget_request()
        events += one.response_head(head) + one.response_body(body[:100])
        if wait:
            one.forget_request()
        events += one.response_body(body[100:]) + one.response_end()
    return events


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_golden_session_says_the_same_when_its_requests_were_let_go(case):
    said = events_of(case, wait=False)
    assert events_of(case, wait=True) == said
    assert events_of(case, wait=True, filler="é" * OUTLINE) == said


def messages(size):
    text = "".join(random.Random(1).choices("abcdefghij klmnopqrstuvwxyz\n", k=size // 200))
    for at in range(100):
        call = {"type": "tool_use", "id": f"toolu_{at:012}", "name": "Bash", "input": {"command": text}}
        yield {"role": "assistant", "content": [call]}
        told = {"type": "tool_result", "tool_use_id": f"toolu_{at:012}", "content": f"{at} {text}"}
        yield {"role": "user", "content": [told]}


def images(size):
    shot = b64encode(random.Random(2).randbytes(size * 3 // 16)).decode()
    for at in range(4):
        data = {"type": "base64", "media_type": "image/png", "data": f"{at:04}{shot}"}
        told = {"type": "tool_result", "tool_use_id": f"t{at}", "content": [{"type": "image", "source": data}]}
        yield {"role": "user", "content": [told]}


def many(size):
    for at in range(size // 128):
        yield {"role": "user" if at % 2 else "assistant", "content": [{"type": "text", "text": f"line {at:60}"}]}


def chat(size):
    for at in range(200):
        yield {"role": "tool", "tool_call_id": f"call_{at}", "content": f"{at:04}" * (size // 900)}


def waiting(path, messages):
    body = dump({"model": "m", "max_tokens": 9, "system": "be brief", "messages": list(messages)})
    assert len(body) > 700_000
    head = Head("POST", path, headers=(("content-type", "application/json"),))
    one = ExchangeAssembler(Exchange("x", head))
    one.request_body(body)
    one.request_end()
    one.forget_request()
    return one


@pytest.mark.parametrize("kind", [messages, images, many], ids=lambda kind: kind.__name__)
def test_a_request_of_1_mib_is_held_in_256_kib_until_its_answer_begins(kind):
    held_in("/v1/messages", kind)


def test_so_is_one_of_another_api():
    held_in("/v1/chat/completions", chat)


def held_in(path, kind):
    waiting(path, kind(1 << 20))  # what is loaded and cached once
    gc.collect()
    tracemalloc.start()
    try:
        one = waiting(path, kind(1 << 20))
        gc.collect()
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert one.provider is None
    assert held < PROMISE


def test_a_reply_of_an_api_that_did_not_know_its_request_is_read_and_said():
    one = waiting("/v1/messages", messages(1 << 20))
    one.response_head(Head(status=200, headers=(("content-type", "application/json"),)))
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}
    reply = {"object": "chat.completion", "choices": [{"message": {"tool_calls": [call]}, "finish_reason": "stop"}]}
    events = one.response_body(dump(reply)) + one.response_end()
    assert one.api == "openai-chat"
    (said,) = [e for e in events if isinstance(e, Unread)]
    assert (said.side, "as anthropic-messages's" in said.reason) == ("request", True)


def test_an_outline_keeps_what_lies_high_and_is_bounded():
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * 900}] * 9_000, "tools": [{"name": "t"}]}
    kept = outline(body)
    assert (kept["model"], kept["tools"]) == ("m", [{"name": "t"}])
    assert {len(m["content"]) for m in kept["messages"]} == {256}
    assert 10 < len(kept["messages"]) < 100
    assert len(dump(outline([[body] * 900] * 900))) < OUTLINE
