"""The two scripted agents: they talk to onlooker's address as any client would, and keep digests of what they saw.

In: the story and the address. Out: ``seen`` at the client's end, to be compared with the server's.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import aiohttp

from proxy.demo.servers import STEP, call_id


class Agents:
    def __init__(self, story: dict[str, Any], client: aiohttp.ClientSession) -> None:
        self._story, self._client = story, client
        self.seen: dict[str, tuple[str, str]] = {}

    async def coder(self, base: str) -> None:
        """A coding agent: asks the model, answers its calls, until there are none."""
        story = self._story["coder"]
        tools = [{"name": n, "description": n, "input_schema": s} for n, s in story["tools"].items()]
        messages: list[dict[str, Any]] = [{"role": "user", "content": story["task"]}]
        for number in range(len(story["steps"]) + 1):
            request = {"model": "mock-1", "max_tokens": 500, "stream": True, "system": story["system"], "tools": tools}
            headers = {"User-Agent": "demo-coder/1.0", "X-Session-Id": "demo-coder", "x-api-key": "demo-key"}
            await self._post(f"{base}/v1/messages", {**request, "messages": messages}, headers, f"coder-{number}")
            if number < len(story["steps"]):
                messages += _turn(story["steps"][number], number)

    async def support(self, base: str) -> None:
        """A front end: starts a run of the application and reads its events."""
        run = {"threadId": "demo-support", "runId": "run-1", "state": {}, "tools": [], "context": []}
        task = {"id": "u1", "role": "user", "content": self._story["support"]["task"]}
        headers = {"User-Agent": "demo-frontend/1.0", "Accept": "text/event-stream"}
        await self._post(f"{base}/agent", {**run, "messages": [task], "forwardedProps": {}}, headers, "support-0")

    async def _post(self, url: str, body: dict[str, Any], headers: dict[str, str], step: str) -> None:
        raw = json.dumps(body).encode()
        sent = {**headers, "Content-Type": "application/json", STEP: step}
        async with self._client.post(url, data=raw, headers=sent) as answer:
            received = await answer.read()
        self.seen[step] = (sha256(raw).hexdigest(), sha256(received).hexdigest())


def _turn(step: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What the history says of one step: the model's call, the harness's answer."""
    use = {"type": "tool_use", "id": call_id("coder", number), "name": step["tool"], "input": step["arguments"]}
    failed = {"is_error": True} if step.get("failed") else {}
    result = {"type": "tool_result", "tool_use_id": use["id"], "content": step["answer"], **failed}
    return [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
