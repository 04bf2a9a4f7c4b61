"""Public reports of mis-assembled calls, each as the stream that showed it (docs/protocols.md lists the numbers).

39 to 42 are MCP and AG-UI: ``test_mcp.py`` and ``test_ag_ui.py`` have them.
"""

from __future__ import annotations

import json

import pytest

from classifiers.call import Outcome
from tests.proxy.wire.cuts import cuts

from .streams import (
    added,
    anthropic,
    bedrock,
    block,
    brief,
    calls,
    candidate,
    chat,
    chunk,
    completed,
    created,
    done,
    ends,
    entry,
    exchange,
    fills,
    gemini,
    grows,
    item,
    piece,
    responses,
    results,
    sse,
    started,
    stop,
    use,
)


def fn(name, **args):
    return {"functionCall": {"name": name, "args": args}}


def ollama(*messages):
    lines = [{"model": "q", "message": {"role": "assistant", **m}, "done": False} for m in messages]
    body = "".join(json.dumps(line) + "\n" for line in [*lines, {"model": "q", "message": {}, "done": True}])
    return exchange(body.encode(), {"messages": []}, target="/api/chat", kind="application/x-ndjson")


TWO = [("a", "f", {"x": 1}), ("b", "g", {"y": 2})]
REPORTS = {
    "1 openai-python#3201 header and first fragment in one chunk, both index 0": (
        lambda: chat(chunk(entry(0, "a", "f", ""), entry(0, None, None, '{"x"')), chunk(entry(0, None, None, ":1}"))),
        TWO[:1],
    ),
    "2 openai-python#2806 deltas without index": (
        lambda: chat(chunk(entry(None, "a", "f", '{"x":1}')), chunk(entry(None, "b", "g", '{"y":2}')), finish="stop"),
        TWO,
    ),
    "3 AstrBot#6661 two calls in one delta without index": (
        lambda: chat(chunk(entry(None, "a", "f", '{"x":1}'), entry(None, "b", "g", '{"y":2}')), finish="stop"),
        TWO,
    ),
    "4 OpenMAIC#1556 finish says stop though there are calls": (
        lambda: chat(chunk(entry(0, "a", "f", '{"x":1}')), finish="stop"),
        TWO[:1],
    ),
    "5 open-webui/computer#224 a delta of metadata only": (
        lambda: chat(
            chunk(entry(None, "a", "f", '{"x":1}')), chunk({"extra_content": {"google": {"thought_signature": "c2"}}})
        ),
        TWO[:1],
    ),
    "6 batpred#4904 parallel calls without index keep their names": (
        lambda: chat(
            chunk(entry(None, "a", "aa", "")),
            chunk(entry(None, None, None, '{"x":1}')),
            chunk(entry(None, "b", "bb", "{}")),
        ),
        [("a", "aa", {"x": 1}), ("b", "bb", {})],
    ),
    "7 hermes-agent#62940 parallel calls share index 0, no ids": (
        lambda: chat(chunk(entry(0, "", "f", '{"x":1}')), chunk(entry(0, "", "f", '{"x":2}'))),
        [("", "f", {"x": 1}), ("", "f", {"x": 2})],
    ),
    "14 bifrost#1829 interleaved deltas": (
        lambda: chat(
            chunk(entry(0, "a", "f", ""), entry(1, "b", "g", "")),
            chunk(entry(0, None, None, '{"x"')),
            chunk(entry(1, None, None, '{"y":')),
            chunk(entry(0, None, None, ":1}")),
            chunk(entry(1, None, None, "2}")),
        ),
        TWO,
    ),
    "15 agent-framework#8337 a fragment without id belongs to its index": (
        lambda: chat(
            chunk(entry(0, "a", "f", ""), entry(1, "b", "g", '{"y":2}')), chunk(entry(0, None, None, '{"x":1}'))
        ),
        TWO,
    ),
    "16 Qwen-Agent#943 the same, ids empty": (
        lambda: chat(
            chunk(entry(0, "a", "f", "")), chunk(entry(1, "b", "g", '{"y":2}')), chunk(entry(0, "", "", '{"x":1}'))
        ),
        TWO,
    ),
    "17 plexus#691 a bridge gives index 0 to each call": (
        lambda: chat(
            chunk(entry(0, "a", "f", "")),
            chunk(entry(0, None, None, '{"x":1}')),
            chunk(entry(0, "b", "g", "")),
            chunk(entry(0, None, None, '{"y":2}')),
        ),
        TWO,
    ),
    "18 opencode2api#17 name on index 0, arguments on index 1": (
        lambda: chat(chunk(entry(0, "a", "f", "")), chunk(entry(1, None, None, '{"x":1}'))),
        TWO[:1],
    ),
    "19 mcp-use#2550 Responses deltas carry item_id, never call_id": (
        lambda: responses(
            created(),
            added(item("fc_1", "a", "f")),
            added(item("fc_2", "b", "g"), 1),
            grows("fc_2", '{"y":2}'),
            grows("fc_1", '{"x":1}'),
            done(item("fc_2", "b", "g", '{"y":2}'), 1),
            done(item("fc_1", "a", "f", '{"x":1}')),
            completed(),
        ),
        TWO[::-1],
    ),
    "20 litellm#20711 deltas after the first have id null": (
        lambda: chat(
            chunk({"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}}),
            *(chunk({"index": 0, "id": None, "function": {"name": None, "arguments": t}}) for t in ('{"x"', ":", "1}")),
        ),
        TWO[:1],
    ),
    "21 litellm#4537, ogx#5462 the start's input {} is no prefix": (
        lambda: anthropic(started(), block(0, "a", "f"), piece(0, '{"x":1}'), stop(0)),
        TWO[:1],
    ),
    "22 litellm#5063 a call without arguments is {}": (
        lambda: anthropic(started(), block(0, "a", "f"), piece(0, ""), stop(0)),
        [("a", "f", {})],
    ),
    '23 vllm#34887 a first fragment {" is kept': (
        lambda: chat(
            chunk(entry(0, "a", "f", '{"')), chunk(entry(0, None, None, 'x":')), chunk(entry(0, None, None, "1}"))
        ),
        TWO[:1],
    ),
    "24 litellm#25390 a bridge that puts the input into the start": (
        lambda: anthropic(started(), block(0, "a", "f", input={"x": 1}), stop(0)),
        TWO[:1],
    ),
    "25 vllm#42696 continuations without id, name or type": (
        lambda: chat(chunk(entry(0, "a", "f")), chunk({"index": 0, "function": {"arguments": '{"x":1}'}})),
        TWO[:1],
    ),
    "26 llama_index#21693 a repeated id stays one id": (
        lambda: chat(chunk(entry(0, "a", "f", '{"x"')), chunk(entry(0, "a", "f", ":1}"))),
        TWO[:1],
    ),
    "27 crewAI#5739 Bedrock deltas are joined": (
        lambda: bedrock(
            use(0, "a", "f"), fills(0, '{"x"'), fills(0, ":1}"), ends(0), ("messageStop", {"stopReason": "t"})
        ),
        TWO[:1],
    ),
    "28 hermes-agent#107472 Bedrock blocks by index, not by arrival": (
        lambda: bedrock(use(3, "a", "f"), use(1, "b", "g"), fills(1, '{"y":2}'), fills(3, '{"x":1}'), ends(3), ends(1)),
        TWO,
    ),
    "29 weave#7222 unknown delta kinds pass by": (
        lambda: anthropic(
            started(),
            block(0, "a", "f"),
            piece(0, "?", "citations_delta", "x"),
            piece(0, '{"x":1}'),
            piece(9, "!", "new"),
            stop(0),
        ),
        TWO[:1],
    ),
    "30 dd-trace-js#8079 thinking and signature deltas do not mix in": (
        lambda: anthropic(
            started(),
            {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
            piece(0, '{"no":', "thinking_delta", "thinking"),
            piece(0, "c2ln", "signature_delta", "signature"),
            stop(0),
            block(1, "a", "f"),
            piece(1, '{"x":1}'),
            stop(1),
        ),
        TWO[:1],
    ),
    "32 cherry-studio#16921 calls of one name without id stay apart": (
        lambda: gemini(candidate(fn("f", x=1), fn("f", x=2)), candidate(fn("f", x=3), finish="STOP")),
        [(None, "f", {"x": n}) for n in (1, 2, 3)],
    ),
    "43 haystack#3321 Ollama's ids are kept": (
        lambda: ollama({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": {"x": 1}}}]}),
        TWO[:1],
    ),
    "44 endolith#315 not only the first of several": (
        lambda: chat(chunk(entry(0, "a", "f", '{"x":1}'), entry(1, "b", "g", '{"y":2}'))),
        TWO,
    ),
}
SAME_INDEX = {
    "8 ollama#15457": [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')],
    "9 litellm#33678": [("a", "read", '{"path":"a.rs"}'), ("b", "read", '{"path":"b.rs"}')],
    "10 vercel/ai#14277": [("a", "f", "{}"), ("b", "f", "{}")],
    "11 smolagents#1958": [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}'), ("c", "f", '{"x":3}')],
    "12 dynamo#4723": [("a", "f", '{"x":1}'), ("b", "f", '{"x":1}')],
    "13 langchain#34811": [("a", "f", ""), ("b", "g", '{"y":2}')],
}


@pytest.mark.parametrize("report", REPORTS)
def test_the_reported_stream_is_read_right(report):
    make, expected = REPORTS[report]
    assert brief(make()) == expected


@pytest.mark.parametrize("report", SAME_INDEX)
@pytest.mark.parametrize("together", [True, False], ids=["one chunk", "a chunk each"])
def test_other_ids_on_index_0_are_other_calls(report, together):
    entries = [entry(0, *said) for said in SAME_INDEX[report]]
    events = chat(chunk(*entries)) if together else chat(*map(chunk, entries))
    assert brief(events) == [(i, n, json.loads(a) if a else "") for i, n, a in SAME_INDEX[report]]


def test_31_cliproxyapi_5199_permuted_results_find_their_calls():
    said = [{"name": "g", "response": {}}, {"name": "f", "response": {"n": 1}}, {"name": "f", "response": {"n": 2}}]
    contents = [
        {"role": "model", "parts": [fn("f", n=1), fn("f", n=2), fn("g")]},
        {"role": "user", "parts": [{"functionResponse": r} for r in said]},
    ]
    found = results(gemini(candidate({"text": "ok"}), contents=contents))
    assert [(r.name, r.extra["ordinal"]) for r in found] == [("g", 2), ("f", 0), ("f", 1)]


def test_33_open_webui_28570_the_same_id_in_each_response_is_a_call_each_time():
    shared = {}
    for _ in range(2):
        events = chat(chunk(entry(0, "search_web:0", "search_web", "{}")), shared=shared)
        assert brief(events) == [("search_web:0", "search_web", {})]


TEXT = "größe 北京 \u2028 🦔"
TRANSPORT = {
    "34 praxis#739 LF": {},
    "35 aisix#111 UTF-8 cut anywhere": {"end": "\n"},
    "36 headroom#649 CRLF": {"end": "\r\n"},
    "37 ccs#1359 CR": {"end": "\r"},
    "38 vercel/ai#6200 no space after the colon": {"space": ""},
}


@pytest.mark.parametrize("report", TRANSPORT)
def test_however_the_bytes_arrive_the_arguments_are_the_same(report):
    first, last = chunk(entry(0, "a", "f", '{"t":"' + TEXT)), chunk(entry(0, None, None, '"}'), finish="tool_calls")
    body = sse(first, last, "[DONE]", **TRANSPORT[report])
    for pieces in cuts(body):
        assert brief(exchange(body, {"messages": []}, pieces=pieces)) == [("a", "f", {"t": TEXT})]


def test_codex_lb_1854_u_2028_is_not_the_end_of_a_line():
    body = sse(created(), done(item(args=json.dumps({"t": TEXT}, ensure_ascii=False))), completed(), named=True)
    assert b"\xe2\x80\xa8" in body
    assert calls(exchange(body, {"input": "x"}))[0].arguments == {"t": TEXT}


# Field notes: proxies that broke traffic or lost evidence, where the input is small.


def test_only_an_arguments_done_event_and_no_deltas():
    said = {"type": "response.function_call_arguments.done", "item_id": "fc_1", "arguments": '{"x":1}'}
    events = responses(created(), added(item()), said, done({**item(), "arguments": ""}), completed())
    assert brief(events) == [("call_1", "run", {"x": 1})]


def test_an_empty_arguments_delta_ends_nothing():
    events = chat(chunk(entry(0, "a", "f", "")), chunk(entry(0, None, None, "")), chunk(entry(0, None, None, "{}")))
    assert brief(events) == [("a", "f", {})]


def test_two_choices_keep_their_calls_apart():
    events = chat(
        chunk(entry(0, "a", "f", '{"x"')),
        chunk(entry(0, "b", "g", '{"y"'), choice=1),
        chunk(entry(0, None, None, ":1}"), finish="tool_calls"),
        chunk(entry(0, None, None, ":2}"), choice=1, finish="tool_calls"),
        finish=None,
    )
    assert brief(events) == TWO
    assert [c.batch for c in calls(events)] == [0, 1]


def test_a_socket_that_dies_inside_the_arguments_leaves_an_incomplete_call():
    body = sse(started(), block(0, "a", "rm"), piece(0, '{"path": "/sr'), named=True)
    assert brief(exchange(body, {"messages": []})) == [("a", "rm…", '{"path": "/sr')]


def test_a_valid_end_after_cut_arguments_does_not_make_them_whole():
    events = chat(chunk(entry(0, "a", "f", '{"x": [1,')), finish=None)
    assert brief(events) == [("a", "f…", '{"x": [1,')]


def test_quotes_and_pipes_in_a_long_command_stay():
    command = 'grep -E "a\\"b|c" x | awk \'{print $1}\' ' * 20
    text = json.dumps({"command": command})
    events = anthropic(started(), block(0), *(piece(0, text[i : i + 7]) for i in range(0, len(text), 7)), stop(0))
    assert calls(events)[0].arguments == {"command": command}


def test_an_integer_beyond_two_to_the_53_is_not_rounded():
    text = '{"n": 9007199254740993, "m": 123456789012345678901234567890}'
    found = calls(chat(chunk(entry(0, "a", "f", text))))[0]
    assert found.arguments == {"n": 9007199254740993, "m": 123456789012345678901234567890}


def test_an_error_inside_a_200_is_a_fact_and_what_was_open_is_incomplete():
    failed = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    events = anthropic(started(), block(0), piece(0, '{"a'), failed)
    assert [c.complete for c in calls(events)] == [False]


def test_a_denied_result_is_only_marked_when_the_wire_marks_it():
    blocks = [{"type": "tool_result", "tool_use_id": "a", "content": "Permission denied"}]
    events = anthropic(started(), request={"messages": [{"role": "user", "content": blocks}]})
    assert [r.outcome for r in results(events)] == [Outcome.UNKNOWN]
