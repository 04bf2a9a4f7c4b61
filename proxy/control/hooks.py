"""What an agent's own hooks report: taken in, never judged here, always answered "no opinion".

In: ``POST /hooks/<client>`` with the hook's JSON, and the agent's process in X-Onlooker-Pid when it tells. Out: 200
``{}`` at once, and a message for the analyzer. A body that is no JSON or too large is answered the same: a watcher that
fails must not stop the agent.
"""

from __future__ import annotations

from typing import Any

import orjson
from aiohttp import web

from proxy.inbox import Outbox

MAX_HOOK_BYTES = 4 << 20


class Hooks:
    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self.dropped = 0

    async def receive(self, request: web.Request) -> web.Response:
        client = request.match_info["client"]
        body = await self._body(request)
        said = request.headers.get("X-Onlooker-Pid", "")
        pid = int(said) if said.isdigit() and len(said) < 10 else None
        if body is None or not self._outbox.put("hook", {"client": client, "body": body, "pid": pid}):
            self.dropped += 1
        return web.json_response({})

    async def _body(self, request: web.Request) -> Any:
        if (request.content_length or 0) > MAX_HOOK_BYTES:
            return None
        raw = await request.content.read(MAX_HOOK_BYTES + 1)
        while not request.content.at_eof() and len(raw) <= MAX_HOOK_BYTES:
            raw += await request.content.read(MAX_HOOK_BYTES + 1 - len(raw))
        try:
            value = orjson.loads(raw) if len(raw) <= MAX_HOOK_BYTES else None
        except orjson.JSONDecodeError:
            return None
        return value if isinstance(value, dict) else None
