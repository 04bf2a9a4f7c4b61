"""The vendors' clients on their less usual doors: runs, conversations, interactions, Vertex, Bedrock.

Opt-in like ``test_official_sdks.py``: each client gets its call through a live onlooker, and the log has it once.
"""

import json

import pytest

from tests.e2e.test_official_sdks import (
    ARGS,
    AWS,
    EVENTS,
    FLAT,
    FUNCTION,
    HALVES,
    JSON,
    OWN,
    TEXT,
    anthropic_whole,
    invoke_events,
    library,
    openai_client,
    plain,
)
from tests.proxy.providers.streams import sse

pytestmark = [pytest.mark.agents, pytest.mark.filterwarnings("ignore")]
ASKED = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}], "tools": OWN}


def run_object(call):
    waiting = [{"id": call, "type": "function", "function": {"name": "Bash", "arguments": TEXT}}]
    action = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": waiting}}
    ids = {"id": "run_1", "object": "thread.run", "thread_id": "t1", "assistant_id": "a1"}
    return {**ids, "status": "requires_action", "model": "m", "tools": [FUNCTION], "required_action": action}


def run_events(call):
    return f"event: thread.run.requires_action\ndata: {json.dumps(run_object(call))}\n\nevent: done\ndata: [DONE]\n\n".encode()


def run_(url, streamed):
    runs = openai_client(url).beta.threads.runs
    made = runs.create("t1", assistant_id="a1", tools=[FUNCTION], stream=streamed)
    last = [event.data for event in made][-1] if streamed else made
    return [
        (c.function.name, json.loads(c.function.arguments)) for c in last.required_action.submit_tool_outputs.tool_calls
    ]


def interaction(call):
    step = {"type": "function_call", "id": call, "name": "Bash", "arguments": ARGS}
    ids = {"id": "i1", "object": "interaction", "model": "g", "created": "2026-01-01T00:00:00Z"}
    return {**ids, "updated": "2026-01-01T00:00:00Z", "status": "requires_action", "steps": [step]}


def interaction_events(call):
    made = interaction(call)
    grown = [
        {"event_type": "step.delta", "index": 0, "delta": {"type": "arguments_delta", "arguments": h}} for h in HALVES
    ]
    return sse(
        {"event_type": "interaction.created", "interaction": {**made, "status": "in_progress", "steps": []}},
        {"event_type": "step.start", "index": 0, "step": {**made["steps"][0], "arguments": {}}},
        *grown,
        {"event_type": "step.stop", "index": 0},
        {"event_type": "interaction.completed", "interaction": {**made, "steps": []}},
    )


def interaction_(url, streamed):
    client = library("google.genai").Client(api_key="k", http_options={"base_url": url})
    made = client.interactions.create(model="g", input="x", tools=FLAT, stream=streamed)
    if not streamed:
        return [(s.name, s.arguments) for s in made.steps]
    said = [e for e in made if e.event_type in ("step.start", "step.delta")]
    return [(said[0].step.name, json.loads("".join(e.delta.arguments for e in said[1:])))]


def conversation(call):
    entry = {
        "object": "entry",
        "type": "function.call",
        "id": "f1",
        "tool_call_id": call,
        "name": "Bash",
        "arguments": TEXT,
    }
    counts = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"object": "conversation.response", "conversation_id": "c1", "outputs": [entry], "usage": counts}


def conversation_events(call):
    at = {"created_at": "2026-01-01T00:00:00Z"}
    grown = [
        {
            "type": "function.call.delta",
            "id": "f1",
            "name": "Bash",
            "tool_call_id": call,
            "arguments": h,
            "output_index": 0,
            **at,
        }
        for h in HALVES
    ]
    over = {"type": "conversation.response.done", "usage": conversation(call)["usage"], **at}
    return sse({"type": "conversation.response.started", "conversation_id": "c1", **at}, *grown, over, named=True)


def conversation_(url, streamed):
    talks = library("mistralai.client").Mistral(api_key="k", server_url=url).beta.conversations
    asked = {"inputs": "x", "model": "m", "tools": [FUNCTION]}
    if not streamed:
        return [(o.name, json.loads(o.arguments)) for o in talks.start(**asked).outputs]
    said = [e.data for e in talks.start_stream(**asked) if e.event == "function.call.delta"]
    return [(said[0].name, json.loads("".join(d.arguments for d in said)))]


def vertex_(url, streamed):
    anthropic = library("anthropic")
    client = anthropic.AnthropicVertex(
        region="r", project_id="p", access_token="t", base_url=f"{url}/v1", max_retries=0
    )
    return _messages(client, streamed)


def bedrock_(url, streamed):
    made = library("anthropic").AnthropicBedrock
    keys = {"aws_access_key": "k", "aws_secret_key": "k", "aws_region": "us-east-1"}
    return _messages(made(base_url=url, max_retries=0, **keys), streamed)


def _messages(client, streamed):
    if not streamed:
        return [(b.name, b.input) for b in client.messages.create(**ASKED).content]
    with client.messages.stream(**ASKED) as stream_:
        return [(b.name, b.input) for b in stream_.get_final_message().content]


DOORS = {  # name: (protocol in the log, content type, reply for a call id, client)
    "openai-run-streamed": ("openai-assistants", EVENTS, run_events, lambda u: run_(u, streamed=True)),
    "openai-run-whole": ("openai-assistants", JSON, plain(run_object), lambda u: run_(u, streamed=False)),
    "interaction-streamed": ("gemini-interactions", EVENTS, interaction_events, lambda u: interaction_(u, streamed=True)),
    "interaction-whole": ("gemini-interactions", JSON, plain(interaction), lambda u: interaction_(u, streamed=False)),
    "conversation-streamed": ("mistral-conversations", EVENTS, conversation_events, lambda u: conversation_(u, streamed=True)),
    "conversation-whole": ("mistral-conversations", JSON, plain(conversation), lambda u: conversation_(u, streamed=False)),
    "vertex-streamed": ("anthropic-messages", EVENTS, None, lambda u: vertex_(u, streamed=True)),
    "vertex-whole": ("anthropic-messages", JSON, plain(anthropic_whole), lambda u: vertex_(u, streamed=False)),
    "bedrock-streamed": ("bedrock-invoke-stream", AWS, invoke_events, lambda u: bedrock_(u, streamed=True)),
    "bedrock-whole": ("bedrock-invoke", JSON, plain(anthropic_whole), lambda u: bedrock_(u, streamed=False)),
}  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_the_client_gets_the_call_and_the_log_has_it_once(live, upstream, bodies, door):
    protocol, kind, reply, client = DOORS[door]
    call, case = f"sdk_{door}".replace("-", "_"), f"sdk-{door}"
    body = bodies.anthropic(call, "Bash", ARGS) if reply is None else reply(call)
    upstream.answer(case, body, content_type=kind, pieces=bodies.cuts(body, 13))
    assert client(f"{live.base}/up/{case}") == [("Bash", ARGS)]
    (action,) = live.calls(call)
    assert (action["call"]["name"], action["call"]["arguments"]) == ("Bash", ARGS)
    assert (action["call"]["complete"], action["call"]["advertised"]) == (True, "yes")
    assert action["exchange"]["protocol"] == protocol
