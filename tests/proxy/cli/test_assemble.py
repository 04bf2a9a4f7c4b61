"""``onlooker assemble``: folders and lists in, one line of JSON each out; what is wrong is said on its own line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from proxy.cli.assemble import COMMAND
from tests.proxy.providers.streams import chunk, entry, sse

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
CASE = GOLDEN / "openai-chat" / "stream-parallel-interleaved"


def run(*args, stdin=None):
    done = CliRunner().invoke(COMMAND, [str(a) for a in args], input=stdin)
    return done.exit_code, [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("how", [(), ("--detect",)])
def test_each_folder_gives_one_line(how):
    code, lines = run(*how, CASE, GOLDEN / "gemini" / "array-in-pieces")
    assert code == 0
    assert [(line["dir"], line["api"]) for line in lines] == [
        (str(CASE), "openai-chat"),
        (str(GOLDEN / "gemini" / "array-in-pieces"), "gemini"),
    ]
    (first, _) = lines[0]["calls"]
    kept = ("id", "name", "arguments", "arguments_text", "arguments_valid", "executed_by", "complete", "kind", "status")
    assert [first[k] for k in kept] == [
        "call_1",
        "sow",
        {"bed": "süd"},
        '{"bed":"süd"}',
        True,
        "client",
        True,
        "function",
        None,
    ]
    assert lines[0]["unread"] == []


def test_a_list_on_standard_input_goes_on_after_a_bad_line():
    bad = ['{"dir": "/nowhere", "id": 7}', "{not json", '{"name": "x"}', "[]", '{"dir": 5}']
    code, lines = run("--jsonl", stdin="\n".join([*bad, json.dumps({"dir": str(CASE), "id": "c"})]) + "\n")
    assert code == 0
    assert ["error" in line for line in lines] == [True] * 5 + [False]
    assert (lines[0]["id"], lines[0]["dir"]) == (7, "/nowhere")
    assert (lines[-1]["id"], len(lines[-1]["calls"])) == ("c", 2)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "meta.json: no such file"),
        ({"meta.json": "{"}, "meta.json: not JSON"),
        ({"meta.json": "[]"}, "expected an object"),
        ({"meta.json": "{}"}, "response.body: no such file"),
        ({"meta.json": "{}", "response.body": "", "requests.jsonl": "nope"}, "requests.jsonl"),
    ],
)
def test_a_folder_that_is_no_case_is_exit_3_with_one_sentence(tmp_path, files, said):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    code, (line,) = run(tmp_path)
    assert code == 3
    assert said in line["error"]


def test_nothing_to_do_is_a_usage_error():
    assert run()[0] == 2


def session(tmp_path, *requests):
    (tmp_path / "meta.json").write_text(json.dumps({"content_type": "text/event-stream", "status": 200}))
    (tmp_path / "response.body").write_bytes(sse(chunk(content="ok", finish="stop")))
    (tmp_path / "requests.jsonl").write_text("".join(json.dumps(r) + "\n" for r in requests))
    return run("--detect", tmp_path)[1][0]


def turn(*messages, **more):
    return {
        "method": "POST",
        "path": "/v1/chat/completions",
        "headers": {},
        "body": {"messages": list(messages)},
        **more,
    }


def told(id_, content="out"):
    return {"role": "tool", "tool_call_id": id_, "content": content}


def called(id_):
    return {"role": "assistant", "tool_calls": [entry(None, id_, "f", "{}") | {"type": "function"}]}


def test_a_session_of_several_requests_prints_each_result_once(tmp_path):
    ask = {"role": "user", "content": "go"}
    line = session(
        tmp_path,
        turn(ask),
        turn(ask, called("a"), told("a")),
        turn(ask, called("a"), told("a"), called("b"), told("b")),
    )
    assert [(r["id"], r["name"], r["outcome"], r["source"]) for r in line["results"]] == [
        ("a", "f", "unknown", "request"),
        ("b", "f", "unknown", "request"),
    ]


def test_a_line_may_be_the_body_itself(tmp_path):
    line = session(
        tmp_path, {"messages": [called("a"), told("a")]}, turn(called("a"), told("a"), called("b"), told("b"))
    )
    assert [r["id"] for r in line["results"]] == ["a", "b"]


def test_an_id_used_again_in_a_later_round_is_another_result(tmp_path):
    first, again = [called("s:0"), told("s:0")], [called("s:0"), told("s:0")]
    assert len(session(tmp_path, turn(*first), turn(*first, *again))["results"]) == 2


def test_a_line_may_carry_its_own_reply(tmp_path):
    reply = sse(chunk(entry(0, "a", "f", "{}"), finish="tool_calls")).decode()
    line = session(
        tmp_path, turn(response={"content_type": "text/event-stream", "body": reply}), turn(called("a"), told("a"))
    )
    assert [c["id"] for c in line["calls"]] == ["a"]
    assert [r["id"] for r in line["results"]] == ["a"]
