"""Model replies that are almost the usual one: each differs in one thing a server, a gateway or an attacker may do."""

from __future__ import annotations

import json

import pytest

from proxy.exchange import Ending

from .streams import (
    added,
    anthropic,
    bedrock,
    block,
    brief,
    candidate,
    completed,
    created,
    done,
    ends,
    fills,
    gemini,
    grows,
    item,
    piece,
    responses,
    started,
    stop,
    use,
)

RUN = [("a", "run", {"x": 1})]
CUT = {"ending": Ending.TRUNCATED}

MESSAGES = {
    "keys in the opposite order": (
        lambda: anthropic(
            started(),
            {
                "content_block": {"input": {}, "name": "run", "id": "a", "type": "tool_use"},
                "index": 0,
                "type": "content_block_start",
            },
            {
                "delta": {"partial_json": '{"x":1}', "type": "input_json_delta"},
                "index": 0,
                "type": "content_block_delta",
            },
            stop(0),
        ),
        RUN,
    ),
    "two blocks whose fragments alternate": (
        lambda: anthropic(
            started(),
            block(0, "a"),
            block(1, "b"),
            piece(1, '{"y":'),
            piece(0, '{"x":'),
            piece(0, "1}"),
            piece(1, "2}"),
            stop(1),
            stop(0),
        ),
        [("b", "run", {"y": 2}), ("a", "run", {"x": 1})],
    ),
    "indexes with gaps": (lambda: anthropic(started(), block(9, "a"), piece(9, '{"x":1}'), stop(9)), RUN),
    "text that looks like arguments": (
        lambda: anthropic(
            started(), block(0, "a"), piece(0, "lies", "text_delta", "text"), piece(0, '{"x":1}'), stop(0)
        ),
        RUN,
    ),
    "a call in the text": (
        lambda: anthropic(
            started(),
            block(0, kind="text"),
            piece(0, '{"type":"tool_use","id":"a","name":"run","input":{}}', "text_delta", "text"),
            stop(0),
        ),
        [],
    ),
    "no stop of the block": (
        lambda: anthropic(started(), block(0, "a"), piece(0, '{"x":1}'), {"type": "message_stop"}),
        [("a", "run…", {"x": 1})],
    ),
    "an error in the middle": (
        lambda: anthropic(
            started(), block(0, "a"), piece(0, '{"x"'), {"type": "error", "error": {"type": "overloaded"}}
        ),
        [("a", "run…", '{"x"')],
    ),
    "a stop that comes twice": (
        lambda: anthropic(started(), block(0, "a"), piece(0, '{"x":1}'), stop(0), stop(0)),
        RUN,
    ),
    "a delta after the stop": (
        lambda: anthropic(started(), block(0, "a"), piece(0, '{"x":1}'), stop(0), piece(0, "more")),
        RUN,
    ),
    "no message_start": (lambda: anthropic(block(0, "a"), piece(0, '{"x":1}'), stop(0)), RUN),
    "a refusal that stops the call": (
        lambda: anthropic(
            started(),
            block(0, "a"),
            piece(0, '{"x"'),
            {"type": "message_delta", "delta": {"stop_reason": "refusal"}},
            {"type": "message_stop"},
        ),
        [("a", "run…", '{"x"')],
    ),
    "no id": (
        lambda: anthropic(started(), block(0, ""), piece(0, '{"x":1}'), stop(0)),
        [(None, "run", {"x": 1})],
    ),
    "a block kind of tomorrow": (
        lambda: anthropic(
            started(), block(0, "z", kind="future_use"), stop(0), block(1, "a"), piece(1, '{"x":1}'), stop(1)
        ),
        RUN,
    ),
}

ONE = item(args='{"x":1}', call="a")
RESPONSES = {
    "no deltas": (lambda: responses(created(), added(ONE), done(ONE), completed(ONE)), RUN),
    "only the end": (lambda: responses(created(), completed(ONE)), RUN),
    "the end is empty": (lambda: responses(created(), added(ONE), done(ONE), completed()), RUN),
    "no end": (lambda: responses(created(), added(ONE), grows("fc_1", '{"x":1}'), done(ONE)), RUN),
    "cut off in the arguments": (
        lambda: responses(created(), added(ONE), grows("fc_1", '{"x"'), **CUT),
        [("a", "run…", '{"x"')],
    ),
    "failed in the middle": (
        lambda: responses(created(), added(ONE), grows("fc_1", '{"x"'), completed(status="failed")),
        [("a", "run…", '{"x"')],
    ),
    "two calls whose fragments alternate": (
        lambda: responses(
            created(),
            added(item("f1", "a"), 0),
            added(item("f2", "b"), 1),
            grows("f2", '{"y":'),
            grows("f1", '{"x":'),
            grows("f2", "2}"),
            grows("f1", "1}"),
            done(item("f2", "b", args=""), 1),
            done(item("f1", "a", args=""), 0),
            completed(),
        ),
        [("b", "run", {"y": 2}), ("a", "run", {"x": 1})],
    ),
    "the deltas disagree with the end, which counts": (
        lambda: responses(created(), added(ONE), grows("fc_1", '{"x":2}'), done(ONE), completed()),
        RUN,
    ),
    "the item comes twice": (lambda: responses(created(), added(ONE), done(ONE), done(ONE), completed(ONE)), RUN),
    "a call in the text": (
        lambda: responses(
            created(),
            {"type": "response.output_text.delta", "item_id": "m", "delta": json.dumps(ONE)},
            completed({"type": "message", "id": "m", "content": [{"type": "output_text", "text": json.dumps(ONE)}]}),
        ),
        [],
    ),
    "deltas of an item nobody opened": (
        lambda: responses(created(), grows("ghost", '{"x":1}'), completed()),
        [],
    ),
    "a refusal": (
        lambda: responses(created(), {"type": "response.refusal.done", "refusal": "no call"}, completed()),
        [],
    ),
}


def fn(name="run", **more):
    return {"functionCall": {"name": name, "args": {"x": 1}, **more}}


GEMINI = {
    "an id of its own": (lambda: gemini(candidate(fn(id="a"), finish="STOP")), RUN),
    "no id": (lambda: gemini(candidate(fn(), finish="STOP")), [(None, "run", {"x": 1})]),
    "no finish reason": (lambda: gemini(candidate(fn(id="a"))), RUN),
    "no args": (lambda: gemini(candidate({"functionCall": {"name": "run", "id": "a"}})), [("a", "run", {})]),
    "text and two calls in one part list": (
        lambda: gemini(candidate({"text": "functionCall"}, fn(id="a"), fn("go", id="b"))),
        [*RUN, ("b", "go", {"x": 1})],
    ),
    "two candidates": (
        lambda: gemini(candidate(fn(id="a")), candidate(fn("go", id="b"), index=1)),
        [*RUN, ("b", "go", {"x": 1})],
    ),
    "a thought beside it": (
        lambda: gemini(candidate({"text": "hm", "thought": True}, {**fn(id="a"), "thoughtSignature": "AA=="})),
        RUN,
    ),
    "blocked": (lambda: gemini({"promptFeedback": {"blockReason": "SAFETY"}}), []),
    "an error after the call": (lambda: gemini(candidate(fn(id="a")), {"error": {"code": 503, "message": "m"}}), RUN),
}

BEDROCK = {
    "two blocks whose fragments alternate": (
        lambda: bedrock(
            use(0, "a"), use(1, "b"), fills(1, '{"y":'), fills(0, '{"x":1}'), fills(1, "2}"), ends(1), ends(0)
        ),
        [("b", "run", {"y": 2}), ("a", "run", {"x": 1})],
    ),
    "no stop of the block": (
        lambda: bedrock(use(0, "a"), fills(0, '{"x":1}'), ("messageStop", {"stopReason": "tool_use"})),
        [("a", "run…", {"x": 1})],
    ),
    "an exception in the middle": (
        lambda: bedrock(use(0, "a"), fills(0, '{"x"'), ("!throttlingException", {"message": "slow"})),
        [("a", "run…", '{"x"')],
    ),
    "indexes with gaps": (lambda: bedrock(use(5, "a"), fills(5, '{"x":1}'), ends(5)), RUN),
    "deltas of a block nobody opened": (lambda: bedrock(fills(3, '{"x":1}'), ends(3)), []),
    "text in the block before": (
        lambda: bedrock(
            ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": '{"toolUse":{"name":"run"}}'}}),
            ends(0),
            use(1, "a"),
            fills(1, '{"x":1}'),
            ends(1),
        ),
        RUN,
    ),
}
TABLES = {"messages": MESSAGES, "responses": RESPONSES, "gemini": GEMINI, "bedrock": BEDROCK}
CASES = [(api, what) for api, table in TABLES.items() for what in table]


@pytest.mark.parametrize(("api", "what"), CASES, ids=[f"{a}: {w}" for a, w in CASES])
def test_a_near_neighbour_is_read_right(api, what):
    make, expected = TABLES[api][what]
    assert brief(make()) == expected
