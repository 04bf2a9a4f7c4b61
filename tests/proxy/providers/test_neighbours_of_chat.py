"""Chat completions that are almost the usual one: each differs in one thing a server, a gateway or an attacker may do."""

from __future__ import annotations

import json

import pytest

from proxy.exchange import Ending

from .streams import (
    brief,
    chat,
    chunk,
    entry,
    exchange,
)

RUN = [("a", "run", {"x": 1})]
CUT = {"ending": Ending.TRUNCATED}


def line(text):
    """One event's JSON as written, for what ``json.dumps`` would not write."""
    return f"data: {text}\n\n".encode()


def raw_chat(*lines, **more):
    return exchange(b"".join(lines), {"messages": []}, target="/v1/chat/completions", **more)


def whole_chat(message, finish="tool_calls", **more):
    body = {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}
    return exchange(body, {"messages": []}, target="/v1/chat/completions", **more)


HEAD = '{"object":"chat.completion.chunk","choices":[{"delta":{"tool_calls":[{'
FULL = entry(0, "a", "run", '{"x":1}')

CHAT = {
    "keys in the opposite order": (
        lambda: raw_chat(
            line(
                '{"choices":[{"finish_reason":"tool_calls","delta":{"tool_calls":[{"function":{"arguments":"{\\"x\\":1}",'
                '"name":"run"},"type":"function","id":"a","index":0}]},"index":0}],"object":"chat.completion.chunk"}'
            )
        ),
        RUN,
    ),
    "the name in escaped unicode": (
        lambda: raw_chat(
            line(HEAD + '"index":0,"id":"a","function":{"name":"\\u0072un","arguments":"{\\"x\\":1}"}}]}}]}'),
            line('{"choices":[{"delta":{},"finish_reason":"stop"}]}'),
        ),
        RUN,
    ),
    "the key tool_calls in escaped unicode": (
        lambda: raw_chat(
            line('{"object":"chat.completion.chunk","choices":[{"delta":{"content":"I"}}]}'),
            line(
                '{"choices":[{"delta":{"\\u0074ool_calls":[{"index":0,"id":"a","function":{"name":"run",'
                '"arguments":"{\\"x\\":1}"}}]},"finish_reason":"tool_calls"}]}'
            ),
        ),
        RUN,
    ),
    "a key twice: the last one counts, as in every client": (
        lambda: raw_chat(
            line(
                HEAD + '"index":0,"id":"a","function":{"name":"walk","name":"run","arguments":"{\\"x\\":1}"}}]},'
                '"finish_reason":"tool_calls"}]}'
            )
        ),
        RUN,
    ),
    "a call in the text": (
        lambda: chat(chunk(content='{"tool_calls":[{"id":"a","function":{"name":"run"}}]}'), finish="stop"),
        [],
    ),
    "a call in the reasoning": (lambda: chat(chunk(reasoning_content='{"name":"run","arguments":{}}')), []),
    "two calls whose fragments alternate": (
        lambda: chat(
            chunk(entry(0, "a", "run", "")),
            chunk(entry(1, "b", "run", "")),
            chunk(entry(0, args='{"x"')),
            chunk(entry(1, args='{"y"')),
            chunk(entry(1, args=":2}"), entry(0, args=":1}")),
        ),
        [("a", "run", {"x": 1}), ("b", "run", {"y": 2})],
    ),
    "indexes with gaps, backwards": (
        lambda: chat(chunk(entry(7, "b", "g", "{}")), chunk(entry(3, "a", "f", "{}"))),
        [("b", "g", {}), ("a", "f", {})],
    ),
    "no id at all": (lambda: chat(chunk(entry(0, None, "run", '{"x":1}'))), [(None, "run", {"x": 1})]),
    "the id comes after the name": (
        lambda: chat(chunk(entry(0, None, "run", '{"x"')), chunk(entry(0, "a", None, ":1}"))),
        RUN,
    ),
    "the name comes after the id": (
        lambda: chat(chunk(entry(0, "a", None, "")), chunk(entry(0, None, "run", '{"x":1}'))),
        RUN,
    ),
    "another id on the index is another call": (
        lambda: chat(chunk(entry(0, "a", "run", '{"x":1}')), chunk(entry(0, "b", "run", "{}"))),
        [*RUN, ("b", "run", {})],
    ),
    "empty deltas between": (
        lambda: chat(
            chunk(entry(0, "a", "run", "")),
            chunk(),
            chunk(entry(0, args="")),
            chunk(entry(0, args='{"x":1}')),
            chunk(entry(0, args="")),
        ),
        RUN,
    ),
    "a delta that is null": (
        lambda: chat(chunk(FULL), {"choices": [{"index": 0, "delta": None, "finish_reason": None}]}),
        RUN,
    ),
    "tool_calls that is null": (lambda: chat(chunk(tool_calls=None), chunk(FULL)), RUN),
    "choices that is null, then empty": (lambda: chat({"choices": None}, chunk(FULL), {"choices": []}), RUN),
    "no finish reason, [DONE]": (lambda: chat(chunk(FULL), "[DONE]", finish=None), RUN),
    "a finish reason, no [DONE]": (lambda: chat(chunk(FULL, finish="tool_calls"), finish=None), RUN),
    "neither, but the text is whole": (lambda: chat(chunk(FULL), finish=None), RUN),
    "neither, and cut off": (lambda: chat(chunk(FULL), finish=None, **CUT), [("a", "run…", {"x": 1})]),
    "neither, and the text is not whole": (
        lambda: chat(chunk(entry(0, "a", "run", '{"x"')), finish=None),
        [("a", "run…", '{"x"')],
    ),
    "an error in the middle": (
        lambda: chat(chunk(entry(0, "a", "run", '{"x"')), {"error": {"message": "over"}}, finish=None),
        [("a", "run…", '{"x"')],
    ),
    "an error after a whole call": (lambda: chat(chunk(FULL), {"error": {"message": "over"}}, finish=None), RUN),
    "a limit in the second of two calls": (
        lambda: chat(chunk(FULL), chunk(entry(1, "b", "run", '{"y"')), finish="length"),
        [*RUN, ("b", "run…", '{"y"')],
    ),
    "a refusal": (lambda: chat(chunk(refusal="I will not call run."), finish="stop"), []),
    "a content filter after the call": (lambda: chat(chunk(FULL), finish="content_filter"), RUN),
    "two choices with the same index and id": (
        lambda: chat(
            chunk(FULL), chunk(entry(0, "a", "run", '{"x":2}'), choice=1), chunk(finish="tool_calls", choice=1)
        ),
        [("a", "run", {"x": 2}), *RUN],
    ),
    "stop though there are calls": (lambda: chat(chunk(FULL), finish="stop"), RUN),
    "the legacy function beside its text": (
        lambda: chat(
            chunk(content="now"),
            chunk(function_call={"name": "run", "arguments": '{"x"'}),
            chunk(function_call={"arguments": ":1}"}),
            finish="function_call",
        ),
        [(None, "run", {"x": 1})],
    ),
    "whole, and arguments are an object": (
        lambda: whole_chat({"tool_calls": [{"id": "a", "function": {"name": "run", "arguments": {"x": 1}}}]}),
        RUN,
    ),
    "whole, and arguments are encoded twice": (
        lambda: whole_chat({"tool_calls": [entry(0, "a", "run", json.dumps('{"x":1}'))]}),
        [("a", "run", '{"x":1}')],
    ),
    "whole, a name with a space and a slash": (
        lambda: whole_chat({"tool_calls": [entry(0, "a", " run / now", "{}")]}),
        [("a", " run / now", {})],
    ),
    "whole, an id that is a number": (
        lambda: whole_chat({"tool_calls": [entry(0, 7, "run", "{}")]}),
        [(7, "run", {})],
    ),
    "whole, history in the request is no call": (
        lambda: exchange(
            {"object": "chat.completion", "choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}]},
            {"messages": [{"role": "assistant", "tool_calls": [FULL]}]},
            target="/v1/chat/completions",
        ),
        [],
    ),
}


@pytest.mark.parametrize("what", CHAT)
def test_a_near_neighbour_is_read_right(what):
    make, expected = CHAT[what]
    assert brief(make()) == expected
