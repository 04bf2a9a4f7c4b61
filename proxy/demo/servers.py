"""The other ends of the demonstration: a mock model and a small AG-UI application, both on loopback.

In: the story. Out: an aiohttp application that answers each request with the next step, and remembers the digest of
every body it received and sent, so that both ends of the relay can be compared byte by byte.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from aiohttp import web

STEP = "x-demo-step"  # which exchange of the story this is; passes the relay unchanged like every header
PIECE = 37  # bytes per write: a call arrives in many pieces, as from a real model


class Ends:
    """``seen[name] = (digest of the request body, digest of the response body)`` at the server's end."""

    def __init__(self, story: dict[str, Any]) -> None:
        self._story = story
        self.seen: dict[str, tuple[str, str]] = {}

    def application(self) -> web.Application:
        app = web.Application(client_max_size=16 << 20)
        app.add_routes(
            [
                web.post("/v1/messages", self._model),
                web.post("/agent", self._application),
                web.head("/", self._nothing),
            ]
        )
        return app

    async def _nothing(self, _request: web.Request) -> web.Response:
        return web.Response()

    async def _model(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        done = sum(m["role"] == "assistant" for m in json.loads(raw)["messages"])
        return await self._stream(request, raw, model_events(self._story["coder"], done), named=True)

    async def _application(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        return await self._stream(
            request, raw, application_events(self._story["support"], json.loads(raw)), named=False
        )

    async def _stream(
        self, request: web.Request, raw: bytes, events: Iterator[dict[str, Any]], *, named: bool
    ) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"})
        await answer.prepare(request)
        body = b"".join(_sse(e, named=named) for e in events)
        for at in range(0, len(body), PIECE):
            await answer.write(body[at : at + PIECE])
            await asyncio.sleep(0)
        await answer.write_eof()
        self.seen[request.headers[STEP]] = (sha256(raw).hexdigest(), sha256(body).hexdigest())
        return answer


def _sse(event: dict[str, Any], *, named: bool) -> bytes:
    name = f"event: {event['type']}\n" if named else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()


def model_events(story: dict[str, Any], done: int) -> Iterator[dict[str, Any]]:
    """Anthropic Messages events: the next step's tool call, or the end of the turn."""
    step = story["steps"][done] if done < len(story["steps"]) else None
    message = {"id": f"msg_demo_{done:02}", "type": "message", "role": "assistant", "model": "mock-1", "content": []}
    yield {"type": "message_start", "message": {**message, "usage": {"input_tokens": 900 + done, "output_tokens": 1}}}
    if step is None:
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Done."}}
    else:
        text = json.dumps(step["arguments"])
        block = {"type": "tool_use", "id": call_id("coder", done), "name": step["tool"], "input": {}}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        for piece in ("", text[: len(text) // 2], text[len(text) // 2 :]):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "end_turn" if step is None else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


def application_events(story: dict[str, Any], run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One AG-UI run: the application calls its own tools and streams what it does."""
    ids = {"threadId": run["threadId"], "runId": run["runId"]}
    yield {"type": "RUN_STARTED", **ids}
    for number, step in enumerate(story["steps"]):
        call, text = call_id("support", number), json.dumps(step["arguments"])
        yield {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": step["tool"]}
        for piece in (text[:9], text[9:]):
            yield {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": piece}
        yield {"type": "TOOL_CALL_END", "toolCallId": call}
        result = {"messageId": f"m{number}", "toolCallId": call, "content": step["answer"], "role": "tool"}
        yield {"type": "TOOL_CALL_RESULT", **result}
    yield {"type": "RUN_FINISHED", **ids}


def call_id(agent: str, number: int) -> str:
    return f"toolu_{agent}_{number:08}"
