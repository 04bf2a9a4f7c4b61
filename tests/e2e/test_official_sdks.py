"""Each vendor's own client, streamed and whole, through a live onlooker: it gets the call, the log has it once, no byte differs.

Opt-in (``make test-agents``, dependency group ``sdks``): the clients are large and none is needed to build anything.
"""

import asyncio
import base64
import importlib
import json
import warnings

import pytest
from aiohttp import web

from tests.proxy.providers.streams import (
    added,
    candidate,
    chunk,
    completed,
    created,
    done,
    ends,
    entry,
    fills,
    grows,
    item,
    sse,
    stream,
    use,
)

pytestmark = [
    pytest.mark.agents,
    # The clients warn of their own parts (bytes left to the collector, pydantic serialisers, old event loops).
    pytest.mark.filterwarnings("ignore"),
]
ARGS = {"command": "rm -rf /srv/größe"}
TEXT = json.dumps(ARGS, ensure_ascii=False)
HALVES = (TEXT[:9], TEXT[9:])
SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
JSON, EVENTS, AWS = "application/json", "text/event-stream", "application/vnd.amazon.eventstream"
FUNCTION = {"type": "function", "function": {"name": "Bash", "description": "d", "parameters": SCHEMA}}
ASK = [{"role": "user", "content": "x"}]


def library(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return importlib.import_module(name)
        except ImportError:
            pytest.skip(f"{name} is not installed (dependency group sdks)")


# --- replies, as each API shapes them


def chat_whole(call, arguments=TEXT):
    function = {"name": "Bash", "arguments": arguments}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def chat_events(call):
    pieces = [entry(0, call, "Bash", HALVES[0]) | {"type": "function"}, entry(0, None, None, HALVES[1])]
    chunks = [chunk(p) for p in pieces] + [chunk(finish="tool_calls")]
    return sse(*[c | {"created": 1} for c in chunks], "[DONE]")


def mistral_events(call):
    """The whole call in one chunk: its client refuses a piece without a name."""
    whole = chunk(entry(0, call, "Bash", TEXT), finish="tool_calls")
    return sse(whole | {"created": 1}, "[DONE]")


def response_object(*items):
    more = {"created_at": 1.0, "model": "m", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return {"id": "resp_1", "object": "response", "status": "completed", "output": list(items), **more}


def response_events(call):
    one = item(f"fc_{call}", call, "Bash", TEXT, status="completed")
    events = [
        created(),
        added(one),
        *(grows(f"fc_{call}", h, output_index=0) for h in HALVES),
        done(one),
        completed(one),
    ]
    for number, event in enumerate(events):
        event["sequence_number"] = number
        if "response" in event:
            event["response"] = response_object(*event["response"]["output"])
    return events


def anthropic_whole(call):
    block = {"type": "tool_use", "id": call, "name": "Bash", "input": ARGS}
    usage = {"input_tokens": 1, "output_tokens": 2}
    base = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [block]}
    return base | {"stop_reason": "tool_use", "stop_sequence": None, "usage": usage}


def gemini_chunk(call):
    return candidate({"functionCall": {"id": call, "name": "Bash", "args": ARGS}}, finish="STOP")


def converse_whole(call):
    message = {"role": "assistant", "content": [{"toolUse": {"toolUseId": call, "name": "Bash", "input": ARGS}}]}
    usage = {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}
    return {"output": {"message": message}, "stopReason": "tool_use", "usage": usage, "metrics": {"latencyMs": 1}}


def converse_events(call):
    last = ("messageStop", {"stopReason": "tool_use"})
    return stream(
        ("messageStart", {"role": "assistant"}), use(0, call, "Bash"), *(fills(0, h) for h in HALVES), ends(0), last
    )


def invoke_events(call):
    events = [
        {"type": "message_start", "message": anthropic_whole(call) | {"content": [], "stop_reason": None}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": call, "name": "Bash", "input": {}},
        },
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": h}}
            for h in HALVES
        ),
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    return stream(*(("chunk", {"bytes": base64.b64encode(json.dumps(e).encode()).decode()}) for e in events))


def cohere_events(call):
    def said(kind, index, function, **more):
        calls = {"function": function, **more}
        return {"type": kind, "index": index, "delta": {"message": {"tool_calls": calls}}}

    finish = {"finish_reason": "TOOL_CALL", "usage": {"tokens": {"input_tokens": 1, "output_tokens": 2}}}
    events = [
        {"type": "message-start", "id": "c", "delta": {"message": {"role": "assistant"}}},
        said("tool-call-start", 0, {"name": "Bash", "arguments": ""}, id=call, type="function"),
        *(said("tool-call-delta", 0, {"arguments": h}) for h in HALVES),
        {"type": "tool-call-end", "index": 0},
        {"type": "message-end", "delta": finish},
    ]
    return sse(*events, named=True)


def cohere_whole(call):
    message = chat_whole(call)["choices"][0]["message"] | {"tool_plan": "p"}
    return {"id": "c", "message": message, "finish_reason": "TOOL_CALL"}


def ollama_line(call, finished):
    function = {"name": "Bash", "arguments": ARGS}
    message = {"role": "assistant", "content": "", "tool_calls": [{"id": call, "function": function}]}
    return {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": finished}


def lines(call):
    end = {
        "model": "m",
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": ""},
        "done": True,
    }
    return b"".join(json.dumps(v).encode() + b"\n" for v in (ollama_line(call, finished=False), end))


# --- clients: the calls each one gives its user, as (name, arguments)


def chat_streamed(client):
    name, text = None, ""
    for part in client.chat.completions.create(model="m", messages=ASK, tools=[FUNCTION], stream=True):
        for said in part.choices[0].delta.tool_calls or ():
            name, text = said.function.name or name, text + (said.function.arguments or "")
    return [(name, json.loads(text))]


def chat_plain(client):
    made = client.chat.completions.create(model="m", messages=ASK, tools=[FUNCTION])
    return [(c.function.name, json.loads(c.function.arguments)) for c in made.choices[0].message.tool_calls]


def openai_client(url):
    return library("openai").OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0)


def groq_client(url):
    return library("groq").Groq(api_key="k", base_url=url, max_retries=0)


FLAT = [{"type": "function", "name": "Bash", "parameters": SCHEMA}]


def responses_streamed(url):
    stream_ = openai_client(url).responses.create(model="m", input="x", tools=FLAT, stream=True)
    items = [e.item for e in stream_ if e.type == "response.output_item.done"]
    return [(i.name, json.loads(i.arguments)) for i in items]


def responses_plain(url):
    made = openai_client(url).responses.create(model="m", input="x", tools=FLAT)
    return [(i.name, json.loads(i.arguments)) for i in made.output]


BETA = {"model": "m", "max_tokens": 9, "messages": ASK, "betas": ["token-efficient-tools-2025-02-19"]}
OWN = [{"name": "Bash", "input_schema": SCHEMA}]


def anthropic_streamed(url):
    client = library("anthropic").Anthropic(api_key="k", base_url=url, max_retries=0)
    with client.beta.messages.stream(tools=OWN, **BETA) as stream_:
        return [(b.name, b.input) for b in stream_.get_final_message().content]


def anthropic_plain(url):
    client = library("anthropic").Anthropic(api_key="k", base_url=url, max_retries=0)
    return [(b.name, b.input) for b in client.beta.messages.create(tools=OWN, **BETA).content]


def gemini_(url, streamed):
    genai = library("google.genai")
    client = genai.Client(api_key="k", http_options={"base_url": url})
    tools = [{"function_declarations": [{"name": "Bash", "parameters_json_schema": SCHEMA}]}]
    asked = {"model": "g", "contents": "x", "config": {"tools": tools, "automatic_function_calling": {"disable": True}}}
    made = client.models.generate_content_stream(**asked) if streamed else [client.models.generate_content(**asked)]
    return [(c.name, c.args) for part in made for c in part.function_calls or ()]


def bedrock_client(url, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):  # it refuses a bearer key on plain HTTP
        monkeypatch.setenv(name, "none")
    return library("boto3").client("bedrock-runtime", region_name="eu-west-1", endpoint_url=url)


CONVERSE = {
    "modelId": "m",
    "messages": [{"role": "user", "content": [{"text": "x"}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "Bash", "inputSchema": {"json": SCHEMA}}}]},
}
INVOKE = {
    "modelId": "m",
    "body": json.dumps({"anthropic_version": "bedrock-2023-05-31", "max_tokens": 9, "messages": ASK, "tools": OWN}),
}


def converse_streamed(url, monkeypatch):
    events = list(bedrock_client(url, monkeypatch).converse_stream(**CONVERSE)["stream"])
    name = next(e["contentBlockStart"]["start"]["toolUse"]["name"] for e in events if "contentBlockStart" in e)
    text = "".join(e["contentBlockDelta"]["delta"]["toolUse"]["input"] for e in events if "contentBlockDelta" in e)
    return [(name, json.loads(text))]


def converse_plain(url, monkeypatch):
    content = bedrock_client(url, monkeypatch).converse(**CONVERSE)["output"]["message"]["content"]
    return [(c["toolUse"]["name"], c["toolUse"]["input"]) for c in content]


def invoke_streamed(url, monkeypatch):
    made = bedrock_client(url, monkeypatch).invoke_model_with_response_stream(**INVOKE)
    events = [json.loads(e["chunk"]["bytes"]) for e in made["body"]]
    text = "".join(e["delta"]["partial_json"] for e in events if e["type"] == "content_block_delta")
    return [(events[1]["content_block"]["name"], json.loads(text))]


def invoke_plain(url, monkeypatch):
    made = json.loads(bedrock_client(url, monkeypatch).invoke_model(**INVOKE)["body"].read())
    return [(b["name"], b["input"]) for b in made["content"]]


def cohere_streamed(url):
    client = library("cohere").ClientV2(api_key="k", base_url=url)
    name, text = None, ""
    for event in client.chat_stream(model="m", messages=ASK, tools=[FUNCTION]):
        if event.type in {"tool-call-start", "tool-call-delta"}:
            function = event.delta.message.tool_calls.function
            name, text = getattr(function, "name", None) or name, text + (function.arguments or "")
    return [(name, json.loads(text))]


def cohere_plain(url):
    made = library("cohere").ClientV2(api_key="k", base_url=url).chat(model="m", messages=ASK, tools=[FUNCTION])
    return [(c.function.name, json.loads(c.function.arguments)) for c in made.message.tool_calls]


def mistral_(url, streamed):
    client = library("mistralai.client").Mistral(api_key="k", server_url=url)
    asked = {"model": "m", "messages": ASK, "tools": [FUNCTION]}
    if not streamed:
        return [
            (c.function.name, json.loads(c.function.arguments))
            for c in client.chat.complete(**asked).choices[0].message.tool_calls
        ]
    deltas = [e.data.choices[0].delta for e in client.chat.stream(**asked)]
    said = [c.function for d in deltas for c in d.tool_calls or ()]
    return [(said[0].name, json.loads("".join(str(f.arguments) for f in said)))]


def ollama_(url, streamed):
    client = library("ollama").Client(host=url)
    made = client.chat(model="m", messages=ASK, tools=[FUNCTION], stream=streamed)
    parts = list(made) if streamed else [made]
    return [(c.function.name, c.function.arguments) for p in parts for c in p.message.tool_calls or ()]


def plain(build):
    return lambda call: json.dumps(build(call), ensure_ascii=False).encode()


WIRES = {  # name: (protocol in the log, content type, reply for a call id, client)
    "openai-chat-streamed": ("openai-chat", EVENTS, chat_events, lambda u, _: chat_streamed(openai_client(u))),
    "openai-chat-whole": ("openai-chat", JSON, plain(chat_whole), lambda u, _: chat_plain(openai_client(u))),
    "openai-responses-streamed": ("openai-responses", EVENTS, lambda c: sse(*response_events(c), named=True), lambda u, _: responses_streamed(u)),
    "openai-responses-whole": ("openai-responses", JSON, plain(lambda c: response_object(item(f"fc_{c}", c, "Bash", TEXT, status="completed"))), lambda u, _: responses_plain(u)),
    "anthropic-beta-streamed": ("anthropic-messages", EVENTS, None, lambda u, _: anthropic_streamed(u)),
    "anthropic-beta-whole": ("anthropic-messages", JSON, plain(anthropic_whole), lambda u, _: anthropic_plain(u)),
    "google-genai-streamed": ("gemini", EVENTS, lambda c: sse(gemini_chunk(c), end="\r\n"), lambda u, _: gemini_(u, streamed=True)),
    "google-genai-whole": ("gemini", JSON, plain(gemini_chunk), lambda u, _: gemini_(u, streamed=False)),
    "boto3-converse-streamed": ("bedrock-converse", AWS, converse_events, converse_streamed),
    "boto3-converse-whole": ("bedrock-converse", JSON, plain(converse_whole), converse_plain),
    "boto3-invoke-streamed": ("bedrock-invoke-stream", AWS, invoke_events, invoke_streamed),
    "boto3-invoke-whole": ("bedrock-invoke", JSON, plain(anthropic_whole), invoke_plain),
    "cohere-streamed": ("cohere-v2", EVENTS, cohere_events, lambda u, _: cohere_streamed(u)),
    "cohere-whole": ("cohere-v2", JSON, plain(cohere_whole), lambda u, _: cohere_plain(u)),
    "mistralai-streamed": (None, EVENTS, mistral_events, lambda u, _: mistral_(u, streamed=True)),
    "mistralai-whole": (None, JSON, plain(chat_whole), lambda u, _: mistral_(u, streamed=False)),
    "groq-streamed": (None, EVENTS, chat_events, lambda u, _: chat_streamed(groq_client(u))),
    "groq-whole": (None, JSON, plain(chat_whole), lambda u, _: chat_plain(groq_client(u))),
    "ollama-streamed": ("ollama", "application/x-ndjson", lines, lambda u, _: ollama_(u, streamed=True)),
    "ollama-whole": ("ollama", JSON, plain(lambda c: ollama_line(c, finished=True)), lambda u, _: ollama_(u, streamed=False)),
}  # fmt: skip


@pytest.mark.parametrize("wire", WIRES)
def test_the_client_gets_the_call_and_the_log_has_it_once(live, upstream, bodies, monkeypatch, wire):
    protocol, kind, reply, client = WIRES[wire]
    call, case = f"sdk_{wire}".replace("-", "_"), f"sdk-{wire}"
    body = bodies.anthropic(call, "Bash", ARGS) if reply is None else reply(call)
    whole = upstream.answer(case, body, content_type=kind, pieces=bodies.cuts(body, 13))
    assert client(f"{live.base}/up/{case}", monkeypatch) == [("Bash", ARGS)]
    (action,) = live.calls(call)
    assert (action["call"]["name"], action["call"]["arguments"]) == ("Bash", ARGS)
    assert (action["call"]["complete"], action["call"]["advertised"]) == (True, "yes")
    assert protocol in {None, action["exchange"]["protocol"]}
    (asked,) = upstream.requests[case]
    again = asked.partition(b"\r\n\r\n")[2]
    assert live.post(f"/up/{case}/v1", again, f"Content-Type: {JSON}") == whole


REALTIME = [
    {"type": "session.created", "session": {"type": "realtime", "id": "sess_1", "model": "m"}},
    {"type": "response.function_call_arguments.done", "response_id": "r", "item_id": "fc_1", "output_index": 0, "call_id": "sdk_realtime", "name": "Bash", "arguments": TEXT},
]  # fmt: skip


async def served(events):
    """A socket server that answers its first message with ``events``; (runner, address)."""

    async def serve(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        for event in events:
            await socket.send_str(json.dumps(event, ensure_ascii=False))
        async for _ in socket:
            pass
        return socket

    app = web.Application()
    app.router.add_get("/{path:.*}", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}"


def over_responses(client):
    with client.responses.connect() as socket:
        socket.response.create(model="m", input="x", tools=FLAT)
        return _until(socket, "response.completed")


def over_realtime(client):
    with client.realtime.connect(model="m") as socket:
        socket.session.update(session={"type": "realtime", "tools": FLAT})
        return _until(socket, "response.function_call_arguments.done")


def _until(socket, last):
    got = []
    for event in socket:
        got.append(event.to_dict())
        if event.type == last:
            return got
    return got


SOCKETS = {
    "responses": ("sdk_ws", "openai-responses-ws", response_events("sdk_ws"), over_responses),
    "realtime": ("sdk_realtime", "openai-realtime-ws", REALTIME, over_realtime),
}


@pytest.mark.parametrize("wire", SOCKETS)
def test_the_openai_client_over_a_socket_gets_every_event_as_sent(own_live, wire):
    openai = library("openai")
    call, protocol, events, client = SOCKETS[wire]

    async def talk():
        runner, address = await served(events)
        try:
            await asyncio.to_thread(through, address)
        finally:
            await runner.cleanup()

    def through(address):
        with own_live(routes={"up": {"url": address, "agui": False}}) as live:
            base = f"{live.base}/up/v1"
            made = openai.OpenAI(api_key="k", base_url=base, websocket_base_url=base.replace("http", "ws"))
            assert client(made) == events
            (action,) = live.calls(call)
            assert action["call"]["arguments"] == ARGS
            assert action["exchange"]["protocol"] == protocol

    asyncio.run(talk())


def test_the_ag_ui_encoders_own_events_give_the_call_and_its_result(live, upstream):
    core, encoder = library("ag_ui.core"), library("ag_ui.encoder").EventEncoder()
    call, ids = "sdk_ag_ui", {"thread_id": "t-sdk", "run_id": "r-sdk"}
    own = json.dumps({"command": "ls /ag-ui"})  # equal arguments would be another leg of an earlier call
    events = [
        core.RunStartedEvent(**ids),
        core.ToolCallStartEvent(tool_call_id=call, tool_call_name="Bash"),
        *(core.ToolCallArgsEvent(tool_call_id=call, delta=h) for h in (own[:9], own[9:])),
        core.ToolCallEndEvent(tool_call_id=call),
        core.ToolCallResultEvent(message_id="m1", tool_call_id=call, content="3 rows"),
        core.RunFinishedEvent(**ids),
    ]
    body = "".join(encoder.encode(e) for e in events).encode()
    whole = upstream.answer("sdk-agui", body, content_type=EVENTS)
    asked = core.RunAgentInput(**ids, state={}, messages=[], tools=[], context=[], forwarded_props={})
    sent = asked.model_dump_json(by_alias=True).encode()
    assert live.post("/sdk-agui", sent, f"Content-Type: {JSON}", f"Accept: {EVENTS}") == whole
    (action,) = live.calls(call)
    assert action["call"]["arguments"] == json.loads(own)
    live.wait(lambda r: r["kind"] == "outcome" and r["action"] == action["id"])


def test_a_signed_request_arrives_with_another_host_than_was_signed(live, upstream, monkeypatch):
    """SigV4 signs Host and path; a reverse route must change both. Hence docs/agents/boto3.md sends it to the forward proxy."""
    case, body = "sdk-sigv4", plain(converse_whole)("sdk_sigv4")
    upstream.answer(case, body, content_type=JSON)
    converse_plain(f"{live.base}/up/{case}", monkeypatch)
    (asked,) = upstream.requests[case]
    head = asked.partition(b"\r\n\r\n")[0].lower()
    assert b"signedheaders=" in head
    assert b";host;" in head
    assert f"\r\nhost: 127.0.0.1:{upstream.port}".encode() in head
    assert live.base.removeprefix("http://").encode() not in head
