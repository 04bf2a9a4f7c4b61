"""MCP, AG-UI, ACP and A2A exchanges that are almost the usual one: each differs in one thing the other side may do."""

from __future__ import annotations

import json

import pytest

from classifiers.call import ExecutedBy, Outcome

from .agui_stream import FINISHED, STARTED, args, calls, chunk, end, play, result, results, run_input, start
from .mcp_wire import answer, ask, call, failure, pipe, post, tell, text

Q = {"table": "t"}
ASKED = [(1, "delete_rows", Q, True)]
RUN = [("c", "run_shell", {"x": 1}, True)]
TEXT = '{"x":1}'


def brief(events):
    """(id, name, arguments or their text, complete) of each call, and the outcome of each final result."""
    shown = [(c.id, c.name, c.arguments if c.arguments_valid else c.arguments_text, c.complete) for c in calls(events)]
    return shown, [r.outcome.value for r in results(events) if r.final]


def update(step="tool_call_update", **more):
    said = {"sessionUpdate": step, "toolCallId": "c1", **more}
    return "server", tell("session/update", sessionId="s1", update=said)


MCP = {
    "keys in the opposite order": (
        lambda: post(
            {"params": {"arguments": Q, "name": "delete_rows"}, "method": "tools/call", "id": 1, "jsonrpc": "2.0"},
            answer(text("ok", isError=False)),
        ),
        (ASKED, ["ok"]),
    ),
    "the method in escaped unicode": (
        lambda: post(json.dumps(call()).replace("tools/call", "tools\\u002fcall").encode(), answer(text("ok"))),
        (ASKED, ["unknown"]),
    ),
    "an id that is text": (
        lambda: post(call(ident="1"), answer(text("x"), "1")),
        ([("1", *ASKED[0][1:])], ["unknown"]),
    ),
    "an answer to another id": (lambda: post(call(), answer(text("x"), 2)), (ASKED, [])),
    "an id that is null": (
        lambda: post(call(ident=None), answer(text("x"), None)),
        ([(None, *ASKED[0][1:])], []),
    ),
    "no id, which asks for no answer": (
        lambda: post({k: v for k, v in call().items() if k != "id"}, status=202),
        ([(None, *ASKED[0][1:])], []),
    ),
    "a number answered as text": (lambda: post(call(), answer(text("x"), "1")), (ASKED, [])),
    "the answer twice": (
        lambda: post(call(), answer(text("x", isError=True)), answer(text("x", isError=True)), stream=True),
        (ASKED, ["error"]),
    ),
    "an error and a result": (
        lambda: post(call(), {**answer(text("x", isError=False)), "error": {"code": -1, "message": "m"}}),
        (ASKED, ["error"]),
    ),
    "an empty event and a comment first": (
        lambda: post(call(), ": hi", "data:", answer(text("x", isError=False)), stream=True),
        (ASKED, ["ok"]),
    ),
    "no answer": (lambda: post(call()), (ASKED, [])),
    "a stream cut off": (
        lambda: post(call(), stream=True, raw=b'data: {"jsonrpc":"2.0","id":1,"res'),
        (ASKED, []),
    ),
    "isError as text": (lambda: post(call(), answer(text("x", isError="true"))), (ASKED, ["unknown"])),
    "a call in the result's text": (
        lambda: post(call(), answer(text(json.dumps(call()), isError=False))),
        (ASKED, ["ok"]),
    ),
    "a call that the server asks for": (
        lambda: post(call(), call("other", 9), answer(text("x", isError=False)), stream=True),
        ([*ASKED, (9, "other", Q, True)], ["ok"]),
    ),
    "arguments that are a list": (
        lambda: post(call(arguments=[1])),
        ([(1, "delete_rows", [1], True)], []),
    ),
    "a name that is empty": (lambda: post(call(name="")), ([(1, "", Q, True)], [])),
    "a failure without a message": (
        lambda: post(call(), {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000}}),
        (ASKED, ["error"]),
    ),
}
AG_UI = {
    "two calls whose fragments alternate": (
        lambda: play(
            STARTED,
            start("c"),
            start("d"),
            args("d", '{"y":'),
            args("c", TEXT),
            args("d", "2}"),
            end("d"),
            end("c"),
            FINISHED,
        ),
        ([("d", "run_shell", {"y": 2}, True), *RUN], []),
    ),
    "empty arguments between": (
        lambda: play(STARTED, start("c"), args("c", ""), args("c", TEXT), args("c", ""), end("c"), FINISHED),
        (RUN, []),
    ),
    "no end": (lambda: play(STARTED, start("c"), args("c", TEXT), FINISHED), ([(*RUN[0][:3], False)], [])),
    "an end twice": (lambda: play(STARTED, start("c"), args("c", TEXT), end("c"), end("c"), FINISHED), (RUN, [])),
    "an error in the middle": (
        lambda: play(STARTED, start("c"), args("c", '{"x"'), {"type": "RUN_ERROR", "message": "m"}),
        ([("c", "run_shell", '{"x"', False)], []),
    ),
    "the answer twice": (
        lambda: play(STARTED, start("c"), args("c", TEXT), end("c"), result("c", "a"), result("c", "a"), FINISHED),
        (RUN, ["unknown"]),
    ),
    "an answer to a call nobody made": (lambda: play(STARTED, result("ghost", "a"), FINISHED), ([], ["unknown"])),
    "a call in the text": (
        lambda: play(
            STARTED, {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": json.dumps(start("c"))}, FINISHED
        ),
        ([], []),
    ),
    "a call inside rawEvent": (
        lambda: play(STARTED, {"type": "CUSTOM", "name": "n", "value": start("c"), "rawEvent": start("d")}, FINISHED),
        ([], []),
    ),
    "chunks only": (
        lambda: play(STARTED, chunk('{"x"', "c", "run_shell"), chunk(":1}"), FINISHED),
        (RUN, []),
    ),
    "history in the input is no call": (
        lambda: play(
            STARTED,
            FINISHED,
            request=run_input(
                {
                    "id": "m",
                    "role": "assistant",
                    "toolCalls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}],
                }
            ),
        ),
        ([], []),
    ),
    "an event type of tomorrow": (
        lambda: play(
            STARTED, {"type": "TOOL_CALL_DREAM", "toolCallId": "c"}, start("c"), args("c", TEXT), end("c"), FINISHED
        ),
        (RUN, []),
    ),
    "arguments that are no text": (
        lambda: play(
            STARTED,
            start("c"),
            {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": 7},
            args("c", TEXT),
            end("c"),
            FINISHED,
        ),
        (RUN, []),
    ),
}
ACP = {
    "an update nobody began": (
        lambda: pipe(update(title="Edit", kind="edit", rawInput={"path": "a"}, status="completed")),
        ([("c1", "Edit", {"path": "a"}, True)], ["ok"]),
    ),
    "the end twice": (
        lambda: pipe(
            update("tool_call", title="Edit", rawInput={"path": "a"}),
            update(status="completed"),
            update(status="completed"),
        ),
        ([("c1", "Edit", {"path": "a"}, True)], ["ok"]),
    ),
    "the title changes": (
        lambda: pipe(
            update("tool_call", title="Edit", rawInput={"path": "a"}), update(title="Edit a"), update(status="failed")
        ),
        ([("c1", "Edit", {"path": "a"}, True), ("c1", "Edit a", {"path": "a"}, True)], ["error"]),
    ),
    "a command for the editor's terminal": (
        lambda: pipe(
            ("server", ask("terminal/create", 5, sessionId="s1", command="rm", args=["-rf", "b"])),
            ("client", answer({"terminalId": "t"}, 5)),
        ),
        ([(5, "terminal/create", {"command": "rm", "args": ["-rf", "b"]}, True)], ["ok"]),
    ),
    "a call in the agent's message": (
        lambda: pipe(
            (
                "server",
                tell(
                    "session/update",
                    sessionId="s1",
                    update={"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "tool_call"}},
                ),
            )
        ),
        ([], []),
    ),
}
SENT = {"messageId": "m1", "role": "user", "parts": [{"text": "book"}]}
A2A = {
    "an answer to another id": (
        lambda: post(
            ask("message/send", 1, message=SENT), answer({"id": "t", "status": {"state": "completed"}}, 2), target="/a"
        ),
        1,
        [],
    ),
    "the final state twice": (
        lambda: post(
            ask("message/stream", 1, message=SENT),
            answer({"id": "t", "status": {"state": "completed"}}),
            answer({"id": "t", "status": {"state": "completed"}}),
            stream=True,
            target="/a",
        ),
        1,
        [Outcome.OK],
    ),
    "a state of tomorrow": (
        lambda: post(
            ask("message/send", 1, message=SENT), answer({"id": "t", "status": {"state": "dreaming"}}), target="/a"
        ),
        1,
        [],
    ),
    "a failure": (
        lambda: post(ask("message/send", 1, message=SENT), failure(-1, "m"), target="/a"),
        1,
        [Outcome.ERROR],
    ),
    "a look at a task is no call": (
        lambda: post(ask("tasks/get", 1, id="t"), answer({"id": "t", "status": {"state": "completed"}}), target="/a"),
        0,
        [],
    ),
}
TABLES = {"mcp": MCP, "ag-ui": AG_UI, "acp": ACP}
CASES = [(api, what) for api, table in TABLES.items() for what in table]


@pytest.mark.parametrize(("api", "what"), CASES, ids=[f"{a}: {w}" for a, w in CASES])
def test_a_near_neighbour_is_read_right(api, what):
    make, expected = TABLES[api][what]
    assert brief(make()) == expected


@pytest.mark.parametrize("what", A2A)
def test_a_message_that_is_almost_the_usual_one_is_one_call(what):
    make, count, outcomes = A2A[what]
    events = make()
    assert [c.executed_by for c in calls(events)] == [ExecutedBy.AGENT] * count
    assert [r.outcome for r in results(events) if r.final] == outcomes
