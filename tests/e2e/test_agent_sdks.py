"""Agents that speak to editors and to other agents, by their protocols' own SDKs, through onlooker: the call, its end, every byte.

Opt-in (``make test-agents``, dependency group ``sdks``). A2A goes through the relay, ACP through ``onlooker mcp --``.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import uuid
from pathlib import Path

import pytest

from tests.proxy.cli.instance import forget, of_kind, records_until

pytestmark = [pytest.mark.agents, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def _left_to_the_collector():
    """The SDKs leave transports behind, whose warnings must not fail a test that comes later."""
    yield
    gc.collect()


ROOT = Path(__file__).resolve().parents[2]
EDITOR = """
import asyncio, sys
import acp


class Coder(acp.Agent):
    def on_connect(self, conn):
        self.editor = conn

    async def initialize(self, protocol_version, **kwargs):
        return acp.InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd, **kwargs):
        return acp.NewSessionResponse(session_id="acp-1")

    async def prompt(self, prompt, session_id, **kwargs):
        began = acp.start_tool_call("tc-9", "Edit main.rs", kind="edit", status="pending", raw_input={"path": "main.rs"})
        await self.editor.session_update(session_id, began)
        await self.editor.session_update(session_id, acp.update_tool_call("tc-9", status="completed"))
        return acp.PromptResponse(stop_reason="end_turn")


asyncio.run(acp.run_agent(Coder()))
"""


def test_an_acp_agents_call_is_an_action_and_the_editor_gets_every_update(tmp_path):
    acp = pytest.importorskip("acp")
    state, updates = tmp_path / "state", []

    class Editor(acp.Client):
        async def session_update(self, session_id, update, **_more):
            updates.append((session_id, type(update).__name__))

    async def talk():
        argv = ["-m", "proxy", "mcp", "--state", str(state), "--", sys.executable, "-c", EDITOR]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        async with acp.spawn_agent_process(Editor(), sys.executable, *argv, env=environment) as (agent, _process):
            await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
            session = await agent.new_session(cwd="/srv/app", mcp_servers=[])
            ended = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block("edit it")])
            assert ended.stop_reason == "end_turn"

    try:
        asyncio.run(talk())
        found = records_until(state, lambda r: of_kind(r, "outcome"))
    finally:
        forget(state)
    assert updates == [("acp-1", "ToolCallStart"), ("acp-1", "ToolCallProgress")]
    (action,), (outcome,) = of_kind(found, "action"), of_kind(found, "outcome")
    assert (action["call"]["id"], action["call"]["name"]) == ("tc-9", "Edit main.rs")
    assert (action["call"]["executed_by"], action["call"]["extra"]) == ("agent", {"acp_kind": "edit"})
    assert (action["exchange"]["protocol"], action["session"]["cwd"]["value"]) == ("acp", "/srv/app")
    assert (outcome["action"], outcome["outcome"]) == (action["id"], "ok")


def a2a_client(url, *, streaming, binding):
    client = pytest.importorskip("a2a.client")
    types = pytest.importorskip("a2a.types")
    card = types.AgentCard(
        name="booker",
        supported_interfaces=[types.AgentInterface(protocol_binding=binding, url=url, protocol_version="1.0")],
        capabilities=types.AgentCapabilities(streaming=streaming),
        default_input_modes=["text"],
        default_output_modes=["text"],
    )
    config = client.ClientConfig(streaming=streaming, supported_protocol_bindings=[binding])
    return client.create_client(card, client_config=config)


def a2a_answers(binding, states):
    """What the other agent says: the states alone, or as results of the request's own id."""

    def answer(asked):
        rpc = {"jsonrpc": "2.0", "id": asked.get("id")}
        told = [{**rpc, "result": s} for s in states] if binding == "JSONRPC" else states
        if len(told) == 1:
            return json.dumps(told[0]).encode()
        return "".join(f"data: {json.dumps(one)}\n\n" for one in told).encode()

    return answer


@pytest.mark.parametrize("binding", ["HTTP+JSON", "JSONRPC"])
@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_a_message_to_another_agent_is_an_action_and_its_task_the_outcome(live, upstream, streaming, binding):
    types = pytest.importorskip("a2a.types")
    case, message = f"sdk-a2a-{streaming}-{binding[:4]}", f"msg-{uuid.uuid4().hex}"
    task = {"id": "t1", "contextId": f"ctx-{case}"}
    states = [{"task": {**task, "status": {"state": f"TASK_STATE_{s}"}}} for s in ("WORKING", "COMPLETED")]
    kind = "text/event-stream" if streaming else "application/json"
    upstream.reply(case, a2a_answers(binding, states if streaming else states[1:]), content_type=kind)
    asked = types.SendMessageRequest(
        message=types.Message(message_id=message, role=types.Role.ROLE_USER, parts=[types.Part(text="book it")])
    )

    async def talk():
        client = await a2a_client(f"{live.base}/up/{case}", streaming=streaming, binding=binding)
        try:
            return [said.task.status.state async for said in client.send_message(asked)]
        finally:
            await client.close()

    assert asyncio.run(talk())[-1] == types.TaskState.TASK_STATE_COMPLETED
    sent = json.loads(upstream.requests[case][-1].partition(b"\r\n\r\n")[2])
    (action,) = live.calls(sent["id"] if binding == "JSONRPC" else message)
    assert (action["call"]["kind"], action["call"]["executed_by"]) == ("a2a_message", "agent")
    assert action["exchange"]["protocol"] == "a2a"
    (outcome,) = live.wait(lambda r: r["kind"] == "outcome" and r["action"] == action["id"])
    assert (outcome["outcome"], outcome["reported_by"]) == ("ok", "agent")
