"""The vendors' own SDKs through a live onlooker: they get what was sent, and each call is in the log."""

import json
from pathlib import Path

import anthropic
import openai
import pytest

SIZES = [1, 7, 64, 100_000]
TOOL = {
    "name": "Bash",
    "description": "run",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
}
FUNCTION = {
    "type": "function",
    "function": {"name": "run", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
}


def anthropic_at(live, case):
    return anthropic.Anthropic(api_key="sk-ant-key", base_url=f"{live.base}/up/{case}", max_retries=0)


def openai_at(live, case):
    return openai.OpenAI(api_key="sk-key", base_url=f"{live.base}/up/{case}/v1", max_retries=0)


@pytest.mark.parametrize("size", SIZES)
def test_anthropic_streamed(live, upstream, bodies, size):
    case, call = f"as{size}", f"toolu_as{size:08}"
    upstream.chunked(case, bodies.cuts(bodies.anthropic(call), size))
    with (
        anthropic_at(live, case) as client,
        client.messages.stream(
            model="m-1", max_tokens=9, tools=[TOOL], messages=[{"role": "user", "content": "x"}]
        ) as stream,
    ):
        block = stream.get_final_message().content[0]
    assert (block.id, block.name, block.input) == (call, "Bash", {"command": "rm -rf /srv/größe"})
    (action,) = live.calls(call)
    assert action["call"]["arguments"] == block.input
    assert action["exchange"]["protocol"] == "anthropic-messages"
    assert (action["call"]["advertised"], action["call"]["schema_valid"]) == ("yes", True)


def test_anthropic_whole(live, upstream):
    block = {"type": "tool_use", "id": "toolu_whole001", "name": "Bash", "input": {"command": "id"}}
    usage = {"input_tokens": 1, "output_tokens": 2}
    message = {"id": "msg_w", "type": "message", "role": "assistant", "model": "m", "content": [block]}
    whole = message | {"stop_reason": "tool_use", "stop_sequence": None, "usage": usage}
    upstream.answer("aw", json.dumps(whole).encode(), content_type="application/json")
    with anthropic_at(live, "aw") as client:
        answer = client.messages.create(
            model="m", max_tokens=9, tools=[TOOL], messages=[{"role": "user", "content": "x"}]
        )
    assert answer.content[0].input == {"command": "id"}
    (action,) = live.calls("toolu_whole001")
    assert action["exchange"]["usage"]["output"] == 2


@pytest.mark.parametrize("size", SIZES)
def test_openai_streamed(live, upstream, bodies, size):
    case, call = f"os{size}", f"call_os{size}"
    upstream.chunked(case, bodies.cuts(bodies.openai(call), size))
    got = {"id": None, "name": None, "arguments": ""}
    with openai_at(live, case) as client:
        for chunk in client.chat.completions.create(
            model="m", stream=True, tools=[FUNCTION], messages=[{"role": "user", "content": "x"}]
        ):
            for part in chunk.choices[0].delta.tool_calls or ():
                got["id"] = part.id or got["id"]
                got["name"] = part.function.name or got["name"]
                got["arguments"] += part.function.arguments or ""
    assert (got["id"], got["name"], json.loads(got["arguments"])) == (call, "run", {"command": "ls -la"})
    (action,) = live.calls(call)
    assert action["call"]["arguments"] == {"command": "ls -la"}
    assert action["exchange"]["protocol"] == "openai-chat"


def test_openai_whole_with_two_calls_and_their_results_in_the_next_request(live, upstream):
    calls = [
        {
            "id": f"call_two{n}",
            "type": "function",
            "function": {"name": "run", "arguments": json.dumps({"command": f"echo {n}"})},
        }
        for n in (1, 2)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    whole = {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    done = whole | {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]
    }
    upstream.answer(
        "ow",
        json.dumps(whole | {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}).encode(),
        content_type="application/json",
    )
    history = [{"role": "user", "content": "two, please"}]
    with openai_at(live, "ow") as client:
        first = client.chat.completions.create(model="m", tools=[FUNCTION], messages=history)
        upstream.answer("ow", json.dumps(done).encode(), content_type="application/json")
        results = [{"role": "tool", "tool_call_id": c["id"], "content": f"out {n}"} for n, c in enumerate(calls)]
        for _ in range(2):  # a client that sends its history twice
            client.chat.completions.create(model="m", tools=[FUNCTION], messages=[*history, message, *results])
    assert [c.id for c in first.choices[0].message.tool_calls] == ["call_two1", "call_two2"]
    actions = live.calls("call_two1", "call_two2")
    outcomes = live.wait(lambda r: r["kind"] == "outcome" and r["action"] in {a["id"] for a in actions}, 2)
    assert sorted(o["action"] for o in outcomes) == sorted(a["id"] for a in actions)
    assert len({a["session"]["id"] for a in actions}) == 1


def test_the_keys_of_the_clients_are_nowhere_in_the_state(live, upstream, bodies):
    asked = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True}
    upstream.answer("ka", bodies.anthropic("toolu_keys0001"), content_type="text/event-stream")
    upstream.answer("ko", bodies.openai("call_keys1"), content_type="text/event-stream")
    with anthropic_at(live, "ka") as one, openai_at(live, "ko") as other:
        assert list(one.messages.create(max_tokens=9, **asked))
        assert list(other.chat.completions.create(**asked))
    live.calls("toolu_keys0001", "call_keys1")
    for root in (Path(live.instance.config.state), Path(live.instance.config.spool.dir)):
        for path in root.rglob("*"):
            if path.is_file():
                data = path.read_bytes()
                assert b"sk-ant-key" not in data, path
                assert b"sk-key" not in data, path
