"""Codex's WebSocket mode: messages pass unchanged, compressed or not, and every call on the socket is recorded."""

import asyncio
import json

import pytest
from aiohttp import ClientSession, WSMsgType, web

from proxy.config import build
from proxy.instance import Instance


def events(call, command):
    item = {
        "type": "function_call",
        "id": f"fc_{call}",
        "call_id": call,
        "name": "exec_command",
        "arguments": json.dumps({"cmd": command}),
        "status": "completed",
    }
    base = {"id": f"resp_{call}", "object": "response", "model": "m", "output": []}
    text = item["arguments"]
    yield {"type": "response.created", "response": base | {"status": "in_progress"}}
    yield {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": item | {"arguments": "", "status": "in_progress"},
    }
    for piece in (text[:6], text[6:]):
        yield {
            "type": "response.function_call_arguments.delta",
            "item_id": item["id"],
            "output_index": 0,
            "delta": piece,
        }
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": base | {"status": "completed", "output": [item]}}


async def talk(tmp_path, compress):
    """Three turns on one socket through onlooker; (what the client got, what the server sent, records)."""
    sent = []

    async def model(request):
        socket = web.WebSocketResponse(compress=compress > 0)
        await socket.prepare(request)
        async for message in socket:
            asked = json.loads(message.data)
            for event in events(asked["call"], asked["command"]):
                text = json.dumps(event)
                sent.append(text)
                await socket.send_str(text)
        return socket

    app = web.Application()
    app.router.add_get("/v1/responses", model)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    upstream = f"http://127.0.0.1:{runner.addresses[0][1]}"
    settings = {
        "state": str(tmp_path / "s"),
        "listen": "127.0.0.1:0",
        "control": "127.0.0.1:0",
        "routes": {"m": {"url": upstream, "agui": False}},
    }
    instance = await asyncio.to_thread(Instance.start, build(None, settings))
    got = []
    headers = {"User-Agent": "codex_exec/0.171.0", "session-id": "cx-ws-1"}
    async with (
        ClientSession() as client,
        client.ws_connect(f"{instance.base}/m/v1/responses", compress=compress, headers=headers) as socket,
    ):
        history = []
        for n in range(3):
            call = f"call_ws{n}"
            ask = {
                "type": "response.create",
                "model": "m",
                "input": history,
                "tools": [{"type": "function", "name": "exec_command", "parameters": {}}],
            }
            await socket.send_str(json.dumps(ask | {"call": call, "command": f"echo {n}" * (1 + 400 * n)}))
            for _ in range(6):
                message = await socket.receive(10)
                assert message.type is WSMsgType.TEXT
                got.append(message.data)
            history = [{"type": "function_call_output", "call_id": call, "output": f"out {n}"}]
    await asyncio.to_thread(instance.stop)
    await runner.cleanup()
    return got, sent, instance.records()


@pytest.mark.parametrize("compress", [0, 15], ids=["plain", "permessage-deflate"])
def test_every_call_on_the_socket_is_recorded_and_every_message_passes(tmp_path, compress):
    got, sent, records = asyncio.run(talk(tmp_path, compress))
    assert got == sent
    actions = [r for r in records if r["kind"] == "action"]
    assert [a["call"]["id"] for a in actions] == ["call_ws0", "call_ws1", "call_ws2"]
    assert {(a["session"]["id"], a["agent"]["id"], a["exchange"]["protocol"]) for a in actions} == {
        ("cx-ws-1", "codex", "openai-responses-ws")
    }
    outcomes = [r["action"] for r in records if r["kind"] == "outcome"]
    assert outcomes == [a["id"] for a in actions[:2]]
    assert [r["kind"] for r in records if r["kind"] in {"unread", "gap", "opaque_flow", "analysis_failed"}] == []
